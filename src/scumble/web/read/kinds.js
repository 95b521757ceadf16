/** What the values of a column are: how they are read from what is stored, compared, shown, and written in SQL. */

import { isoOf, momentOf, timeOf } from "./moments_in_time.js";

/** A number where it can be one without losing a digit. */
function whole(stored) {
  if (typeof stored !== "bigint") return stored;
  return stored >= -9007199254740991n && stored <= 9007199254740991n ? Number(stored) : stored;
}

function unsigned(bits) {
  return (stored) => (stored < 0 ? (typeof stored === "bigint" ? whole(stored + (1n << bits)) : stored + 2 ** Number(bits)) : whole(stored));
}

/** A decimal is stored as a whole number of its last digits. */
function decimal(scale) {
  return (stored) => Number(stored instanceof Uint8Array ? signed(stored) : stored) / 10 ** scale;
}

function signed(bytes) {
  let value = 0n;
  for (const byte of bytes) value = value * 256n + BigInt(byte);
  return bytes[0] > 127 ? value - (1n << BigInt(8 * bytes.length)) : value;
}

const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

/**
 * The kinds of columns, by a name that the page is given.
 *
 * read      a value from what is stored
 * label     a value as a reader knows it
 * ofLabel   the same in SQL
 * number    whether it can be added up
 */
const KINDS = {
  text: { read: (stored) => stored, label: (value) => value, ofLabel: quoted },
  truth: { read: Boolean, label: String, ofLabel: (label) => label.toUpperCase() },
  whole: { read: whole, label: String, ofLabel: String, number: true },
  uint32: { read: unsigned(32n), label: String, ofLabel: String, number: true },
  uint64: { read: unsigned(64n), label: String, ofLabel: String, number: true },
  real: { read: (stored) => stored + 0, label: String, ofLabel: fraction, number: true },
  day: { read: (stored) => stored, label: isoOf, ofLabel: (label) => `DATE ${quoted(label)}` },
};

/** A fraction in SQL: what is no number, or has no end, is a text that is cast. */
function fraction(label) {
  return /^-?[\d.]+(e[+-]?\d+)?$/.test(label) ? label : `CAST(${quoted(label)} AS DOUBLE)`;
}

/** The kind of a column by what the page says of it: { kind, scale, unit }. */
export function kindOf({ kind, scale, unit, zone }) {
  if (kind === "decimal") {
    const label = (value) => value.toFixed(Math.max(scale, 0));
    return { read: decimal(scale), label, ofLabel: String, number: true };
  }
  if (kind === "moment") {
    const label = (value) => momentOf(value, unit);
    return { read: whole, label, moment: true, ofLabel: (text) => `TIMESTAMP${zone ? "TZ" : ""} ${quoted(zone ? `${text}+00` : text)}` };
  }
  if (kind === "time") {
    const label = (value) => timeOf(value, unit);
    return { read: whole, label, ofLabel: (text) => `TIME ${quoted(text)}` };
  }
  return KINDS[kind] ?? null;
}

/** Which of two values comes first: words by their code points, what is no number behind numbers, what is missing last. */
export function compared(a, b) {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  if (typeof a === "string") return byCodePoint(a, b);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : 1;
}

function byCodePoint(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    if (x >= 0xd800 && y >= 0xd800) {
      // a surrogate stands for a code point above all others of one unit
      x = x >= 0xe000 ? x - 0x800 : x + 0x2000;
      y = y >= 0xe000 ? y - 0x800 : y + 0x2000;
    }
    return x - y;
  }
  return a.length - b.length;
}
