/**
 * Cyclic designs: value x is published as the code (x + d) mod K, each d of a difference set D gamma times as likely as each other one
 * (core/design.py). A code stands for the values y - d, d in D.
 *
 *     phi_h(y) = mean of h + (sum over d in D of (h - its mean)(y - d)) / (A - Q)
 */

import { dot, filled, matrix, total } from "./arrays.js";
import { spreadOf } from "./channel.js";
import { convolved } from "./fourier.js";

/** Steps up to which sums over D are taken one by one, which is exact for counts. */
const STEP_BY_STEP = 1 << 22;

export class Design {
  constructor({ size, codes, offsets, inside, outside }) {
    Object.assign(this, { size, codes, offsets });
    this.gamma = inside / outside;
    const k = offsets.length;
    const repeats = (k * (k - 1)) / (codes - 1);
    this.unit = this.gamma * k + codes - k;
    this.held = (this.gamma * k) / this.unit;
    this.others = (this.gamma * repeats + k - repeats) / this.unit;
    this.never = [];
  }

  get recoded() {
    return true;
  }

  get alike() {
    return true;
  }

  get constant() {
    return false;
  }

  get traits() {
    return null;
  }

  /** sum over d in D of h(y - d), for each code y. */
  _forward(circle) {
    return this._turned(circle, 1);
  }

  /** sum over d in D of g(x + d), for each place x. */
  _back(circle) {
    return this._turned(circle, -1);
  }

  _turned(circle, sign) {
    const count = this.codes;
    const out = new Float64Array(count);
    if (count * this.offsets.length > STEP_BY_STEP) {
      for (const d of this.offsets) out[(sign * d + count) % count] = 1;
      return convolved(circle, out);
    }
    for (const d of this.offsets) {
      const shift = sign > 0 ? d : count - d;
      for (let y = 0; y < count; y++) out[(y + shift) % count] += circle[y];
    }
    return out;
  }

  _filled(values, rest = 0) {
    const whole = filled(this.codes, rest);
    whole.set(values);
    return whole;
  }

  apply(x) {
    const sum = total(x);
    return this._forward(this._filled(x)).map((inside) => (sum + (this.gamma - 1) * inside) / this.unit);
  }

  expect(g) {
    const sum = total(g);
    return this._back(g)
      .slice(0, this.size)
      .map((inside) => (sum + (this.gamma - 1) * inside) / this.unit);
  }

  weights(h) {
    const mean = total(h) / this.size;
    const inside = this._forward(this._filled(h.map((value) => value - mean)));
    return inside.map((sum) => mean + sum / (this.held - this.others));
  }

  /** What the places that are no values add to the weights of any one value, by code. */
  get _unused() {
    return (this._unusedOnce ??= this._forward(this._filled(filled(this.size), 1)).map(
      (sum) => (sum - this.others * this.codes) / (this.size * (this.held - this.others)),
    ));
  }

  solve(y) {
    const more = dot(this._unused, y);
    return this.matches(y).map((sum) => sum / (this.held - this.others) + more);
  }

  solveSquares(t) {
    const step = 1 / (this.held - this.others);
    const more = t.reduce((sum, n, i) => sum + this._unused[i] ** 2 * n, 0);
    return this.matches(t.map((n, i) => n * (step + 2 * this._unused[i]))).map((sum) => step * sum + more);
  }

  /** How many published rows have a code whose block holds each value. */
  matches(counts) {
    return this._back(counts).slice(0, this.size);
  }

  matrix() {
    const inside = new Set(this.offsets);
    return matrix(
      this.codes,
      this.size,
      (y, x) => (inside.has((y - x + this.codes) % this.codes) ? this.gamma : 1) / this.unit,
    );
  }

  get againstOthers() {
    const p = this.held - this.others;
    return { p, r: filled(this.size, this.others / (1 - p)) };
  }

  get zero() {
    return this.never;
  }

  spread() {
    return spreadOf(this.againstOthers);
  }

  /** Of one value, and of all values but one, which are its complement. */
  pair(inside) {
    const members = total(Float64Array.from(inside, Number));
    if (this.size < 2 || (members !== 1 && members !== this.size - 1)) return null;
    const one = Float64Array.from(inside, (own) => Number(members === 1 ? own : !own));
    const holding = this._forward(this._filled(one)).map((sum) => Number(sum > 0.5));
    if (members === 1) return { matches: holding, kept: this.held, drawn: this.others };
    return { matches: holding.map((own) => 1 - own), kept: 1 - this.others, drawn: 1 - this.held };
  }

  /** Cells of codes are those whose blocks hold as many values of each cell. */
  collapse(cells, count) {
    if (count === this.size && cells.every((cell, i) => cell === i)) return this;
    return new DesignCells(this, cells, count);
  }

  /** The cell of each code, where values are put into cells. */
  places(cells, count) {
    if (count === this.size && cells.every((cell, i) => cell === i)) return Int32Array.from({ length: this.codes }, (_, i) => i);
    return this.cut(cells, count).places;
  }

  /** Codes told apart by how many values of each cell their blocks hold: the cell of each code, and the first code of each cell. */
  cut(cells, count) {
    if (count === 1) return { places: new Int32Array(this.codes), firsts: [0] };
    const held = Array.from({ length: count }, (_, cell) => this._forward(this._filled(indicator(cells, cell))));
    const known = new Map();
    const firsts = [];
    const places = Int32Array.from({ length: this.codes }, (_, y) => {
      const key = held.map((sums) => Math.round(sums[y])).join();
      if (!known.has(key)) {
        known.set(key, firsts.length);
        firsts.push(y);
      }
      return known.get(key);
    });
    return { places, firsts };
  }
}

function indicator(cells, cell) {
  return Float64Array.from(cells, (own) => Number(own === cell));
}

/** A design between cells of values and cells of codes: weights and mean probabilities as two matrices, a row for each cell of codes. */
class DesignCells {
  constructor(design, cells, count) {
    const { places, firsts } = design.cut(cells, count);
    Object.assign(this, { design, cells, firsts, size: count, codes: firsts.length });
    const chosen = Array.from({ length: count }, (_, cell) => indicator(cells, cell));
    const weights = chosen.map((own) => design.weights(own));
    this._weights = firsts.map((y) => Float64Array.from(weights, (column) => column[y]));
    this._means = matrix(firsts.length, count, () => 0);
    chosen.forEach((own, cell) => {
      const members = total(own);
      const law = design.apply(own.map((one) => one / members));
      law.forEach((share, y) => (this._means[places[y]][cell] += share));
    });
  }

  weights(h) {
    return Float64Array.from(this._weights, (row) => dot(row, h));
  }

  expect(g) {
    return Float64Array.from({ length: this.size }, (_, j) => this._means.reduce((sum, row, i) => sum + row[j] * g[i], 0));
  }

  matrix() {
    return this._means;
  }

  pair(inside) {
    const pair = this.design.pair(Float64Array.from(this.cells, (cell) => inside[cell]));
    return pair && { ...pair, matches: Float64Array.from(this.firsts, (y) => pair.matches[y]) };
  }
}
