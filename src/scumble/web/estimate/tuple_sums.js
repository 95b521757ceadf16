/**
 * What is summed over counted tuples for one aggregate (forms/tuples/statement.py, forms/tuples/sums.py).
 *
 * A tuple has m rows that count, their sum y, and d = y - a m with a constant a in the middle of the values. A group has sums of products of these over
 * its tuples: p21 is that of d^2 m, s11 that of d m times the variance of the tuple's noise.
 */

import { filled, zip } from "./arrays.js";
import { Moments, Ratio } from "./moments.js";
import { LinearSum } from "./tuple_quantiles.js";

const CHOOSE = { 2: [1, 2, 1], 4: [1, 4, 6, 4, 1] };

export class Sums {
  /** tuples: { group, m, y, v, s } of each tuple that matches; middle: null where rows are counted. */
  constructor(groups, tuples, middle) {
    this.middle = middle === null ? 1 : middle;
    this.counted = middle === null;
    const sum = (term) => {
      const out = filled(groups);
      for (const tuple of tuples) out[tuple.group] += term(tuple);
      return out;
    };
    this.byTable = tuples.some(({ place }) => place !== undefined) ? byTable(groups, tuples, middle) : [];
    this.tuples = sum(({ m }) => Number(m > 0));
    this.rows = sum(({ m }) => m);
    this.matching = sum(({ m, v }) => m * v);
    const d = ({ m, y }) => y - this.middle * m;
    this.powers = {};
    for (const power of [2, 4])
      for (let a = 0; a <= (this.counted ? 0 : power); a++) {
        const term = (tuple) => d(tuple) ** a * tuple.m ** (power - a);
        this.powers[`p${a}${power - a}`] = sum(term);
        if (power === 2) this.powers[`s${a}${power - a}`] = sum((tuple) => term(tuple) * tuple.s);
      }
    if (this.counted) {
      this.weight = this.rows;
      [this.least, this.most] = [filled(groups, 1), filled(groups, 1)];
      return;
    }
    this.weight = sum(({ y }) => y);
    this.sum = sum(({ y, v }) => y * v);
    this.spread = sum((tuple) => d(tuple) * tuple.v);
    [this.least, this.most] = [filled(groups, NaN), filled(groups, NaN)];
    for (const { group, m, y } of tuples) {
      if (!(m > 0)) continue;
      this.least[group] = Number.isNaN(this.least[group]) ? y / m : Math.min(this.least[group], y / m);
      this.most[group] = Number.isNaN(this.most[group]) ? y / m : Math.max(this.most[group], y / m);
    }
  }

  /** The rows that have a value. */
  get count() {
    const { s02, p02, p04 } = this.powers;
    return new LinearSum(this.matching, s02, p02, p04, this.tuples);
  }

  /** What is asked for: the rows, or the sum of their values. */
  get total() {
    if (this.counted) return this.count;
    const whole = this.less(filled(this.weight.length));
    return new LinearSum(this.sum, whole.variance, whole.square, whole.fourth, whole.tuples);
  }

  /** The average less the middle, as a quotient. */
  get ratio() {
    const { s20, s02, s11 } = this.powers;
    return new Ratio(new Moments(this.spread, s20), new Moments(this.matching, s02), s11);
  }

  /** What is asked for, less a rate for each row. */
  less(rate) {
    if (this.counted) return this.count.times(rate.map((r) => 1 - r));
    const at = rate.map((r) => r - this.middle);
    const value = zip((spread, count, own) => spread - own * count, this.spread, this.matching, at);
    return new LinearSum(value, this._power("s", 2, at), this._power("p", 2, at), this._power("p", 4, at), this.tuples);
  }

  /** The sum of (d - at m)^power; below 0 by rounding alone. */
  _power(kind, power, at) {
    return at.map((own, i) => {
      let sum = 0;
      for (let a = 0; a <= power; a++) sum += CHOOSE[power][a] * (-own) ** (power - a) * this.powers[`${kind}${a}${power - a}`][i];
      return Math.max(sum, 0);
    });
  }
}

/** The sums of the tuples of each table by itself. */
function byTable(groups, tuples, middle) {
  const parts = [];
  for (const { place, ...tuple } of tuples) (parts[place] ??= []).push(tuple);
  return parts.map((own) => new Sums(groups, own, middle));
}
