/**
 * Intervals over several perturbed columns from few coins: the law of the estimate, inverted (query/law.py says why, and proves it).
 *
 * With x_j rows of true cell j and A[i, j] the probability that such a row is published in cell i, the estimate S = sum of W over published rows has
 * the characteristic function prod_j G_j(t)^x_j, G_j(t) = sum_i A[i, j] exp(i t W_i). For each total T the other x are taken as likely as they can be, and
 * the interval is {T : P[S >= s | x(T)] > tail and P[S <= s | x(T)] > tail}.
 */

import { dot, least, matrix, most, pseudoInverse, total } from "./arrays.js";
import { MANY } from "./few.js";
import { quantile } from "./normal.js";

export const FEWER = 4;
const BLUR = 0.1;
const INCLUDED = 0.2;
const STEPS = 40;
const ENOUGH = 1e-3;
const STEEP = 2.4;
const GRID = 1 / 16;
const SMALL = 1e-9;
const AT_ONCE = 512;

/** What counts, or sums, over several perturbed columns were drawn from, for every row of the answer. */
export class Tables {
  /**
   * published, sums: rows and what they count in each cell, a line for each row of the answer
   * unit, pull: c and a of each line; whole: whether rows count 1 each; kinds: lines that go through the same transition, with it
   */
  constructor(published, sums, unit, pull, whole, kinds, limit = MANY) {
    Object.assign(this, { published, sums, unit, pull, whole, kinds, limit });
  }

  few(value) {
    const few = Array.from(value, () => false);
    for (const { members, transition } of this.kinds)
      members.forEach((member, i) => {
        if (member) few[i] = transition.range > SMALL && transition.variance(this.published[i]) < this.limit;
      });
    return few.map((own, i) => own && this.pull[i] > 1 - SMALL);
  }

  /** How much one row can change S, for each line. */
  get ranges() {
    return this._by((transition) => transition.range, 0);
  }

  /** How many rows are published in cells that look as if they counted, for each line. */
  get matching() {
    return this._by((transition, i) => dot(this.published[i], transition.looks), 0);
  }

  _by(number, otherwise) {
    const numbers = Float64Array.from(this.published, () => otherwise);
    for (const { members, transition } of this.kinds)
      members.forEach((member, i) => {
        if (member) numbers[i] = number(transition, i);
      });
    return numbers;
  }

  /** The ends of the intervals of all lines that are few; lines that are alike are inverted once. */
  ends(few, tail) {
    const found = few.map(() => null);
    for (const { members, transition } of this.kinds) {
      const kinds = new Map();
      members.forEach((member, i) => {
        if (!member || !few[i]) return;
        const line = { published: this.published[i], value: dot(this.sums[i], transition.weights), pull: this.pull[i] };
        const key = `${line.published.join()};${line.value};${line.pull}`;
        if (!kinds.has(key)) kinds.set(key, { line, places: [] });
        kinds.get(key).places.push(i);
      });
      const alike = [...kinds.values()];
      const ends = transition.ends(
        alike.map(({ line }) => line),
        tail,
        this.whole,
      );
      alike.forEach(({ places }, k) => {
        for (const i of places) {
          const pair = [ends[k][0] * this.unit[i], ends[k][1] * this.unit[i]];
          found[i] = [Math.min(...pair), Math.max(...pair)];
        }
      });
    }
    return found;
  }
}

/** What rows of each true cell become (through, a column for each), the weights W, which cells count, and which published ones look so. */
export class Transition {
  constructor(through, weights, counted, looks) {
    Object.assign(this, { through, weights, counted, looks });
    this.range = most(weights) - least(weights);
    this.spread = Float64Array.from(counted, (own, j) =>
      Math.max(through.reduce((sum, row, i) => sum + weights[i] ** 2 * row[j], 0) - own, 0),
    );
    this.own = Float64Array.from(weights, (w) => w * w - w);
  }

  /** The unbiased variance of S, in units of the range of W: how many rows decide. */
  variance(published) {
    return dot(published, this.own) / Math.max(this.range, SMALL) ** 2;
  }

  ends(lines, tail, whole) {
    const variances = lines.map((line) => this.variance(line.published));
    const order = lines.map((_, i) => i).sort((a, b) => variances[a] - variances[b]);
    const ends = lines.map(() => null);
    for (let at = 0; at < order.length; at += AT_ONCE) {
      const chosen = order.slice(at, at + AT_ONCE);
      const part = new Lines(
        this,
        chosen.map((i) => lines[i]),
        tail,
        whole,
      ).ends();
      chosen.forEach((i, k) => (ends[i] = part[k]));
    }
    return ends;
  }
}

/** Lines that go through one transition, while their ends are looked for. */
class Lines {
  constructor(transition, lines, tail, whole) {
    Object.assign(this, { transition, lines, tail, z: -quantile(tail), grid: whole ? 1 : GRID });
    this.rows = lines.map((line) => total(line.published));
    const back = pseudoInverse(transition.through);
    this.first = lines.map((line, k) => {
      const likely = Float64Array.from(back, (row) => Math.max(dot(row, line.published), 0));
      return likely.map((x) => x + (0.01 * this.rows[k]) / likely.length);
    });
    const far = this.rows.map((n) => (this.z + 4) * Math.sqrt(n * most(transition.spread)) + 2 * transition.range);
    this.bounds = lines.map((line, k) =>
      whole ? [0, rint(this.rows[k])] : [this.onGrid(line.value - far[k]), this.onGrid(line.value + far[k])],
    );
  }

  onGrid(count) {
    return Math.floor(count / this.grid) * this.grid;
  }

  ends() {
    const reach = this.first.map((x) => this.z * Math.sqrt(dot(x, this.transition.spread)));
    const low = this.last(
      this.lines.map((line, k) => line.value - reach[k]),
      1,
    );
    const high = this.last(
      this.lines.map((line, k) => line.value + reach[k]),
      -1,
    );
    return this.lines.map((_, k) => [clip(low[k] + this.grid, this.bounds[k]), clip(high[k], this.bounds[k])]);
  }

  /** The last T on the near side of an end: by the distance that each T shows, and every third time by halves. */
  last(guess, side) {
    this.x = this.first.map((x) => Float64Array.from(x));
    const below = this.bounds.map(([first]) => first - this.grid);
    const above = this.bounds.map(([, end]) => end + this.grid);
    const middle = guess.map((g, k) => clip(this.onGrid(g), this.bounds[k]));
    for (let turn = 1; ; turn++) {
      const open = middle.map((_, k) => k).filter((k) => above[k] - below[k] > 1.5 * this.grid);
      if (open.length === 0) return below;
      const left = this.left(middle, open, side);
      open.forEach((k, i) => {
        if (left[i] >= 0) below[k] = middle[k];
        else above[k] = middle[k];
        const [lowest, highest] = [below[k] + this.grid, above[k] - this.grid];
        const next = turn % 3 === 0 ? (lowest + highest) / 2 : clip(middle[k] + left[i], [lowest, highest]);
        middle[k] = this.onGrid(next);
      });
    }
  }

  /** About how far it is from T to the end, which lies where the tail is the one asked for: below 0 beyond it. */
  left(middle, open, side) {
    const { beyond, sd } = this.beyond(middle, open, side);
    const level = Math.log(this.tail / (1 - this.tail));
    return beyond.map((share, i) => {
      const odds = Math.log((share + SMALL) / (1 + SMALL - share)) - level;
      return (-side * odds * (sd[i] + this.transition.range / 8)) / STEEP;
    });
  }

  /** P[S >= s | x(T)] for side 1, P[S <= s | x(T)] for side -1, and the standard deviation of S. */
  beyond(middle, open, side) {
    const size = this.transition.range;
    const count = open.map((k) => Math.min(Math.max(middle[k] / this.lines[k].pull, 0), this.rows[k]));
    const x = likeliest(
      this.transition,
      open.map((k) => this.x[k]),
      open.map((k) => this.lines[k].published),
      count,
    );
    open.forEach((k, i) => (this.x[k] = x[i]));
    const away = open.map((k) => side * (this.lines[k].value - middle[k]));
    const sd = x.map((own) => Math.sqrt(dot(own, this.transition.spread)));
    const beyond = away.map((distance) => (distance > 0 ? 0 : 1));
    const near = open.map((_, i) => i).filter((i) => Math.abs(away[i]) <= (this.z + 4) * sd[i] + 2 * size);
    if (near.length > 0) {
      const tails = gilPelaez(
        this,
        near.map((i) => x[i]),
        near.map((i) => sd[i]),
        near.map((i) => side * count[i] + away[i]),
        side,
      );
      near.forEach((i, k) => (beyond[i] = tails[k]));
    }
    return { beyond: beyond.map((share) => Math.min(Math.max(share, 0), 1)), sd };
  }
}

/** Steps of EM toward the likeliest true cells of which so many rows count. */
function likeliest({ through, counted }, x, published, count) {
  const [seenCells, trueCells] = [through.length, counted.length];
  const rows = published.map(total);
  for (let step = 0; step < STEPS; step++) {
    let done = true;
    x = x.map((own, k) => {
      const share = new Float64Array(seenCells);
      for (let i = 0; i < seenCells; i++) {
        const seen = dot(through[i], own);
        share[i] = seen > 0 ? published[k][i] / seen : 0;
      }
      const moved = new Float64Array(trueCells);
      const sides = [0, 0];
      for (let j = 0; j < trueCells; j++) {
        let back = 0;
        for (let i = 0; i < seenCells; i++) back += share[i] * through[i][j];
        moved[j] = Math.max(own[j] * back, SMALL);
        sides[counted[j] ? 1 : 0] += moved[j];
      }
      for (let j = 0; j < trueCells; j++) {
        moved[j] *= (counted[j] ? count[k] : rows[k] - count[k]) / sides[counted[j] ? 1 : 0];
        if (Math.abs(moved[j] - own[j]) > ENOUGH * (1 + moved[j])) done = false;
      }
      return moved;
    });
    if (done) break;
  }
  return x;
}

/** P[side * S >= value], by the sum over frequencies (Gil-Pelaez) of the blurred law. */
function gilPelaez({ transition, tail, z }, x, sd, value, side) {
  const size = transition.range;
  const blur = BLUR * Math.hypot(size, least(sd));
  const period = (2 * z + 8) * most(sd) + 4 * size;
  const end = (1 + Math.sqrt(-2 * Math.log(tail))) / blur; // beyond, the blur leaves less than is asked for
  const frequencies = Math.ceil((end * period) / (2 * Math.PI));
  const step = (2 * Math.PI) / period;
  const { decay, angle } = characteristic(transition, side, frequencies, step);
  return x.map((own, k) => {
    const shifted = value[k] - INCLUDED * size;
    let sum = 0;
    for (let f = 0; f < frequencies; f++) {
      const t = (f + 0.5) * step;
      const turned = dot(angle[f], own) - shifted * t;
      sum += (Math.exp(dot(decay[f], own) - (blur * t) ** 2 / 2) * Math.sin(turned)) / (f + 0.5);
    }
    return 0.5 + sum / Math.PI;
  });
}

/** The logarithm of |G_j(t)| and its angle, which goes on beyond half a turn, for each frequency. */
function characteristic({ through, weights, counted }, side, frequencies, step) {
  const decay = matrix(frequencies, counted.length, () => 0);
  const angle = matrix(frequencies, counted.length, () => 0);
  for (let f = 0; f < frequencies; f++) {
    const t = (f + 0.5) * step;
    const cos = Float64Array.from(weights, (w) => Math.cos(side * t * w));
    const sin = Float64Array.from(weights, (w) => Math.sin(side * t * w));
    for (let j = 0; j < counted.length; j++) {
      let [real, imaginary] = [0, 0];
      for (let i = 0; i < weights.length; i++) {
        real += through[i][j] * cos[i];
        imaginary += through[i][j] * sin[i];
      }
      decay[f][j] = Math.log(Math.max(Math.hypot(real, imaginary), 1e-300));
      angle[f][j] = Math.atan2(imaginary, real);
      if (f > 0) angle[f][j] += 2 * Math.PI * Math.round((angle[f - 1][j] - angle[f][j]) / (2 * Math.PI));
    }
  }
  return { decay, angle };
}

function clip(value, [low, high]) {
  return Math.min(Math.max(value, low), high);
}

function rint(x) {
  return Math.round(x);
}
