/** The published table: columns are read when a question needs them, and kept. */

import { Refused } from "../estimate/cells.js";
import { readColumn } from "./column.js";

export class Table {
  /** files: Parquet files, one below the other; facts: what the page says of each column; domains: those of perturbed columns. */
  constructor(files, facts, domains) {
    Object.assign(this, { files, facts, domains, columns: new Map(), loading: new Map(), coded: new Map(), last: null });
    this.rows = files.reduce((sum, file) => sum + file.rows, 0);
  }

  /** Reads the columns of these names that were not read before. */
  async load(names) {
    for (const name of names) {
      if (!this.loading.has(name)) this.loading.set(name, this._read(name));
      this.columns.set(name, await this.loading.get(name));
    }
  }

  async _read(name) {
    return readColumn(this.facts.get(name), this.rows, async (made, take) => {
      for (const file of this.files) await file.column(name, made, take);
    });
  }

  /** The values of a public column that differ, in order, and the code of each row's value. */
  codes(name) {
    const column = this.columns.get(name);
    if (column.different === null) throw new Refused(`${name} has too many different values to group by`);
    return column;
  }

  /** The codes of a perturbed column, in the order of its domain. */
  encoded(name) {
    if (!this.coded.has(name)) this.coded.set(name, this.columns.get(name).encoded(this.domains.get(name)));
    return this.coded.get(name);
  }

  /** How often each value, or code, of a perturbed column is published. */
  published(name) {
    const counts = new Float64Array(this.domains.get(name).codes);
    for (const code of this.encoded(name)) counts[code]++;
    return counts;
  }

  numbers(name) {
    if (this.last?.name !== name) this.last = { name, ...this.columns.get(name).numbers };
    return this.last;
  }

  /** The numbers of sub-tables, each of which is one of so many. */
  strata(name, count) {
    const { values, codes } = this.columns.get(name);
    if (values.some((value) => !(value >= 0 && value < count))) throw new Refused("a row is in a sub-table that the manifest does not have");
    const out = new Int32Array(codes.length);
    for (let i = 0; i < out.length; i++) out[i] = values[codes[i]];
    return out;
  }

  /** Whether numbers are above another. */
  above(name, limit) {
    const { numbers } = this.numbers(name);
    const out = new Uint8Array(numbers.length);
    for (let i = 0; i < out.length; i++) out[i] = Number(numbers[i] > limit);
    return out;
  }

  meeting(filter) {
    return this.columns.get(filter.column).meeting(filter);
  }
}
