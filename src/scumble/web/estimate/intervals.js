/**
 * From moments to intervals (query/intervals.py, docs/proofs/intervals.md).
 *
 * - Sums and counts: {T : (S - T)^2 <= z^2 V(T)}, V(T) = V + g (T - S).
 * - Where few coins decide, the law of what is published, or of the estimate, inverted.
 * - Averages: Fieller's, unbounded where the group may be empty, until they are cut to what is possible (possible.js).
 */

import { zip } from "./arrays.js";
import { reach } from "./normal.js";

const ROUNDING = 1e-12;

/** An estimate has a name, value, se, low, high, method; bound and least where rows were suppressed. */
export function ofSum(name, moments, exact, level, { alike = false, draws = null } = {}) {
  const z = reach(level);
  const { value } = moments;
  const variance = zip((v, s) => (v > ROUNDING * (1 + Math.abs(s)) ? v : 0), moments.variance, value);
  const slope = zip((g, v) => (v > 0 ? g : 0), moments.slope, variance);
  const gentle = (g) => (alike ? g : g / 2);
  const low = value.map((s, i) => s - far(slope[i] > 0 ? -gentle(slope[i]) : -slope[i], variance[i], z));
  const high = value.map((s, i) => s + far(slope[i] > 0 ? slope[i] : gentle(slope[i]), variance[i], z));
  if (draws) {
    const few = draws.few(value);
    draws.ends(few, (1 - level) / 2).forEach((ends, i) => {
      if (!ends) return;
      if (alike) low[i] = high[i] = value[i]; // else the law is that of rows of one size, and does not stand alone
      low[i] = Math.min(ends[0], low[i]);
      high[i] = Math.max(ends[1], high[i]);
    });
  }
  return { name, value, se: zip(Math.sqrt, variance), low, high, method: exact ? "exact" : "unbiased" };
}

/** The d > 0 with d^2 = z^2 (V + g d). */
function far(slope, variance, z) {
  const lean = ((z * z) / 2) * slope;
  return lean + Math.sqrt(lean ** 2 + z * z * variance);
}

/** An average with its interval; z is one for all rows, or one for each. `even`: variances that it is to hold for too where few rows decide. */
export function ofAverage(name, ratio, exact, z, even = null) {
  const [top, bottom] = [ratio.numerator.value, ratio.denominator.value];
  const { vTop, vBottom, c } = variances(ratio);
  const each = typeof z === "number" ? top.map(() => z) : z;
  const value = top.map((n, i) => (Math.abs(bottom[i]) <= 1e-9 * Math.sqrt(vBottom[i]) + ROUNDING ? NaN : n / bottom[i]));
  const se = value.map((r, i) => {
    const own = vTop[i] - 2 * r * c[i] + r * r * vBottom[i];
    if (Number.isNaN(r)) return NaN;
    return own <= ROUNDING * (vTop[i] + r * r * vBottom[i]) ? 0 : Math.sqrt(Math.max(own, 0)) / Math.abs(bottom[i]);
  });
  let { low, high } = fieller(ratio, each);
  low = low.map((end, i) => (se[i] === 0 ? value[i] : end));
  high = high.map((end, i) => (se[i] === 0 ? value[i] : end));
  if (even) {
    const ends = fieller(even.ratio, each);
    low = low.map((end, i) => (even.few[i] ? nanMin(end, ends.low[i]) : end));
    high = high.map((end, i) => (even.few[i] ? nanMax(end, ends.high[i]) : end));
  }
  return { name, value, se, low, high, method: exact ? "exact" : "unbiased" };
}

function variances(ratio) {
  const [vTop, vBottom] = [ratio.numerator, ratio.denominator].map((m) => m.variance.map((v) => Math.max(v, 0)));
  return { vTop, vBottom, c: ratio.covariance };
}

function fieller(ratio, z) {
  const [top, bottom] = [ratio.numerator.value, ratio.denominator.value];
  const { vTop, vBottom, c } = variances(ratio);
  const [low, high] = [new Float64Array(top.length), new Float64Array(top.length)];
  for (let i = 0; i < top.length; i++) {
    const zz = z[i] * z[i];
    const square = bottom[i] ** 2 - zz * vBottom[i];
    const middle = top[i] * bottom[i] - zz * c[i];
    const root = Math.sqrt(Math.max(middle ** 2 - square * (top[i] ** 2 - zz * vTop[i]), 0));
    low[i] = square > 0 ? (middle - root) / square : -Infinity;
    high[i] = square > 0 ? (middle + root) / square : Infinity;
  }
  return { low, high };
}

/** The less, or the more, of two; what is no number does not count. */
export function nanMin(a, b) {
  return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b);
}

export function nanMax(a, b) {
  return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b);
}
