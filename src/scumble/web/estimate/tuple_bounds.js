/** What rows that were suppressed may add to an answer, where it is public how many rows there are and what values they can have (forms/tuples/suppressed.py). */

import { filled, zip } from "./arrays.js";
import { nanMax, nanMin, ofAverage } from "./intervals.js";
import { Moments, Ratio } from "./moments.js";
import { LinearSum } from "./tuple_quantiles.js";

/** The published tuples that do not count in an answer. */
function beside(all, sums) {
  const { count } = sums;
  const tuples = count.tuples.map((n) => all.tuples - n);
  const variance = count.variance.map((v) => Math.max(all.variance - v, 0));
  return new LinearSum(
    count.value.map((n) => all.value - n),
    variance,
    tuples,
    tuples,
    tuples,
  );
}

/** The least and the most that a sum, or a count, can be with all rows. */
export function boundsOfSum(sums, all, span, noise, level) {
  const size = sums.weight.length;
  return [
    [Math.min(span[0], 0), 1],
    [Math.max(span[1], 0), -1],
  ].map(([end, sign]) => {
    const form = sums.less(filled(size, end)).plus(beside(all, sums).times(filled(size, -end)));
    const far = form.reach(noise, level);
    return form.value.map((value, i) => {
      const outer = value - sign * far[i];
      const known = (noise ? noise.floor : 0) * (sums.weight[i] - end * all.tuples);
      return all.rows * end + (noise ? sign * Math.max(sign * outer, sign * known) : outer);
    });
  });
}

/** The least and the most that an average can be with all rows: within what values can be, whatever the noise. */
export function boundsOfAverage(sums, all, span, noise, level) {
  const [low, high] = span.map((end) => averageAt(sums, all, end, noise, level));
  // where counts are exact, nothing may match at all
  const [most, least] = noise ? [nanMax, nanMin] : [strictMax, strictMin];
  return [low.low.map((end) => most(end, span[0])), high.high.map((end) => least(end, span[1]))];
}

const strictMax = (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? NaN : Math.max(a, b));
const strictMin = (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? NaN : Math.min(a, b));

/** The interval of the average where all suppressed rows match and have one value. */
function averageAt(sums, all, end, noise, level) {
  const size = sums.weight.length;
  const [matching, other] = [sums.less(filled(size, end)), beside(all, sums)];
  const beyond = end - sums.middle;
  const bottom = new Moments(
    other.value.map((n) => all.rows - n),
    other.variance,
  );
  const top = new Moments(
    zip((n, m) => beyond * n + m, bottom.value, matching.value),
    zip((v, w) => v + beyond ** 2 * w, matching.variance, other.variance),
  );
  const rate = zip((a, b) => (b > 0 ? a / b : beyond), top.value, bottom.value);
  const z = noise ? matching.plus(other.times(rate.map((r) => r - beyond))).quantiles(noise, level) : 0;
  const covariance = other.variance.map((v) => beyond * v);
  const { low, high } = ofAverage("", new Ratio(top, bottom, covariance), false, z);
  return { low: low.map((x) => sums.middle + x), high: high.map((x) => sums.middle + x) };
}
