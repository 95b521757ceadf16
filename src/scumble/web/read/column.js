/** A column in memory: small codes and a list of the values that they stand for, or numbers where too many of them differ. */

import { many } from "../estimate/arrays.js";
import { Refused } from "../estimate/cells.js";
import { compared, kindOf } from "./kinds.js";

/** Different values from which on a column of numbers is kept as numbers, and of words is refused. */
const MANY = 50_000;

/** More values differ than codes are kept of. */
class TooMany extends Error {}

/** Codes in as few bytes as they need, each put elsewhere. */
function placed(codes, places, count) {
  const out = count <= 256 ? new Uint8Array(codes.length) : count <= 65536 ? new Uint16Array(codes.length) : new Int32Array(codes.length);
  for (let i = 0; i < codes.length; i++) out[i] = places[codes[i]];
  return out;
}

/** Reads a column of so many rows: `each` hands over what a function makes of its stored values. */
export async function readColumn(fact, rows, each) {
  const kind = kindOf(fact);
  try {
    return await readCodes(fact, kind, rows, each);
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    if (!kind.number) throw new Refused(`${fact.name} has more than ${many(MANY)} different values`);
    return readNumbers(fact, kind, rows, each);
  }
}

async function readCodes(fact, kind, rows, each) {
  const [values, places] = [[], new Map()];
  const code = (value) => {
    let place = places.get(value);
    if (place === undefined) {
      if (values.length >= MANY) throw new TooMany();
      place = values.push(value) - 1;
      places.set(value, place);
    }
    return place;
  };
  const codes = new Int32Array(rows);
  let filled = 0;
  await each(
    (stored) => code(kind.read(stored)),
    (coded) => {
      for (let i = 0; i < coded.length; i++) codes[filled++] = coded[i] ?? code(null);
    },
  );
  return Column.sorted(fact, kind, ...occurring(values, whole(fact, codes, filled)));
}

/** Values that some row has, and their codes: a dictionary may list others. */
function occurring(values, codes) {
  const used = new Uint8Array(values.length);
  for (let i = 0; i < codes.length; i++) used[codes[i]] = 1;
  if (used.every(Boolean)) return [values, codes];
  const places = new Int32Array(values.length);
  const kept = values.filter((_, code) => used[code]);
  for (let code = 0, place = 0; code < values.length; code++) if (used[code]) places[code] = place++;
  for (let i = 0; i < codes.length; i++) codes[i] = places[codes[i]];
  return [kept, codes];
}

async function readNumbers(fact, kind, rows, each) {
  const [numbers, missing] = [new Float64Array(rows), new Uint8Array(rows)];
  let [filled, some] = [0, false];
  await each(
    (stored) => Number(kind.read(stored)),
    (values) => {
      for (let i = 0; i < values.length; i++, filled++) {
        numbers[filled] = values[i] ?? 0;
        if (values[i] === undefined || values[i] === null) missing[filled] = some = 1;
      }
    },
  );
  return new Column(fact, kind, { plain: { numbers: whole(fact, numbers, filled), missing: some ? missing : null } });
}

function whole(fact, numbers, filled) {
  if (filled !== numbers.length) throw new Error(`${fact.name} has ${filled} of ${numbers.length} values`);
  return numbers;
}

export class Column {
  /** values and codes: those that differ, in order, and which each row has; or plain: { numbers, missing }. */
  constructor(fact, kind, { values = null, codes = null, plain = null }) {
    Object.assign(this, { fact, kind, values, codes, plain, rows: (codes ?? plain.numbers).length });
  }

  /** A column of values in any order. */
  static sorted(fact, kind, values, codes) {
    const order = values.map((_, code) => code).sort((a, b) => compared(values[a], values[b]));
    const rank = new Int32Array(order.length);
    order.forEach((code, place) => (rank[code] = place));
    return new Column(fact, kind, { values: order.map((code) => values[code]), codes: placed(codes, rank, values.length) });
  }

  /** Some of the rows. */
  taken(rows) {
    return new Column(this.fact, this.kind, { values: this.values, codes: placed(rows, this.codes, this.values.length) });
  }

  /** How many different values there are; nothing where they are too many to tell. */
  get different() {
    return this.plain ? null : this.values.length;
  }

  /** The labels of its values; missing ones are null. */
  get labels() {
    return (this._labels ??= this.values.map((value) => (value === null ? null : this.kind.label(value))));
  }

  /** The numbers of all rows, and where they are missing. */
  get numbers() {
    if (this.plain) return this.plain;
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
      for (let i = 0; i < this.rows; i++) out[i] = Number(filter.meets(missing?.[i] ? null : numbers[i], this.kind));
      return out;
    }
    const of = Uint8Array.from(this.values, (value) => Number(filter.meets(value, this.kind)));
    for (let i = 0; i < this.rows; i++) out[i] = of[this.codes[i]];
    return out;
  }

  /** The codes of rows in the order of a domain; refused where the domain does not have a value. */
  encoded(domain) {
    const places = Int32Array.from(this.values, (value) => domain.place(value, this.kind));
    if (places.some((place) => place < 0)) throw new Refused(`${this.fact.name} has values that its domain does not have; the release was changed`);
    return placed(this.codes, places, domain.codes);
  }
}
