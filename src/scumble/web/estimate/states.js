/**
 * What a count or a sum over several perturbed columns was drawn from: rows by published cell, and what rows of each true cell become (query/states.py).
 *
 * A column that is grouped by has two cells for each row of the answer: its own value, and all others.
 */

import { along, kron, outer, product, quotient } from "./arrays.js";
import { Channel } from "./channel.js";
import { MANY } from "./few.js";
import { FEWER, Tables, Transition } from "./law.js";
import { Moments, Ratio } from "./moments.js";

const MOST_CELLS = 64;
const MOST_STEPS = 1 << 24;
const MOST_KINDS = 256;
const EVEN = 8;
const SEEN = 30;
const LEAST = 6;

/** Whether rows count 1 each and go from few cells to few cells, so that the law of an estimate is known. */
export function known(part) {
  const { question, cells } = part;
  const listed = question.grouped.map((axis) => part.channel(axis));
  const [states, behind] = [cells.rest, part.behind].map((shape) => product(shape) * 2 ** cells.lines.length);
  return (
    !question.exact &&
    !question.published.weighted &&
    Math.max(states, behind) <= MOST_CELLS &&
    states * behind * cells.groups * cells.width <= MOST_STEPS &&
    listed.every((channel) => channel.againstOthers) &&
    (alike(listed) || cells.width <= MOST_KINDS)
  );
}

/** The variance from which on the score interval serves: less where replacements follow the column. */
export function limit(part) {
  if (!part.question.published.whole) return MANY;
  const axes = [...part.question.grouped, ...part.question.others];
  return Math.max(LEAST, MANY * Math.min(...axes.map((axis) => part.channel(axis).retain)) ** 2);
}

/** What counts were drawn from. */
export function ofCount(part, ones, present, most = limit(part)) {
  const published = byState(part, ones);
  const one = Float64Array.from(published, () => 1);
  return new Tables(published, published, one, one, true, transitions(part, present), most);
}

/** What sums of a public number were drawn from, as rows that count c each. */
export function ofSum(part, place) {
  const { cells } = part;
  const [first, second, third] = ["s", "q", "c"].map((order) => cells.over(cells.numbers(`v${place}_${order}`)));
  const unit = quotient(third, second);
  const pull = quotient(
    unit.map((c, i) => c * first[i]),
    second,
  );
  const [squares, sums] = ["q", "s"].map((order) => byState(part, cells.numbers(`v${place}_${order}`)));
  const scale = unit.map((c) => (c !== 0 ? 1 / c : 0));
  return new Tables(
    squares.map((line, i) => line.map((n) => n * scale[i] ** 2)),
    sums.map((line, i) => line.map((n) => n * scale[i])),
    unit,
    pull,
    false,
    transitions(part, null),
    FEWER,
  );
}

/** The variances of an average of a public number if rows match whatever it is, and where few rows decide. */
export function ofAverage(part, place, ratio) {
  const numbers = (name) => part.cells.numbers(`v${place}_${name}`);
  const { ranges, matching, few } = matchingRows(part, place);
  const ones = part.over(numbers("n"));
  const variance = ratio.denominator.variance.map((v, i) => Math.max(v, 0) + ranges[i] ** 2 / 2);
  const error = quotient(variance, ones);
  const scaled = (name) => part.over(numbers(name)).map((n, i) => error[i] * n);
  const top = new Moments(ratio.numerator.value, scaled("q"));
  const bottom = new Moments(ratio.denominator.value, variance);
  return { ratio: new Ratio(top, bottom, scaled("s")), few: few.map((own, i) => own && matching[i] < SEEN) };
}

/** The published rows that carry a sum where few rows decide; elsewhere they are enough. */
export function carrying(part, place) {
  const numbers = (name) => part.cells.numbers(`v${place}_${name}`);
  const [first, second, ones] = ["s", "q", "n"].map((name) => part.over(numbers(name)));
  const { matching, few } = matchingRows(part, place);
  const share = quotient(
    first.map((s) => s * s),
    ones.map((n, i) => n * second[i]),
  );
  return few.map((own, i) => (own ? matching[i] * share[i] : Infinity));
}

/** For each row of the answer how much one row can change the count of those with a number, how many are published as matching, and whether few decide. */
function matchingRows(part, place) {
  const tables = ofCount(part, part.cells.numbers(`v${place}_n`), null, EVEN);
  const matching = tables.matching;
  return { ranges: tables.ranges, matching, few: tables.few(matching) };
}

/** Sums by cell, a line for each row of the answer: its own values of the grouped columns, and all others. */
function byState(part, sums) {
  let table = part.cells.dense(sums);
  part.question.grouped.forEach((axis, at) => {
    const place = at + 1;
    const channel = part.channel(axis);
    const size = axis.domain.size;
    // own values and the sum over all, side by side in the place of the axis; then the difference as a new last axis
    const own = along(table, place, (line) => channel.matches(line));
    const whole = along(table, place, (line) => new Float64Array(size).fill(line.reduce((a, b) => a + b, 0)));
    const data = new Float64Array(2 * own.data.length);
    own.data.forEach((n, i) => {
      data[2 * i] = n;
      data[2 * i + 1] = whole.data[i] - n;
    });
    table = { data, shape: [...own.shape, 2] };
  });
  const rows = part.cells.groups * part.cells.width;
  const width = table.data.length / Math.max(rows, 1);
  return Array.from({ length: rows }, (_, i) => table.data.subarray(i * width, (i + 1) * width));
}

/** Those that differ: by the values of the grouped columns, where replacement is not uniform. */
function transitions(part, present) {
  const condition = part.condition(present);
  if (!condition) return [];
  const { question, cells } = part;
  const { members, truth } = condition;
  const rest = question.others.map((axis) => part.collapsed.get(axis.name).matrix());
  const listed = question.grouped.map((axis) => part.channel(axis));
  const weights = part.restWeights(truth);
  const looks = part.looks(truth);
  const kinds = alike(listed) ? [members] : oneByOne(members);
  return kinds.map((some) => {
    const own = listed.map((channel, place) => between(channel, valueAt(some.indexOf(true), cells.lines, place)));
    const itself = own.map(() => Float64Array.of(1, 0));
    const transition = new Transition(
      kron([...rest, ...own.map((channel) => channel.matrix())]),
      outer([weights, ...own.map((channel, k) => channel.weights(itself[k]))]),
      outer([truth, ...itself]).map((n) => Number(n > 0)),
      outer([looks, ...itself]).map((n) => Number(n > 0)),
    );
    return { members: tiled(some, cells.groups), transition };
  });
}

function alike(listed) {
  return listed.every((channel) => channel.alike);
}

function oneByOne(members) {
  return members.flatMap((member, place) => (member ? [members.map((_, i) => i === place)] : []));
}

function tiled(members, groups) {
  return Array.from({ length: groups * members.length }, (_, i) => members[i % members.length]);
}

/** The value of one axis at a place of a table. */
function valueAt(place, shape, axis) {
  return Math.floor(place / product(shape.slice(axis + 1))) % shape[axis];
}

/** A channel of one retention, between one value and all others. */
function between(channel, value) {
  const { p, r } = channel.againstOthers;
  return new Channel(p, [r[value], 1 - r[value]]);
}

