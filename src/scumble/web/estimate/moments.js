/**
 * An estimate with what its interval needs: its variance V, and how V follows the estimate S (query/moments.py, query/slope.py).
 *
 * As it is to be expected at a truth T, the variance is V(T) = V + g (T - S), g = cube / square.
 */

import { add, filled, least, most, quotient, times, zip } from "./arrays.js";

const SMALL = 1e-12;

export class Moments {
  constructor(value, variance, cube = null, square = null) {
    Object.assign(this, { value, variance, cube, square });
  }

  plus(other) {
    const both = (a, b) => (a && b ? add(a, b) : (a ?? b));
    return new Moments(
      add(this.value, other.value),
      add(this.variance, other.variance),
      both(this.cube, other.cube),
      both(this.square, other.square),
    );
  }

  /** The same with the slope g of one stratum; in a sum of strata it counts by their variances. */
  leaning(slope) {
    const square = zip((v) => Math.max(v, 0), this.variance);
    return new Moments(this.value, this.variance, times(slope, square), square);
  }

  /** The same with more variance, which follows nothing. */
  widened(variance) {
    return new Moments(this.value, add(this.variance, variance), this.cube, this.square);
  }

  /** The same with another variance, which follows the sum so many times as much. */
  ofVariance(variance, factor) {
    const square = zip((v) => Math.max(v, 0), variance);
    return new Moments(
      this.value,
      variance,
      zip((slope, own, v) => slope * own * v, this.slope, factor, square),
      square,
    );
  }

  /** The sum over rows that count x times as much. */
  times(x) {
    const power = (numbers, k) => numbers && zip((n, own) => n * own ** k, numbers, x);
    return new Moments(times(this.value, x), power(this.variance, 2), power(this.cube, 3), power(this.square, 2));
  }

  get slope() {
    return this.cube ? quotient(this.cube, this.square) : filled(this.value.length);
  }
}

/** A numerator, a denominator and their covariance. */
export class Ratio {
  constructor(numerator, denominator, covariance) {
    Object.assign(this, { numerator, denominator, covariance });
  }

  plus(other) {
    return new Ratio(
      this.numerator.plus(other.numerator),
      this.denominator.plus(other.denominator),
      add(this.covariance, other.covariance),
    );
  }
}

/** k and u of the true cells, for a function h of them: how the variance of an estimate follows it, for one row. */
export function covariances(h, weights, expect) {
  const w = weights(h);
  const second = weights(zip((x) => x * x, h));
  const u = zip((mean, own) => mean - own * own, expect(zip((x) => x * x, w)), h);
  const cubes = expect(zip((x, y) => x ** 3 - x * y, w, second));
  const k = zip((mean, own, spread) => mean - own * spread, cubes, h, u);
  const limit = SMALL * (1 + Math.max(most(zip((x) => x * x, w)), 0));
  return { k: zip((a, b) => (b > limit ? a : 0), k, u), u: zip((b) => (b > limit ? b : 0), u) };
}

/** k / u of rows whose k and u sum up to these, within the range of what single rows have. */
export function steepness(covariance, variance, { k, u }) {
  const ratios = [...u.keys()].filter((i) => u[i] > 0).map((i) => k[i] / u[i]);
  const [low, high] = ratios.length > 0 ? [least(ratios), most(ratios)] : [0, 0];
  return zip((ratio) => Math.min(Math.max(ratio, low), high), quotient(covariance, variance));
}
