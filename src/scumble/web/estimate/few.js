/**
 * Intervals of counts over one perturbed column from few coins: the law of what is published, inverted (query/few.py, query/inversion.py).
 *
 * Of n rows c count; each is published as one that does with probability q, and each other row with b < q. So Y = Bin(c, q) + Bin(n - c, b),
 * and with Y = y observed the interval is {c in 0..n : P[Y >= y | c] > tail and P[Y <= y | c] > tail}.
 */

import { atMost, mass } from "./binomial.js";

export const MANY = 25;

/** What counts were drawn from, for every row of the answer. */
export class Draws {
  constructor(published, rows, kept, drawn, most = MANY) {
    Object.assign(this, { published, rows, kept, drawn, most });
  }

  few(value) {
    return Array.from(value, (estimate, i) => {
      const [n, q, b] = [this.rows[i], this.kept[i], this.drawn[i]];
      const count = Math.min(Math.max(estimate, 0), n);
      return b + 1 - q > 0 && count * q * (1 - q) + (n - count) * b * (1 - b) < this.most;
    });
  }

  /** The ends of the intervals of all lines; those that are not few are left out. */
  ends(few, tail) {
    const known = new Map();
    return few.map((wanted, i) => {
      if (!wanted) return null;
      const [y, n, q, b] = [Math.round(this.published[i]), Math.round(this.rows[i]), this.kept[i], this.drawn[i]];
      const key = `${y} ${n} ${q} ${b}`;
      if (!known.has(key)) known.set(key, inverted(y, n, q, b, tail));
      return known.get(key);
    });
  }
}

function inverted(y, n, q, b, tail) {
  if (b * (1 - b) > q * (1 - q)) {
    const [low, high] = straight(n - y, n, 1 - b, 1 - q, tail);
    return [n - high, n - low];
  }
  return straight(y, n, q, b, tail);
}

function straight(y, n, q, b, tail) {
  const low = Math.min(last(y - 1, n, q, b, 1 - tail) + 1, n);
  const high = Math.max(last(y, n, q, b, tail), 0);
  return [Math.min(low, high), Math.max(low, high)];
}

/** The largest c with P[Y <= y | c] > level, or -1. */
function last(y, n, q, b, level) {
  let below = -1;
  let above = n + 1;
  while (above - below > 1) {
    const middle = Math.min(Math.max(Math.floor((below + above) / 2), 0), n);
    if (sumAtMost(y, n, middle, q, b) > level) below = middle;
    else above = middle;
  }
  return below;
}

/** P[Y <= y | c], summed over the false matches f; f ends where hardly one is larger. */
function sumAtMost(y, n, c, q, b) {
  if (y < 0) return 0;
  const mean = n * b;
  const most = Math.floor(Math.min(y, mean + 8 * Math.sqrt(mean * (1 - b)) + 12));
  let beyond = atMost(y - most, c, q);
  let sum = mass(most, n - c, b) * beyond;
  for (let f = most - 1; f >= 0; f--) {
    beyond += mass(y - f, c, q);
    sum += mass(f, n - c, b) * beyond;
  }
  return sum;
}
