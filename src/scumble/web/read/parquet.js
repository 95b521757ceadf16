/**
 * Columns of Parquet files, by hyparquet. Values are made of what is stored by a function of ours: it is called once for each word of a dictionary, and only
 * where a page has none for each row.
 */

import { getTreePath, parquetMetadataAsync, parquetSchema, readColumn } from "../vendor/hyparquet.js";

const text = new TextDecoder();

/** A Parquet file: how many rows it has, and its columns. */
export class ParquetFile {
  /** blob: what holds the bytes; only those of the columns that are asked for are read. */
  static async opened(blob) {
    const slice = (start, end) => blob.slice(start, end).arrayBuffer();
    const metadata = await parquetMetadataAsync({ byteLength: blob.size, slice }, { geoparquet: false });
    return new ParquetFile(slice, metadata);
  }

  constructor(slice, metadata) {
    Object.assign(this, { slice, metadata, tree: parquetSchema(metadata), rows: Number(metadata.num_rows) });
  }

  get names() {
    return this.tree.children.map((child) => child.element.name);
  }

  /** Hands what `made` makes of the stored values of a column to `take`, some at a time, in the order of the rows; null where one is missing. */
  async column(name, made, take) {
    for (const group of this.metadata.row_groups) {
      const chunk = group.columns.find((own) => own.meta_data.path_in_schema[0] === name);
      if (!chunk || chunk.meta_data.path_in_schema.length > 1) throw new Error(`column ${name} is none of plain values`);
      const { codec, type, data_page_offset: first, dictionary_page_offset: words } = chunk.meta_data;
      const start = Number(words && words < first ? words : first);
      const view = new DataView(await this.slice(start, start + Number(chunk.meta_data.total_compressed_size)));
      const rows = Number(group.num_rows);
      const { data } = readColumn(
        { view, offset: 0 },
        { groupStart: 0, selectStart: 0, selectEnd: rows, groupRows: rows },
        this._decoder(name, codec, type, made),
      );
      for (const values of data) take(values);
    }
  }

  /** hyparquet makes words of texts, and moments of numbers that are said to be some: both by functions that it is given. */
  _decoder(name, codec, type, made) {
    const schemaPath = getTreePath(this.tree, [name]);
    const { element } = schemaPath[schemaPath.length - 1];
    const said = element.converted_type === "UTF8" || element.logical_type?.type === "STRING";
    const parsers = { stringFromBytes: (bytes) => made(text.decode(bytes)), timestampFromMilliseconds: made };
    const hooked = { ...element, logical_type: undefined, converted_type: said ? "UTF8" : "TIMESTAMP_MILLIS" };
    return { pathInSchema: [name], schemaPath, element: hooked, type, codec, parsers, utf8: false };
  }
}
