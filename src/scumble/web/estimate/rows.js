/** Questions to published rows, of which some columns were perturbed (query/compile.py, query/answer.py). */

import { zip } from "./arrays.js";
import { Axis } from "./axis.js";
import * as intervals from "./intervals.js";
import { reach } from "./normal.js";
import { limitsOf } from "./possible.js";
import { Whole } from "./reconstruct.js";
import { scanned } from "./scan.js";

const FEW = 10;
const ROUNDING = 1e-6; // rows that a count of them may be off by the arithmetic

/**
 * A question against the columns of a release.
 *
 * asked   { groups: [{ name, perturbed }], conditions: Map of perturbed columns to truth values, filters, aggregates: [{ name, kind, value }] }
 */
export class Question {
  constructor(asked, published) {
    Object.assign(this, { asked, published, aggregates: asked.aggregates, filters: asked.filters });
    const names = asked.groups.filter((group) => group.perturbed).map((group) => group.name);
    const summed = asked.aggregates.filter(({ value }) => value && value.perturbed).map(({ value }) => value.column);
    const inner = [...new Set([...asked.conditions.keys(), ...summed])].filter((name) => !names.includes(name));
    this.publics = asked.groups.filter((group) => !group.perturbed).map((group) => group.name);
    const channels = (name) => published.strata.map((stratum) => stratum.get(name));
    const axis = (name, byValue) =>
      new Axis(published.domains.get(name), channels(name), asked.conditions.get(name), { byValue, apart: summed.includes(name) });
    const constant = (name) => channels(name).every((channel) => channel.constant);
    this.grouped = names.map((name) => axis(name, true));
    this.others = inner.map((name) => axis(name, summed.includes(name) && (published.weighted || !constant(name))));
    this.exact = this.grouped.length === 0 && this.others.length === 0;
    this.values = [...new Set(asked.aggregates.map(({ value }) => value))].filter(
      (value) => value && !(value.perturbed && names.includes(value.column)),
    );
    for (const value of this.values)
      value.cubed =
        !this.exact && !value.perturbed && asked.aggregates.some((own) => own.value === value && own.kind === "sum");
  }

  place(value) {
    return this.values.indexOf(value);
  }
}

/** The answer of published rows at a level: { groups, estimates, level, notes(shown), at(level), limits() }. */
export function answerRows(asked, published, table, level) {
  const question = new Question(asked, published);
  const { groups, cells } = scanned(question, table);
  return answered(question, { groups, table, whole: new Whole(question, cells) }, level);
}

function answered(question, scan, level) {
  const { whole } = scan;
  if (whole.cells.groups === 0) return nobody(question, level);
  const estimates = question.aggregates.map((aggregate) => HOW[aggregate.kind](aggregate, question, whole, level));
  const possible = question.asked.groups.length > 0 ? possibleLines(whole) : estimates[0].value.map((_, i) => i);
  const lines = Array.from(possible);
  const kept = estimates.map((estimate) => taken(estimate, lines));
  return {
    groups: groupColumns(question, scan, lines),
    estimates: kept,
    level,
    notes: (shown) => notesOf(question, whole, shown.map((line) => lines[line]), kept.map((e) => taken(e, shown))),
    at: (other) => answered(question, scan, other),
    limits: () => limitsOf(question, whole, lines),
  };
}

/** GROUP BY over no rows: an answer without lines. */
function nobody(question, level) {
  const none = new Float64Array(0);
  const method = question.exact ? "exact" : "unbiased";
  const estimates = question.aggregates.map(({ name }) => ({ name, value: none, se: none, low: none, high: none, method }));
  const groups = question.asked.groups.map(({ name }) => ({ name, codes: [] }));
  return { groups, estimates, level, notes: () => [], at: (other) => nobody(question, other), limits: () => new Map() };
}

/** Some lines of an estimate, in that order. */
export function taken(estimate, lines) {
  const pick = (numbers) => (numbers ? Float64Array.from(lines, (line) => numbers[line]) : numbers);
  const { value, se, low, high, bound, least } = estimate;
  return { ...estimate, value: pick(value), se: pick(se), low: pick(low), high: pick(high), bound: pick(bound), least: pick(least) };
}

const HOW = {
  count(aggregate, question, whole, level) {
    const { weighted } = question.published;
    const count = whole.count();
    if (question.exact && weighted) count.value = count.value.map(Math.round); // people are whole, sums of weights nearly so
    return intervals.ofSum(aggregate.name, count, question.exact, level, { alike: !weighted, draws: whole.draws() });
  },
  sum(aggregate, question, whole, level) {
    const ratio = whole.sum(aggregate);
    const draws = whole.drawsOfSum(aggregate);
    return ofNobody(intervals.ofSum(aggregate.name, ratio.numerator, question.exact, level, { draws }), ratio.denominator);
  },
  avg(aggregate, question, whole, level) {
    const ratio = whole.sum(aggregate);
    return intervals.ofAverage(aggregate.name, ratio, question.exact, reach(level), whole.even(aggregate, ratio));
  },
};

/** The sum over no rows is missing, where that is known for certain. */
function ofNobody(estimate, count) {
  const missing = count.value.map((n, i) => Number(n === 0 && (estimate.method === "exact" || count.variance[i] === 0)));
  const blanked = (numbers) => zip((n, gone) => (gone ? NaN : n + 0), numbers, missing);
  const { value, se, low, high } = estimate;
  return { ...estimate, value: blanked(value), se: blanked(se), low: blanked(low), high: blanked(high) };
}

/** The lines that the conditions leave possible: a group by the values that they exclude is no part of the answer. */
function possibleLines(whole) {
  const condition = whole.parts[0].condition();
  const { groups, width } = whole.cells;
  const lines = [];
  for (let i = 0; i < groups * width; i++) if (condition && condition.members[i % width]) lines.push(i);
  return lines;
}

/** For each group column the codes of its values, line by line. */
function groupColumns(question, { groups, table, whole }, lines) {
  const { width, lines: shape } = whole.cells;
  const sizes = question.publics.map((name) => table.codes(name).values.length);
  return question.asked.groups.map(({ name, perturbed }) => {
    const place = perturbed ? question.grouped.findIndex((axis) => axis.name === name) : question.publics.indexOf(name);
    const within = perturbed ? shape : sizes;
    const inner = within.slice(place + 1).reduce((a, b) => a * b, 1);
    const code = (line) => (perturbed ? line % width : groups.numbers[Math.floor(line / width)]);
    return { name, codes: lines.map((line) => Math.floor(code(line) / inner) % within[place]) };
  });
}

/** What to know of the lines that are shown, with their estimates. */
function notesOf(question, whole, places, estimates) {
  if (question.exact || (question.aggregates.every(({ kind }) => kind === "count") && whole.drawn)) return [];
  const carrying = question.aggregates.map((aggregate) => (aggregate.kind === "count" ? null : whole.carrying(aggregate)));
  const matching = whole.matching();
  let [few, carried] = [0, false];
  places.forEach((place, i) => {
    const uncertain = estimates.some((e) => e.se[i] !== 0 && !Number.isNaN(e.value[i]));
    const fewest = Math.min(matching[place], ...carrying.filter(Boolean).map((rows) => rows[place]));
    if (!uncertain || !(fewest < FEW - ROUNDING)) return;
    few++;
    carried ||= matching[place] >= FEW - ROUNDING;
  });
  if (few === 0) return [];
  const where = places.length > 1 ? `in ${few} of ${places.length} rows` : "here";
  const most = carried ? " or carry most of a sum" : "";
  return [`fewer than ${FEW} published rows match${most} ${where}; read the interval as a rough one`];
}
