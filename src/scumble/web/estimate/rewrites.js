/**
 * Questions in the values of the table, put in those that were published: what was coarsened, put together, or rounded to a grid
 * (query/coarse.py, query/merged.py, query/middle.py, query/rounding.py). Conditions are offered on published values only, so that none falls inside of a step.
 */

import { FALSE, TRUE } from "./axis.js";
import { nanMax, nanMin } from "./intervals.js";

const ROWS = "rows of a sum";

/**
 * A question after all rules.
 *
 * asked      in published values, with helpers behind its own aggregate
 * notes      what to know of its answer
 * undo       takes the helpers out again, and widens intervals by what they say
 * variants   the question as values may make it that are not known
 */
export function rewritten(question, columns) {
  const notes = [...coarsened(question, columns), ...merged(question, columns), ...rounded(question, columns)];
  const { own, ends } = middles(question, columns);
  const reach = question.value ? (columns.get(question.value).reach ?? 0) : 0;
  const rows = reach > 0 && question.kind === "sum" ? [{ name: ROWS, kind: "count", value: null }] : [];
  const asked = { ...question, aggregates: [own, ...ends, ...rows] };
  const undo = (estimates) => [stretched(widened(estimates[0], estimates.slice(1, 1 + ends.length)), reach, estimates[1 + ends.length])];
  return { asked, notes, undo, variants: variants(asked, columns) };
}

/** What to know of coarsened columns that are asked about, each thing once: conditions first, then what is added up, then groups. */
function coarsened({ kind, value, groups, ranges }, columns) {
  const said = new Map();
  for (const { column } of ranges) if (columns.get(column).steps) said.set(column, columns.get(column).steps);
  if (value && columns.get(value).coarse) said.set(value, columns.get(value).coarse[kind]);
  for (const { name } of groups) if (columns.get(name).steps && !said.has(name)) said.set(name, columns.get(name).steps);
  return [...said.values()];
}

/** What a sum or an average of numbers that were put together is of. */
function merged({ kind, value }, columns) {
  const said = value && columns.get(value).merged_sums;
  return said ? [said[kind]] : [];
}

/** What to know of columns that were rounded to a grid. */
function rounded({ kind, value, groups, ranges, written }, columns) {
  return [...columns.values()].flatMap((column) => {
    if (!column.reach) return [];
    const { name } = column;
    const compared = ranges.filter((range) => range.column === name).map((range) => range.written);
    const parts = compared.length ? [`${[...new Set(compared)].join(", ")} may fall between two, so the interval takes both`] : [];
    if (value === name) parts.push(`the interval of ${kind.toUpperCase()}(${written(name)}) covers every place around a point`);
    if (groups.some((group) => group.name === name)) parts.push("a group has the values around its point");
    if (parts.length === 0) return [];
    return [`${name} was rounded, by up to ${column.reach_text} either way: ${parts.join("; ")} (± se does not count that)`];
  });
}

/** The aggregate in the middles of steps, and the two at their ends; itself alone where its column has no steps. */
function middles({ name, kind, value }, columns) {
  if (!value) return { own: { name, kind, value: null }, ends: [] };
  const { spread, role } = columns.get(value);
  const at = (part) => ({ column: value, perturbed: role === "sensitive", shift: spread ? above(spread, part) : null });
  if (!spread) return { own: { name, kind, value: at(0) }, ends: [] };
  const ends = [0, 1].map((part) => ({ name: `${name} at ${part}`, kind, value: at(part) }));
  return { own: { name, kind, value: at(0.5) }, ends };
}

/** How far above a published number that part of the way lies which values are away from it at most. */
function above({ reach, further }, part) {
  const more = new Map(further);
  return (x) => (reach + (more.get(x) ?? 0)) * part;
}

/** An estimate whose interval holds those at both ends. */
function widened(middle, ends) {
  if (ends.length === 0) return middle;
  const over = (name, far) => middle[name].map((_, i) => far(...ends.map((end) => end[name][i])));
  const known = (name) => ends.every((end) => end[name]);
  return {
    ...middle,
    low: over("low", Math.min),
    high: over("high", Math.max),
    method: middle.method === "exact" ? "steps" : middle.method,
    bound: known("bound") ? ends[0].bound.map((_, i) => Math.max(...ends.map((end) => end.bound[i]))) : null,
    least: known("least") ? ends[0].least.map((_, i) => Math.min(...ends.map((end) => end.least[i]))) : null,
  };
}

/** An estimate whose interval reaches as far as rounding may have moved numbers; of a sum so far for each of its rows. */
function stretched(estimate, reach, rows) {
  if (!(reach > 0)) return estimate;
  const by = estimate.value.map((_, i) => reach * (rows ? Math.max(rows.high[i], 0) : 1));
  return {
    ...estimate,
    low: estimate.low.map((end, i) => end - by[i]),
    high: estimate.high.map((end, i) => end + by[i]),
    method: estimate.method === "exact" ? "steps" : estimate.method,
  };
}

/** The question with conditions that surely hold, and with those that may; none where no rounded column is compared. */
function variants(asked, columns) {
  const moved = asked.ranges.filter(({ column }) => columns.get(column).reach > 0);
  if (moved.length === 0) return [];
  return [false, true].map((may) => {
    const conditions = new Map(asked.conditions);
    for (const range of moved.filter(({ column }) => conditions.has(column)))
      conditions.set(range.column, loosened(range, columns.get(range.column), may));
    const filters = asked.filters.map((filter) => filter.loosened(columns.get(filter.column).reach ?? 0, may));
    return { ...asked, conditions, filters };
  });
}

/**
 * Which points of a grid meet a range wherever values lie around them, or somewhere; and the comparisons that this is put together from, by which points
 * are told apart: that of each end of what a point stands for, where all have to hold.
 */
function loosened({ low, high }, { reach, domain }, may) {
  const ends = [-reach, reach].map((by) => domain.numbers.map((g) => g + by));
  const tests = [...(low === null ? [] : [(x) => x >= low]), ...(high === null ? [] : [(x) => x <= high])];
  const compared = tests.map((test) => ends.map((points) => Int8Array.from(points, (x) => (test(x) ? TRUE : FALSE))));
  const features = may ? compared.map(([a, b]) => a.map((own, i) => own | b[i])) : compared.flat();
  return { states: features.reduce((held, own) => held.map((state, i) => state & own[i])), features };
}

/** An estimate whose interval holds those of variants too, line by line; a line that another has not is 0 there. */
export function hull(own, others, places) {
  if (others.length === 0) return own;
  const far = (name, pick) =>
    own[name].map((end, i) => others.reduce((held, other, k) => pick(held, places[k][i] < 0 ? 0 : other[name][places[k][i]]), end));
  return { ...own, low: far("low", nanMin), high: far("high", nanMax), method: own.method === "exact" ? "steps" : own.method };
}
