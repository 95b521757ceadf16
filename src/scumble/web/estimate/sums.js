/**
 * Sums of perturbed columns (query/sums.py).
 *
 * With one retention p, replacement moments m_c = sum over cell c of r x, and G the weights over the other axes, the weight of a published number y is
 *
 *     W = a + b y,   a = -(1 - p) / p * sum_c m_c G_c,   b = G_{c(y)} / p           (with x^2 for the weights of the square)
 *
 * Where each value is a cell, x is a function of the cell, and W is found as for a count.
 */

import { along, product, quotient, zip } from "./arrays.js";
import { Indistinguishable } from "./channel.js";
import { covariances, Ratio, steepness } from "./moments.js";
import { ofAverage, publicShare, sampleOf, smaller } from "./sampled.js";

/** Numbers of a domain, 0 where a value is missing. */
function numbersOf(domain) {
  return domain.numbers.map((x) => (Number.isNaN(x) ? 0 : x));
}

/** The sum of a column that is grouped by: each row of the answer has one number. */
export function groupedSum(part, column) {
  const place = part.question.grouped.findIndex((axis) => axis.name === column);
  const { lines } = part.cells;
  const inner = product(lines.slice(place + 1));
  const numbers = numbersOf(part.question.grouped[place].domain);
  const x = part.blank().map((_, i) => numbers[Math.floor(i / inner) % lines[place]]);
  const count = part.count(null, column);
  return new Ratio(count.times(x), count, zip((v, own) => v * own, count.variance, x));
}

/** The sum of another perturbed column, whose sums stand at a place. */
export function perturbedSum(part, column, place, average) {
  const at = part.question.others.findIndex((axis) => axis.name === column);
  const axis = part.question.others[at];
  if (axis.count === axis.domain.size) return valuedSum(part, column, at, average);
  const channel = part.channel(axis);
  const { cells } = part;
  const [ones, first, square] = [cells.numbers("n"), cells.numbers(`v${place}_s`), cells.numbers(`v${place}_q`)];
  const line = (...parts) => gathered(cells, parts);
  const weights = (truth, power) => polynomial(part, part.restWeights(truth, at), axis, channel, at, power);
  const top = (truth) => {
    const [one, two] = [weights(truth, 1), weights(truth, 2)];
    const mixed = zip((a, b) => 2 * a * b, one.a, one.b);
    return [
      line([one.a, ones], [one.b, first]),
      line([squared(one.a), ones], [mixed, first], [squared(one.b), square]),
      line([two.a, ones], [two.b, square]),
    ];
  };
  const cross = (truth) => {
    const { a, b } = weights(truth, 1);
    const w = part.restWeights(truth);
    const both = (x) => zip((own, other) => own * other, x, w);
    return [line([a, ones], [b, first]), line([both(a), ones], [both(b), first]), line([a, ones], [b, first])];
  };
  let total = part.momentsOfTruth(top, column);
  if (!average && cells.rest.length === 1 && cells.shape.length === 0)
    total = total.leaning(part.blank().fill(numberSteepness(part, axis, channel, column)));
  return new Ratio(total, part.drawnCount(null, column), part.momentsOfTruth(cross, column).variance);
}

const squared = (numbers) => zip((x) => x * x, numbers);

/** Several sums, each times its weight by cell, together. */
function gathered(cells, parts) {
  const tables = parts.map(([weights, sums]) => cells.gather(weights, sums));
  return { data: tables.map((table) => table.data).reduce((a, b) => zip((x, y) => x + y, a, b)), shape: tables[0].shape };
}

/** k / u of the values that coins draw. */
function numberSteepness(part, axis, channel, column) {
  const condition = part.condition(column);
  const truth = condition ? condition.truth : new Float64Array(axis.count);
  const h = numbersOf(axis.domain).map((x, value) => x * truth[axis.cells[value]]);
  const own = covariances(
    h,
    (f) => channel.weights(f),
    (g) => channel.expect(g),
  );
  const mean = (numbers) => Float64Array.of(numbers.reduce((sum, n, i) => sum + channel.replace[i] * n, 0));
  return steepness(mean(own.k), mean(own.u), own)[0];
}

/** a and b of W = a + b y^power for the sum of x^power times a condition whose weights over the other axes are g. */
function polynomial(part, g, axis, channel, place, power) {
  const p = channel.retain;
  if (p === 0) throw new Indistinguishable(channel.zero);
  const moments = new Float64Array(axis.count);
  numbersOf(axis.domain).forEach((x, value) => (moments[axis.cells[value]] += channel.replace[value] * x ** power));
  const a = along({ data: g, shape: part.behind }, place, (line) => {
    let drawn = 0;
    for (let cell = 0; cell < line.length; cell++) drawn += moments[cell] * line[cell];
    return new Float64Array(line.length).fill((-(1 - p) / p) * drawn);
  });
  return { a: a.data, b: g.map((weight) => weight / p) };
}

/** Each value is a cell, so that the summed number is a function of the cell. */
function valuedSum(part, column, place, average) {
  const { cells } = part;
  const x = overAxis(part, place, numbersOf(part.question.others[place].domain));
  const [first, second, third] = [1, 2, 3].map((order) => cells.numbers("n", order));
  const moments = (f, g) => {
    const [w, v] = [part.restWeights(f), part.restWeights(g)];
    const both = part.restWeights(zip((a, b) => a * b, f, g));
    return [cells.gather(w, first), cells.gather(zip((a, b) => a * b, w, v), second), cells.gather(both, second)];
  };
  const summed = (f) => zip((own, number) => own * number, f, x);
  let top = part.momentsOfTruth((f) => moments(summed(f), summed(f)), column);
  if (!average) top = part.leaning(top, second, third, column, x);
  const cross = part.momentsOfTruth((f) => moments(summed(f), f), column).variance;
  if (!cells.sampled) return new Ratio(top, part.drawnCount(null, column), cross);
  const bottom = part.momentsOfTruth((f) => moments(f, f), column);
  const added = samplingOfValues(part, x, column, average, quotient(top.value, bottom.value));
  return new Ratio(top.widened(added[0]), bottom.widened(added[2]), zip((a, b) => a + b, cross, added[1]));
}

/** A number for each cell of one axis, over the table of all cells. */
function overAxis(part, place, numbers) {
  const inner = product(part.behind.slice(place + 1));
  return Float64Array.from({ length: part.states }, (_, i) => numbers[Math.floor(i / inner) % part.behind[place]]);
}

/** What sampling adds to the variance of a sum of the perturbed column, its covariance with the count, and that of the count. */
function samplingOfValues(part, x, column, average, ratio) {
  const { cells, question } = part;
  const condition = part.condition(column);
  const truth = condition ? condition.truth : new Float64Array(part.states);
  const second = zip((n, own) => n * own, cells.numbers("n", 2), cells.sampled);
  const squares = part.over(second);
  const powers = [2, 1, 0].map((power) => zip((own, number) => own * number ** power, truth, x));
  const estimated = powers.map((f) => cells.gather(part.restWeights(f), second).data);
  if (!average) {
    const added = smaller(publicShare(question, powers[1]), estimated[0], squares).map((share, i) => share * squares[i]);
    return [added, added, added];
  }
  const halves = [2, 1, 0].map((power) => truth.reduce((sum, own, i) => sum + own * x[i] ** power, 0) / 2 / sampleOf(question));
  return ofAverage(
    halves.map((half) => squares.map((n) => half * n)),
    estimated,
    ratio,
  );
}
