/** The tuples of published tables, counted once for all questions (forms/tuples/counting.py). */

import { product } from "./arrays.js";
import { selected } from "./scan.js";

export class Counting {
  /**
   * table   the rows that tuples are read from: one a tuple, or one a pair of a pattern of transactions
   * v, s    how many rows each row's tuple stands for, and the variance of that
   * tuple   the number of each row's tuple, where a tuple has several
   * place   the table of each row, where tuples were taken out of tables, and what is known of these: capped
   */
  constructor(table, v, s, tuple = null, place = null, capped = null) {
    Object.assign(this, { table, v, s, tuple, place, capped });
    const lines = this.lines({ groups: [], filters: [] });
    let [value, variance, tuples] = [0, 0, 0];
    for (const { m, v, s } of this.tuplesOf(lines, null)) {
      value += m * v;
      variance += m * m * s;
      tuples++;
    }
    this.all = { value, variance, tuples };
  }

  /** Whether what was taken out of tables is put right. */
  get corrected() {
    return this.capped !== null && this.capped.every(({ kept }) => kept);
  }

  /** The rows that match, and the group of each; groups in the order of their values. */
  lines({ groups, filters }) {
    const { table } = this;
    const chosen = selected(table, filters);
    const codes = groups.map(({ name }) => table.codes(name));
    const sizes = codes.map(({ values }) => values.length);
    const rows = [];
    const keys = [];
    for (let i = 0; i < table.rows; i++) {
      if (chosen !== null && !chosen[i]) continue;
      rows.push(i);
      keys.push(codes.reduce((key, own, k) => key * sizes[k] + own.codes[i], 0));
    }
    const numbers = groups.length ? [...new Set(keys)].sort((a, b) => a - b) : [0];
    const places = new Map(numbers.map((key, place) => [key, place]));
    return {
      rows,
      group: keys.map((key) => places.get(key)),
      count: numbers.length,
      groups: groups.map(({ name }, k) => {
        const inner = product(sizes.slice(k + 1));
        const own = numbers.map((key) => Math.floor(key / inner) % sizes[k]);
        return { name, codes: own, labels: own.map((code) => codes[k].labels[code]) };
      }),
    };
  }

  /** The numbers of a value, and where they are missing. */
  numbers({ column, shift }) {
    const { numbers, missing } = this.table.numbers(column);
    return { numbers: shift ? numbers.map((x) => x + shift(x)) : numbers, missing: missing ?? new Uint8Array(numbers.length) };
  }

  /** The tuples of lines, each with its group, how many rows it has that count (m), and their sum (y). */
  tuplesOf({ rows, group }, x) {
    const known = new Map();
    const tuples = [];
    rows.forEach((row, i) => {
      const m = x && x.missing[row] ? 0 : 1;
      const y = x && m ? x.numbers[row] : 0;
      const key = this.tuple ? `${group[i]} ${this.tuple[row]}` : i;
      const held = this.tuple ? known.get(key) : undefined;
      if (held) {
        held.m += m;
        held.y += y;
        return;
      }
      const tuple = { group: group[i], m, y, v: this.v[row], s: this.s[row], place: this.place?.[row] };
      if (this.tuple) known.set(key, tuple);
      tuples.push(tuple);
    });
    return tuples;
  }
}
