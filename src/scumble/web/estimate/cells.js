/** What a scan of the published rows gave: sums by public group, published values of grouped columns, and cells of the others (query/cells.py). */

import { filled, many, product } from "./arrays.js";

export const MOST_ROWS = 2_000_000;
const MOST_STATES = 20_000_000;

/** What cannot be answered, in a sentence for the reader. */
export class Refused extends Error {
  name = "Refused";
}

export class Cells {
  /**
   * question   what was asked
   * groups     how many public groups there are
   * lines      { row, cell, stratum, sampled, sums }: arrays that belong together; ranges: the least and the most of numbers, by public group
   */
  constructor(question, groups, lines) {
    Object.assign(this, { question, groups, ...lines, chosen: null });
    this.shape = question.grouped.map((axis) => axis.codes.count);
    this.rest = question.others.map((axis) => axis.codes.count);
    this.lines = question.grouped.map((axis) => axis.domain.size);
    this.width = product(this.lines);
    this.seen = product(this.shape);
    this.states = product(this.rest);
  }

  /** The lines of one stratum; the others count nothing. */
  of(stratum) {
    if (!this.stratum) return this;
    return Object.assign(Object.create(Cells.prototype), this, { chosen: stratum });
  }

  /** A column of sums, of first, second or third order in the weights of rows; where rows have none all are the same. */
  numbers(name, order = 1) {
    return this.sums[`${name}${order}`] ?? this.sums[name];
  }

  /** Sums over all lines of one row of the answer, each times the weight of its cells: groups by published values. */
  gather(weights, sums) {
    const data = new Float64Array(this.groups * this.seen);
    for (let i = 0; i < sums.length; i++)
      if (this.chosen === null || this.stratum[i] === this.chosen) data[this.row[i]] += weights[this.cell[i]] * sums[i];
    return { data, shape: [this.groups, ...this.shape] };
  }

  /** The sums as a table: groups, grouped columns, cells of the others. */
  dense(sums) {
    const size = this.groups * this.seen * this.states;
    if (size > MOST_STATES)
      throw new Refused(
        `the table of states would have ${many(size)} cells; ask about fewer columns or groups at once`,
      );
    const data = new Float64Array(size);
    for (let i = 0; i < sums.length; i++)
      if (this.chosen === null || this.stratum[i] === this.chosen) data[this.row[i] * this.states + this.cell[i]] += sums[i];
    return { data, shape: [this.groups, ...this.shape, ...this.rest] };
  }

  /** Sums over all rows of a public group, whatever their published values and cells, for each row of the answer. */
  over(sums) {
    const { data } = this.gather(filled(this.states, 1), sums);
    const out = new Float64Array(this.groups * this.width);
    for (let group = 0; group < this.groups; group++) {
      let whole = 0;
      for (let i = 0; i < this.seen; i++) whole += data[group * this.seen + i];
      out.fill(whole, group * this.width, (group + 1) * this.width);
    }
    return out;
  }
}
