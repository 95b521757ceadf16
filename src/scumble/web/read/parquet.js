/** Columns of Parquet files, page by page, by hyparquet: as they are stored, without dates or decimals being made of them. */

import { getTreePath, parquetMetadataAsync, parquetSchema, readColumn } from "../vendor/hyparquet.js";

const text = new TextDecoder();
const PARSERS = { stringFromBytes: (bytes) => bytes && text.decode(bytes) };

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

  /** How the values of a column are stored: { type, scale, text }. */
  stored(name) {
    const { element } = this.tree.children.find((child) => child.element.name === name);
    const said = element.converted_type === "UTF8" || element.logical_type?.type === "STRING";
    return { type: element.type, said };
  }

  /** Hands the values of a column to `take`, some at a time, in the order of the rows. */
  async column(name, take) {
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
        this._decoder(name, codec, type),
      );
      for (const values of data) take(values);
    }
  }

  _decoder(name, codec, type) {
    const schemaPath = getTreePath(this.tree, [name]);
    const { element } = schemaPath[schemaPath.length - 1];
    const plain = { ...element, converted_type: undefined, logical_type: undefined };
    if (this.stored(name).said) plain.converted_type = "UTF8";
    return { pathInSchema: [name], schemaPath, element: plain, type, codec, parsers: PARSERS, utf8: false };
  }
}
