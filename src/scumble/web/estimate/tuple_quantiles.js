/**
 * Sums over counted tuples of weight times noisy count, and how far they reach (forms/tuples/linear.py).
 *
 * The noise of a tuple is two-sided geometric. As many as (sum of w^2)^2 / (sum of w^4) tuples of one weight have the same first four cumulants as
 * tuples of weights w; the quantile is theirs, in standard deviations.
 */

import { filled, zip } from "./arrays.js";
import { inverseOfEven } from "./fourier.js";
import { reach } from "./normal.js";

const MANY = 200;
/** The least rate that quantiles are worked out for. */
const FINEST = 1e-3;
/** What keeps a reach that is a whole number from falling short of it. */
const ROUNDED = 1 + 1e-12;

/** A sum of weight times count, for every row of an answer: value, variance, sums of squared weights and of their fourth powers, and how many tuples. */
export class LinearSum {
  constructor(value, variance, square, fourth, tuples) {
    Object.assign(this, { value, variance, square, fourth, tuples });
  }

  plus(other) {
    const parts = ["value", "variance", "square", "fourth", "tuples"].map((name) => zip((a, b) => a + b, this[name], other[name]));
    return new LinearSum(...parts);
  }

  /** The same with all weights multiplied, by one number for each row. */
  times(weight) {
    const by = (numbers, power) => zip((n, w) => n * w ** power, numbers, weight);
    const tuples = zip((n, w) => (w === 0 ? 0 : n), this.tuples, weight);
    return new LinearSum(by(this.value, 1), by(this.variance, 2), by(this.square, 2), by(this.fourth, 4), tuples);
  }

  /** The quantile for every row; of marginals that were put together a cell is worth several tuples, of tables of several rates. */
  quantiles({ rate, rates = [rate], worth = 1 }, level) {
    return this.value.map((_, i) => {
      const [square, fourth, tuples] = [this.square[i], this.fourth[i], this.tuples[i] * worth];
      const alike = fourth > 0 ? (worth * square ** 2) / fourth : 0;
      const number = Math.min(Math.max(alike, Math.min(tuples, 1)), tuples);
      const even = Math.abs(alike - tuples) <= 1e-6 * tuples && rates.length === 1;
      const whole = even ? Math.round(number) : Math.min(Math.floor(number), MANY);
      if (even) return quantile(rates[0], whole, level);
      return Math.max(...rates.flatMap((own) => [whole, whole + 1].map((count) => quantile(own, count, level, 0.5))));
    });
  }

  /** Half the width of the interval; none where counts are exact. */
  reach(noise, level) {
    if (!noise) return filled(this.value.length);
    return zip((q, v) => q * Math.sqrt(v) * ROUNDED, this.quantiles(noise, level), this.variance);
  }

  /** How far it reaches to the side to which counts at the floor may be larger than they stand for. */
  reachOfRaised(noise, level) {
    if (!noise) return filled(this.value.length);
    return this.quantiles(noise, level).map((q, i) => {
      const [square, fourth, variance] = [this.square[i], this.fourth[i], this.variance[i]];
      const raised = Math.max(square * noise.variance_above - variance, 0);
      const one = Math.min(raised, square > 0 ? ((fourth / square) * noise.variance_above) / 2 : 0);
      return (Math.sqrt(one) + q * Math.sqrt(variance + one)) * ROUNDED;
    });
  }
}

const known = new Map();

/** The q with Pr[|Z_1 + ... + Z_m| <= q sd] >= level, Z two-sided geometric with r = e^-rate; `beyond` is added to q sd, a whole number. */
function quantile(rate, count, level, beyond = 0) {
  const key = `${rate} ${count} ${level} ${beyond}`;
  if (!known.has(key)) known.set(key, computed(rate, count, level, beyond));
  return known.get(key);
}

function computed(rate, count, level, beyond) {
  const normal = reach(level);
  if (count === 0 || count >= MANY) return normal;
  const r = Math.exp(-Math.max(rate, FINEST));
  const deviation = Math.sqrt(count * 2 * r) / (1 - r);
  if (!deviation) return normal;
  const far = Math.trunc(40 * deviation + 60);
  const size = 1 << (2 * far).toString(2).length;
  const mass = inverseOfEven(
    Float64Array.from({ length: size / 2 + 1 }, (_, k) => {
      const cos = Math.cos((2 * Math.PI * k) / size);
      return ((1 - r) ** 2 / (1 - 2 * r * cos + r * r)) ** count;
    }),
  );
  let centred = mass[0];
  let place = 0;
  while (centred < level && place < size / 2 - 1) centred += 2 * mass[++place];
  return Math.max(normal, (place + beyond) / deviation);
}
