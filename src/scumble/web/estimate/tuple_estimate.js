/**
 * Estimates of COUNT, SUM and AVG over counted tuples, each with its interval and its bounds (forms/tuples/estimate.py).
 *
 * Noisy counts: the interval is for the rows behind published tuples. Exact counts: the sum over published tuples is known, and the interval is what
 * suppressed rows may add to it, with certainty.
 */

import { filled, zip } from "./arrays.js";
import { nanMax, nanMin, ofAverage } from "./intervals.js";
import { boundsOfAverage, boundsOfSum } from "./tuple_bounds.js";

/** known: { noise, all, every, level }; span: what values can be in suppressed rows, where that is public. */
export function estimated({ name, kind }, sums, span, known) {
  const average = kind === "avg";
  let result = average ? averaged(name, sums, known) : summed(name, sums, known);
  const bounds = boundsFor(average, sums, span, known);
  if (!known.noise) {
    const [low, high] = known.every ? [result.value, result.value] : (bounds ?? open(average, result.value, span));
    const se = known.every ? result.se : result.se.map(() => NaN);
    result = { ...result, se, low, high, method: "published" };
  }
  if (!bounds) return result;
  if (kind === "count") return { ...result, bound: zip(nanMax, bounds[1], result.low) }; // suppressed rows cannot make it smaller
  return { ...result, bound: zip(nanMax, bounds[1], result.high), least: zip(nanMin, bounds[0], result.low) };
}

function boundsFor(average, sums, span, { all, noise, level }) {
  if (!all || !span) return null;
  return (average ? boundsOfAverage : boundsOfSum)(sums, all, span, noise, level);
}

/** The ends where any number of rows may have been suppressed. */
function open(average, value, span) {
  const each = (number) => filled(value.length, number);
  if (!span) return [each(-Infinity), each(Infinity)];
  if (average) return [each(span[0]), each(span[1])];
  return [span[0] >= 0 ? value : each(-Infinity), span[1] <= 0 ? value : each(Infinity)];
}

function summed(name, sums, { noise, level }) {
  const form = sums.total;
  const far = form.reach(noise, level);
  const raised = form.reachOfRaised(noise, level);
  const low = form.value.map((v, i) => v - (sums.least[i] >= 0 ? far[i] : raised[i]));
  const high = form.value.map((v, i) => v + (sums.most[i] <= 0 ? far[i] : raised[i]));
  if (noise)
    for (let i = 0; i < low.length; i++) {
      const certain = noise.floor * sums.weight[i];
      if (sums.least[i] >= 0) {
        low[i] = Math.max(low[i], certain);
        high[i] = Math.max(low[i], high[i]);
      }
      if (sums.most[i] <= 0) {
        high[i] = Math.min(high[i], certain);
        low[i] = Math.min(low[i], high[i]);
      }
    }
  return { name, value: form.value, se: zip(Math.sqrt, form.variance), low, high, method: "unbiased" };
}

function averaged(name, sums, { noise, level }) {
  const { numerator, denominator } = sums.ratio;
  const rate = zip((a, b) => sums.middle + (b !== 0 ? a / b : 0), numerator.value, denominator.value);
  const z = noise ? sums.less(rate).quantiles(noise, level) : 0;
  const e = ofAverage(name, sums.ratio, false, z);
  const within = (numbers) => numbers.map((x, i) => clip(sums.middle + x, sums.least[i], sums.most[i]));
  const value = within(e.value);
  return { name, value, se: e.se.map((se, i) => (Number.isNaN(value[i]) ? NaN : se)), low: within(e.low), high: within(e.high), method: "unbiased" };
}

function clip(x, low, high) {
  return [x, low, high].some(Number.isNaN) ? NaN : Math.min(Math.max(x, low), high);
}
