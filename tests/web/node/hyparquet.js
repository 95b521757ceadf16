export { readColumn } from "hyparquet/src/column.js";
export { parquetMetadataAsync, parquetSchema } from "hyparquet/src/metadata.js";
export { getTreePath } from "hyparquet/src/schema.js";
