/**
 * Retention replacement: value i is kept with p_i and otherwise drawn from r (core/channel.py).
 *
 *     P[j, i] = Pr[i becomes j] = p_i [i = j] + (1 - p_i) r_j
 */

import { dot, filled, matrix, most, total } from "./arrays.js";

/** Values of which the published table cannot tell which is which. */
export class Indistinguishable extends Error {
  constructor(places) {
    super("values cannot be told apart, because they are never retained; ask for them together");
    this.places = places;
  }
}

export class Channel {
  /** retain: a number, or one for each value; replace: a distribution, uniform when absent. */
  constructor(retain, replace, size) {
    this.size = size ?? (replace ?? retain).length;
    const kept = typeof retain === "number" ? filled(this.size, retain) : Float64Array.from(retain);
    this.retention = kept;
    this.replace = replace ? Float64Array.from(replace) : filled(this.size, 1 / this.size);
    this.constant = kept.every((p) => p === kept[0]);
    this.uniform = this.constant && this.replace.every((r) => r === this.replace[0]);
    this.zero = [...kept.keys()].filter((i) => kept[i] === 0);
  }

  get codes() {
    return this.size;
  }

  get recoded() {
    return false;
  }

  get alike() {
    return this.uniform;
  }

  get retain() {
    return this.retention[0];
  }

  /** What tells values apart that a question does not, where anything does. */
  get traits() {
    return this.constant ? null : this.retention;
  }

  /** The debias weights of h: their mean over what a value becomes is h of it. */
  weights(h) {
    const { retention: p, replace: r } = this;
    if (this.zero.length === 0) {
      const c = dot(this._odds, h) / total(this._odds);
      return h.map((value, i) => (value - (1 - p[i]) * c) / p[i]);
    }
    const c = this._common(h);
    const lost = this.zero.reduce((sum, i) => sum + r[i], 0);
    const phi = h.map((value, i) => (p[i] > 0 ? (value - (1 - p[i]) * c) / p[i] : 0));
    const rest = (c - dot(r, phi)) / lost;
    for (const i of this.zero) phi[i] = lost > 0 ? rest : 0;
    return phi;
  }

  get _odds() {
    return (this._oddsOnce ??= this.replace.map((r, i) => r / this.retention[i]));
  }

  /** What h is on all values that are never retained. */
  _common(h) {
    const c = h[this.zero[0]];
    const { retention: p, replace: r } = this;
    if (this.zero.some((i) => h[i] !== c)) throw new Indistinguishable(this.zero);
    if (this.zero.every((i) => r[i] === 0)) {
      let [top, bottom] = [0, 0];
      for (let i = 0; i < this.size; i++)
        if (p[i] > 0) {
          top += (r[i] / p[i]) * h[i];
          bottom += r[i] / p[i];
        }
      if (Math.abs(top / bottom - c) > 1e-12 * (1 + Math.abs(c))) throw new Indistinguishable(this.zero);
    }
    return c;
  }

  /** The unbiased estimate of true counts behind published ones. */
  solve(y) {
    const { retention: p, replace: r, zero } = this;
    if (zero.length > 1 || (zero.length === 1 && r[zero[0]] === 0)) throw new Indistinguishable(zero);
    if (zero.length === 0) {
      const redrawn = (y.reduce((sum, n, i) => sum + n / p[i], 0) - total(y)) / total(this._odds);
      return y.map((n, i) => (n - r[i] * redrawn) / p[i]);
    }
    const [k] = zero;
    const x = y.map((n, i) => (i === k ? 0 : (n - r[i] * (y[k] / r[k])) / p[i]));
    x[k] = total(y) - total(x);
    return x;
  }

  /** The same with the squares of the weights. */
  solveSquares(t) {
    const { retention: p } = this;
    if (this.zero.length > 0) return Float64Array.from(this._squaredRows(), (row) => dot(row, t));
    const whole = total(this._odds);
    const spread = t.reduce((sum, n, i) => sum + ((1 - p[i]) / p[i]) ** 2 * n, 0);
    return t.map((n, i) => {
      const [c, odds] = [this._odds[i] / whole, (1 - p[i]) / p[i]];
      return (1 / p[i] ** 2 - (2 * c * odds) / p[i]) * n + c * c * spread;
    });
  }

  /** The squared weights of each value, where one is never retained and there is no shorter way. */
  _squaredRows() {
    const one = (place) => Float64Array.from({ length: this.size }, (_, i) => (i === place ? 1 : 0));
    return Array.from({ length: this.size }, (_, d) => this.weights(one(d)).map((w) => w * w));
  }

  /** The mean of g(published) for each true value. */
  expect(g) {
    const mean = dot(this.replace, g);
    return g.map((value, i) => this.retention[i] * value + (1 - this.retention[i]) * mean);
  }

  /** How many published rows look like each value. */
  matches(counts) {
    return counts;
  }

  matrix() {
    const { retention: p, replace: r } = this;
    return matrix(this.size, this.size, (j, i) => (i === j ? p[i] : 0) + (1 - p[i]) * r[j]);
  }

  /** p, and r of each value, where each against all others is kept with p and else drawn with r. */
  get againstOthers() {
    return this.constant && this.retain > 0 ? { p: this.retain, r: this.replace } : null;
  }

  /** A set is kept with p + (1 - p) r(set) and drawn with (1 - p) r(set), where one retention holds. */
  pair(inside) {
    if (!this.constant || this.retain === 0) return null;
    const drawn = (1 - this.retain) * dot(this.replace, inside);
    return { matches: inside, kept: this.retain + drawn, drawn };
  }

  /** The channel between cells of values; within a cell the retention is one. */
  collapse(cells, count) {
    const replace = new Float64Array(count);
    const retain = filled(count, 1);
    for (let i = 0; i < this.size; i++) {
      replace[cells[i]] += this.replace[i];
      retain[cells[i]] = this.retention[i];
    }
    return new Channel(this.constant ? this.retain : retain, replace, count);
  }

  /** Codes are values. */
  places(cells) {
    return cells;
  }

  /** The mean squares of the weight of one value: of rows that have it, and the least of it over rows that have another. */
  spread() {
    if (this.againstOthers) return spreadOf(this.againstOthers);
    const { retention: p, replace: r } = this;
    if (this.zero.length > 0) return { hit: filled(this.size, 1), miss: filled(this.size, 0) };
    const whole = total(this._odds);
    const redrawn = this.solveSquares(r);
    let [leastOdds, mostKept] = [Infinity, most(p)];
    for (const kept of p) leastOdds = Math.min(leastOdds, (1 - kept) ** 2 / kept);
    const hit = p.map((kept, i) => {
      const [c, odds] = [this._odds[i] / whole, (1 - kept) / kept];
      return kept * (1 / kept - c * odds) ** 2 + (1 - kept) * redrawn[i];
    });
    const other = p.map((_, i) => (this._odds[i] / whole) ** 2 * leastOdds + (1 - mostKept) * redrawn[i]);
    return { hit, miss: hit.map((own, i) => Math.min(own, other[i])) };
  }
}

/** The mean squares of weights of one value that is kept with p and else drawn with r: of its own rows, and the less of these and all others'. */
export function spreadOf({ p, r }) {
  const hit = r.map((share) => {
    const b = (1 - p) * share;
    return (p + b) * ((1 - b) / p) ** 2 + (1 - p - b) * (b / p) ** 2;
  });
  const miss = r.map((share, i) => {
    const b = (1 - p) * share;
    return Math.min(hit[i], b * ((1 - b) / p) ** 2 + (1 - b) * (b / p) ** 2);
  });
  return { hit, miss };
}
