/** The public values of a perturbed column, in the order of their codes: listed, or the points of a grid. */

import { Column } from "./column.js";
import { kindOf } from "./kinds.js";

export class Domain {
  /** column: what the page says of it, and its record in the manifest. */
  constructor(column) {
    const { name, domain, grid, size } = column;
    Object.assign(this, { name, size, grid: domain.kind === "grid" ? grid : null, values: domain.values ?? null });
    this.kind = kindOf(column.value_kind ?? column);
    this.numeric = Boolean(column.numeric);
    const [channel] = column.channels ?? [column.channel ?? {}];
    this.recoded = channel.kind === "cyclic";
    this.codes = this.recoded ? channel.codes : size;
    this.missing = this.values?.includes(null) ? Uint8Array.from(this.values, (value) => Number(value === null)) : null;
  }

  /** The values as numbers; NaN where one is missing. */
  get numbers() {
    const { grid, values } = this;
    return (this._numbers ??= grid
      ? Float64Array.from({ length: this.size }, (_, i) => (grid.first + grid.step * i) / grid.scale)
      : Float64Array.from(values, (value) => (value === null ? NaN : Number(value))));
  }

  /** A value as a reader knows it; missing ones are null. */
  label(code) {
    if (this.grid) return ((this.grid.first + this.grid.step * code) / this.grid.scale).toFixed(digitsOf(this.grid.scale));
    const value = this.values[code];
    if (value === null) return null;
    return typeof value === "boolean" ? String(value) : typeof value === "string" && !this.numeric ? value.replace("T", this.spaced ? " " : "T") : String(value);
  }

  /** Whether values are moments, which JSON has with a T where readers have a space. */
  get spaced() {
    return this.kind?.moment ?? false;
  }

  /** Codes of the domain as a column; its values are numbers, or labels. */
  column(fact, codes) {
    const values = this.numeric ? [...this.numbers].map((x) => (Number.isNaN(x) ? null : x)) : this.labels;
    const label = this.numeric ? (x) => this.labels[this.numbers.indexOf(x)] : String;
    return Column.sorted(fact, { label, number: this.numeric }, values, codes);
  }

  get labels() {
    return (this._labels ??= Array.from({ length: this.size }, (_, code) => this.label(code)));
  }

  /** A value in SQL, by its label. */
  literal(label) {
    if (this.grid || this.numeric) return label;
    return this.kind.ofLabel(label);
  }

  /** The place of a published value, read as one of the column's kind: in the domain, or among its codes. Below 0 where it has none. */
  place(value, kind) {
    if (this.recoded) return Number.isInteger(value) && value >= 0 && value < this.codes ? value : -1;
    if (this.grid) return value === null ? -1 : this._point(Number(value));
    this._places ??= new Map(this.values.map((own, i) => [this._key(own, i), i]));
    return this._places.get(value === null ? null : this.numeric ? Number(value) : kind.label(value)) ?? -1;
  }

  _key(value, code) {
    if (value === null) return null;
    return this.numeric ? Number(value) : this.label(code);
  }

  _point(x) {
    const { first, step, scale } = this.grid;
    const place = Math.round((x - first / scale) / (step / scale));
    return place >= 0 && place < this.size ? place : -1;
  }
}

function digitsOf(scale) {
  return Math.round(Math.log10(scale));
}
