/** What sampling adds to the variance of an answer, where a group's sample keeps the group's frequencies (query/sampled.py). */

import { least, most, quotient, total, zip } from "./arrays.js";

/** The public bound for each sampled row, of a function g of the cells of the first column that is not grouped. */
export function publicShare(question, g) {
  const { sizes } = question.others[0];
  const sum = (at) => g.reduce((whole, own, cell) => whole + sizes[cell] * (own - at) ** 2, 0);
  const mean = g.reduce((whole, own, cell) => whole + sizes[cell] * own, 0) / total(sizes);
  return Math.min(sum(least(g)), sum(most(g)), 2 * sum(mean)) / 4 / sampleOf(question);
}

/** The rows that a sampled group has at least. */
export function sampleOf(question) {
  return question.published.sample || 1;
}

/** The smaller bound as a share of squares, the sum of W^2 over sampled rows. */
export function smaller(bound, estimated, squares) {
  return zip((ratio) => Math.min(bound, ratio), quotient(estimated.map((n) => Math.max(n, 0)), squares));
}

/** What sampling adds to V_N, C and V_D of an average, each bound given as such three: the one that is smaller at this ratio. */
export function ofAverage(bound, estimated, ratio) {
  const out = bound.map((numbers) => new Float64Array(numbers.length));
  ratio.forEach((r, i) => {
    const [first, second] = [bound, estimated].map((three) => three[0][i] - 2 * r * three[1][i] + r * r * three[2][i]);
    for (let k = 0; k < 3; k++) out[k][i] = first < second ? bound[k][i] : second > 0 ? estimated[k][i] : 0;
  });
  return out;
}
