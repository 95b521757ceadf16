/**
 * One pass over the published rows: the sums that a question needs, by public group, published values of grouped columns, and cells of the others
 * (query/compile.py has the same as a statement).
 *
 *     n, n2, n3        rows, and sums of W^2 and W^3 where rows have weights        n_rows   published rows, each once
 *     v0_n, v0_s, v0_q, v0_c   of a value: rows that have it, its sum, that of its squares and that of its cubes
 */

import { many, product } from "./arrays.js";
import { Cells, MOST_ROWS, Refused } from "./cells.js";

const DENSE = 1 << 22;
const WIDE = 2 ** 31;

/** Cells for a question, and the public groups that there are: for each public column the codes of its values. */
export function scanned(question, table) {
  const keys = new Keys(table.rows);
  const chosen = selected(table, question.filters);
  for (const name of question.publics) keys.add(table.codes(name).codes, table.codes(name).values.length);
  const groups = keys.distinct(chosen);
  const seen = product(question.grouped.map((axis) => axis.codes.count));
  const states = product(question.others.map((axis) => axis.codes.count));
  const width = product(question.grouped.map((axis) => axis.domain.size));
  if (groups.count * Math.max(width, seen) > MOST_ROWS)
    throw new Refused(
      `the answer would have ${many(groups.count * Math.max(width, seen))} rows; group by less, or narrow it with a filter`,
    );
  const lines = new Keys(table.rows, groups.keys, Math.max(groups.count, 1));
  for (const axis of [...question.grouped, ...question.others])
    if (axis.codes.count > 1) lines.add(table.encoded(axis.name), axis.codes.count, axis.codes.places);
  const { published, exact } = question;
  const strata = published.strata.length;
  const dealt = published.stratum !== null && !exact && strata > 1;
  if (dealt) lines.add(table.strata(published.stratum, strata), strata);
  const flagged = published.sample !== null && !exact;
  if (flagged) lines.add(table.above(published.weight ?? published.copies, 1), 2);
  const found = lines.distinct(chosen);
  const sums = summed(question, table, found, chosen);
  const ranges = ranged(question, table, groups, chosen);
  return {
    groups,
    cells: new Cells(question, groups.count, { ...split(found, { seen, states, dealt, strata, flagged, sums }), ranges }),
  };
}

/** Which rows meet all conditions on public columns; null for all of them. */
export function selected(table, filters) {
  let chosen = null;
  for (const filter of filters) {
    const meets = table.meeting(filter);
    if (chosen === null) chosen = meets;
    else for (let i = 0; i < chosen.length; i++) chosen[i] &= meets[i];
  }
  return chosen;
}

/** The keys of lines, taken apart again. */
function split({ count, numbers }, { seen, states, dealt, strata, flagged, sums }) {
  const lines = { row: new Int32Array(count), cell: new Int32Array(count), sums };
  lines.stratum = dealt ? new Int32Array(count) : null;
  lines.sampled = flagged ? new Float64Array(count) : null;
  for (let line = 0; line < count; line++) {
    let key = numbers[line];
    if (flagged) {
      lines.sampled[line] = key % 2;
      key = Math.floor(key / 2);
    }
    if (dealt) {
      lines.stratum[line] = key % strata;
      key = Math.floor(key / strata);
    }
    lines.cell[line] = key % states;
    lines.row[line] = Math.floor(key / states);
  }
  return lines;
}

/** Rows told apart by several columns of codes: one number a row, in the order of the columns. */
export class Keys {
  constructor(rows, keys = null, size = 1) {
    Object.assign(this, { rows, keys, size });
  }

  /** One more column; `places` says which of `count` codes each of its own stands for. */
  add(codes, count, places = null) {
    const wide = this.size * count >= WIDE;
    const next = wide ? new Float64Array(this.rows) : new Int32Array(this.rows);
    const before = this.keys;
    for (let i = 0; i < this.rows; i++) {
      const code = places ? places[codes[i]] : codes[i];
      next[i] = before ? before[i] * count + code : code;
    }
    if (this.size * count > Number.MAX_SAFE_INTEGER) throw new Refused("there are too many groups; group by less");
    Object.assign(this, { keys: next, size: this.size * count });
  }

  /** Leaves out numbers that do not occur, so that further columns have room. */
  renumber() {
    if (this.size <= DENSE) return;
    const { keys, count } = this.distinct(null);
    Object.assign(this, { keys, size: count });
  }

  /**
   * Those that occur in chosen rows, numbered in their order.
   *
   * keys      the number of each row's key; count: how many there are; numbers: the keys themselves; without a column all rows have one key
   */
  distinct(chosen) {
    if (this.keys === null) return { keys: null, count: 1, numbers: [0], size: 1 };
    const occurring = this.size <= DENSE ? this._marked(chosen) : this._collected(chosen);
    const place = this.size <= DENSE ? new Int32Array(this.size) : new Map();
    occurring.forEach((key, i) => (this.size <= DENSE ? (place[key] = i) : place.set(key, i)));
    const keys = new Int32Array(this.rows);
    for (let i = 0; i < this.rows; i++)
      if (chosen === null || chosen[i]) keys[i] = this.size <= DENSE ? place[this.keys[i]] : place.get(this.keys[i]);
    return { keys, count: occurring.length, numbers: occurring };
  }

  _marked(chosen) {
    const marks = new Uint8Array(this.size);
    for (let i = 0; i < this.rows; i++) if (chosen === null || chosen[i]) marks[this.keys[i]] = 1;
    const found = [];
    for (let key = 0; key < marks.length; key++) if (marks[key]) found.push(key);
    return found;
  }

  _collected(chosen) {
    const found = new Set();
    for (let i = 0; i < this.rows; i++) if (chosen === null || chosen[i]) found.add(this.keys[i]);
    return [...found].sort((a, b) => a - b);
  }
}

/** The sums of each line. */
function summed(question, table, { keys, count }, chosen) {
  const weights = powers(question.published, table);
  const sums = {};
  const pass = (name, add) => {
    const out = new Float64Array(count);
    for (let i = 0; i < table.rows; i++) if (chosen === null || chosen[i]) out[keys === null ? 0 : keys[i]] += add(i);
    sums[name] = out;
  };
  const orders = (name, number, wanted) => {
    const [first, ...more] = wanted;
    pass(name, weights ? (i) => number(i) * weights(i, first) : number);
    if (weights) for (const order of more) pass(`${name}${order}`, (i) => number(i) * weights(i, order));
  };
  orders("n", () => 1, [1, 2, 3]);
  if (weights) pass("n_rows", question.published.copies ? copiesOnce(question.published, table) : () => 1);
  question.values.forEach((value, place) => {
    const { numbers, missing } = table.numbers(value.column);
    const there = missing ? (i) => 1 - missing[i] : () => 1;
    const x = value.shift ? (i) => numbers[i] + value.shift(numbers[i]) : (i) => numbers[i];
    const power = missing ? (k) => (i) => (missing[i] ? 0 : raised(x(i), k)) : (k) => (i) => raised(x(i), k);
    orders(`v${place}_n`, there, [1, 2, 3]);
    orders(`v${place}_s`, power(1), [1, 2]);
    orders(`v${place}_q`, power(2), [2]);
    if (value.cubed) orders(`v${place}_c`, power(3), [3]);
  });
  demandFinite(question, sums);
  return sums;
}

/** The least and the most of each public number in each public group. */
function ranged(question, table, { keys, count }, chosen) {
  return question.values.map((value) => {
    const [low, high] = [new Float64Array(count).fill(Infinity), new Float64Array(count).fill(-Infinity)];
    const { numbers, missing } = table.numbers(value.column);
    for (let i = 0; i < table.rows; i++) {
      if ((chosen !== null && !chosen[i]) || (missing && missing[i])) continue;
      const [group, x] = [keys === null ? 0 : keys[i], numbers[i] + (value.shift ? value.shift(numbers[i]) : 0)];
      low[group] = Math.min(low[group], x);
      high[group] = Math.max(high[group], x);
    }
    return { low, high };
  });
}

function raised(x, power) {
  return power === 1 ? x : power === 2 ? x * x : x * x * x;
}

/** What a row is multiplied by in sums of an order: W, W^2, W^3, or 1, its copies and their square; nothing where rows count once. */
function powers(published, table) {
  const name = published.weight ?? published.copies;
  if (name === null) return null;
  const { numbers } = table.numbers(name);
  const less = published.weight === null ? 1 : 0;
  return (i, order) => numbers[i] ** (order - less);
}

function copiesOnce(published, table) {
  const { numbers } = table.numbers(published.copies);
  return (i) => 1 / numbers[i];
}

/** Refuses sums that are no numbers; of an exact answer nothing but the sums themselves, of others also what their errors need. */
function demandFinite(question, sums) {
  for (const { name, kind, value } of question.aggregates) {
    if (kind === "count" || !question.values.includes(value)) continue;
    const prefix = `v${question.values.indexOf(value)}_${question.exact ? "s" : ""}`;
    const names = Object.keys(sums).filter((known) => known.startsWith(prefix));
    if (!names.every((known) => sums[known].every(Number.isFinite)))
      throw new Refused(
        `'${name}' adds up values that are infinite, no numbers (NaN) or too large to be squared; leave them out by a filter`,
      );
  }
}
