/**
 * Questions about several columns that were perturbed as one: kept together, or replaced together (forms/rows/joint.py).
 *
 *     estimate = (h - (1 - p) r n) / p        se^2 = sum over rows of w^2 - w,     w = (hit - (1 - p) r) / p
 *
 * n rows satisfy what is asked of the public columns, h of them are published with what is asked of the perturbed ones, r is the share of the combinations
 * that have it.
 */

import { outer, product } from "./arrays.js";
import { Axis } from "./axis.js";
import { Refused } from "./cells.js";
import { reach } from "./normal.js";
import { scanned } from "./scan.js";

/** How such a question is answered at a level; nothing where it is an ordinary one. */
export function joint(asked, { published, table, together }) {
  const names = [
    ...asked.groups.filter(({ perturbed }) => perturbed).map(({ name }) => name),
    ...asked.conditions.keys(),
    ...asked.aggregates.flatMap(({ value }) => (value?.perturbed ? [value.column] : [])),
  ];
  const touched = together.filter((name) => names.includes(name));
  if (touched.length < 2) return null;
  if (asked.aggregates[0].kind !== "count")
    throw new Refused(`of columns perturbed as one (${touched.join(", ")}) together only counts are answered; average or add up with one of them at a time`);
  return (level) => answered(asked, published, table, level);
}

function answered(asked, published, table, level) {
  const [channels] = published.strata;
  const listed = asked.groups.filter(({ perturbed }) => perturbed);
  const inner = [...asked.conditions.keys()].filter((name) => !listed.some((group) => group.name === name));
  const axis = (name, byValue) => new Axis(published.domains.get(name), [channels.get(name)], asked.conditions.get(name), { byValue });
  const question = {
    published: { ...published, stratum: null, sample: null },
    publics: asked.groups.filter(({ perturbed }) => !perturbed).map(({ name }) => name),
    grouped: listed.map(({ name }) => axis(name, true)),
    others: inner.map((name) => axis(name, false)),
    filters: asked.filters,
    values: [],
    aggregates: [],
    exact: false,
  };
  const { groups, cells } = scanned(question, table);
  const counts = cells.numbers("n");
  const lines = product(cells.lines);
  const truth = outer(question.others.map((own) => own.truth));
  const hits = cells.gather(truth, counts).data;
  const rows = cells.over(counts);
  const members = outer(question.grouped.map((own) => own.truth));
  const share = rest(question) / lines;
  const p = [...channels.values()][0].retain;
  if (p === 0) throw new Refused("the retention is 0, so nothing of the perturbed columns was published");
  const asShown = Array.from({ length: cells.groups * lines }, (_, i) => i).filter((i) => members[i % lines]);
  const [hit, miss] = [(1 - (1 - p) * share) / p, (-(1 - p) * share) / p];
  const value = Float64Array.from(asShown, (i) => hits[i] * hit + (rows[i] - hits[i]) * miss);
  const se = Float64Array.from(asShown, (i) =>
    Math.sqrt(Math.max(0, hits[i] * (hit ** 2 - hit) + (rows[i] - hits[i]) * (miss ** 2 - miss))),
  );
  const far = reach(level);
  const estimate = {
    name: asked.aggregates[0].name,
    value,
    se,
    low: value.map((v, i) => v - far * se[i]),
    high: value.map((v, i) => v + far * se[i]),
    method: "unbiased",
  };
  return {
    groups: columnsOf(asked, question, table, { groups, lines, shape: cells.lines, asShown }),
    estimates: [estimate],
    level,
    notes: () => [],
    at: (other) => answered(asked, published, table, other),
    limits: () => new Map([[estimate.name, { least: value.map(() => 0), most: value.map((_, i) => rows[asShown[i]]) }]]),
  };
}

/** The share of combinations of the columns that are not grouped that meet the conditions. */
function rest(question) {
  return question.others.reduce((whole, axis) => {
    const sizes = axis.sizes;
    return (whole * axis.truth.reduce((sum, own, cell) => sum + own * sizes[cell], 0)) / axis.domain.size;
  }, 1);
}

function columnsOf(asked, question, table, { groups, lines, shape, asShown }) {
  const sizes = question.publics.map((name) => table.codes(name).values.length);
  return asked.groups.map(({ name, perturbed }) => {
    const place = perturbed ? question.grouped.findIndex((axis) => axis.name === name) : question.publics.indexOf(name);
    const within = perturbed ? shape : sizes;
    const inner = within.slice(place + 1).reduce((a, b) => a * b, 1);
    const code = (line) => (perturbed ? line % lines : groups.numbers[Math.floor(line / lines)]);
    return { name, codes: asShown.map((line) => Math.floor(code(line) / inner) % within[place]) };
  });
}
