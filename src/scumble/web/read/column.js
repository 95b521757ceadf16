/** A column in memory: small codes and a list of the values that they stand for, or numbers where too many of them differ. */

import { Refused } from "../estimate/cells.js";
import { compared, kindOf } from "./kinds.js";

/** Different values from which on a column of numbers is kept as numbers, and of words is refused. */
const MANY = 50_000;

/** Codes in as few bytes as they need. */
function narrow(codes, count) {
  return count <= 256 ? Uint8Array.from(codes) : count <= 65536 ? Uint16Array.from(codes) : codes;
}

export class Column {
  /** fact: what the page says of the column; values in `domain` order where it has one. */
  constructor(fact, rows) {
    Object.assign(this, { fact, kind: kindOf(fact), rows, filled: 0 });
    this.codes = new Int32Array(rows);
    this.values = [];
    this.places = new Map();
    this.plain = null;
  }

  /** Adds stored values. */
  take(stored) {
    const { read } = this.kind;
    for (let i = 0; i < stored.length; i++) {
      const value = stored[i] === undefined || stored[i] === null ? null : read(stored[i]);
      if (this.plain) this._number(value);
      else this._code(value);
      this.filled++;
    }
  }

  _code(value) {
    let code = this.places.get(value);
    if (code === undefined) {
      if (this.values.length >= MANY) return this._spill(value);
      code = this.values.length;
      this.places.set(value, code);
      this.values.push(value);
    }
    this.codes[this.filled] = code;
  }

  _spill(value) {
    if (!this.kind.number) throw new Refused(`${this.fact.name} has more than ${MANY.toLocaleString("en-US")} different values`);
    this.plain = { numbers: new Float64Array(this.rows), missing: new Uint8Array(this.rows), some: false };
    for (let i = 0; i < this.filled; i++) this._set(i, this.values[this.codes[i]]);
    Object.assign(this, { codes: null, values: null, places: null });
    this._number(value);
  }

  _number(value) {
    this._set(this.filled, value);
  }

  _set(i, value) {
    if (value === null) {
      this.plain.missing[i] = 1;
      this.plain.some = true;
    } else this.plain.numbers[i] = Number(value);
  }

  /** Ends reading: codes are put in the order of the values. */
  settle() {
    if (this.filled !== this.rows) throw new Error(`${this.fact.name} has ${this.filled} of ${this.rows} values`);
    if (this.plain) return this;
    const { values, codes } = Column.sorted(this.fact, this.kind, this.values, this.codes);
    return Object.assign(this, { values, codes: narrow(codes, values.length), places: null });
  }

  /** How many different values there are; nothing where they are too many to tell. */
  get different() {
    return this.plain ? null : this.values.length;
  }

  /** The numbers of all rows, and where they are missing. */
  get numbers() {
    if (this.plain) return { numbers: this.plain.numbers, missing: this.plain.some ? this.plain.missing : null };
    const of = Float64Array.from(this.values, (value) => (value === null ? 0 : Number(value)));
    const gone = this.values.indexOf(null);
    const numbers = new Float64Array(this.rows);
    const missing = gone < 0 ? null : new Uint8Array(this.rows);
    for (let i = 0; i < this.rows; i++) {
      numbers[i] = of[this.codes[i]];
      if (missing && this.codes[i] === gone) missing[i] = 1;
    }
    return { numbers, missing };
  }

  /** Which rows meet a filter. */
  meeting(filter) {
    const out = new Uint8Array(this.rows);
    if (this.plain) {
      const { numbers, missing } = this.plain;
      for (let i = 0; i < this.rows; i++) out[i] = Number(filter.meets(missing[i] ? null : numbers[i], this.kind));
      return out;
    }
    const of = Uint8Array.from(this.values, (value) => Number(filter.meets(value, this.kind)));
    for (let i = 0; i < this.rows; i++) out[i] = of[this.codes[i]];
    return out;
  }

  /** A column of codes and their values, in order, that was not read. */
  static of(fact, kind, values, codes) {
    return Object.assign(Object.create(Column.prototype), { fact, kind, rows: codes.length, filled: codes.length, values, codes, plain: null });
  }

  /** The same of values in any order. */
  static sorted(fact, kind, values, codes) {
    const order = values.map((_, code) => code).sort((a, b) => compared(values[a], values[b]));
    const rank = new Int32Array(order.length);
    order.forEach((code, place) => (rank[code] = place));
    return Column.of(
      fact,
      kind,
      order.map((code) => values[code]),
      Int32Array.from(codes, (code) => rank[code]),
    );
  }

  /** Some of the rows. */
  taken(rows) {
    return Column.of(this.fact, this.kind, this.values, Int32Array.from(rows, (row) => this.codes[row]));
  }

  /** The labels of its values; missing ones are null. */
  get labels() {
    return (this._labels ??= this.values.map((value) => (value === null ? null : this.kind.label(value))));
  }

  /** The codes of rows in the order of a domain; refused where the domain does not have a value. */
  encoded(domain) {
    const places = Int32Array.from(this.values, (value) => domain.place(value, this.kind));
    if (places.some((place) => place < 0)) throw new Refused(`${this.fact.name} has values that its domain does not have; the release was changed`);
    return narrow(Int32Array.from(this.codes, (code) => places[code]), domain.codes);
  }
}
