/**
 * A question as it is clicked: what is counted or averaged, by what, of which rows.
 *
 *     { measure: "count" | "sum" | "avg", of: column, by: [columns], where: [{ column, labels } or { column, low, high }],
 *       order: "group" | "most" | "fewest", top: number or null, level }
 */

import { FALSE, TRUE, UNKNOWN } from "../estimate/axis.js";
import { Refused } from "../estimate/cells.js";
import { Filter } from "../read/filter.js";
import { kindOf } from "../read/kinds.js";

export const LEVELS = [0.8, 0.9, 0.95, 0.99];

export function firstQuestion() {
  return { measure: "count", of: null, by: [], where: [], order: "group", top: null, level: 0.95 };
}

/** The columns that a question names. */
export function named(question) {
  return [...new Set([...(question.of ? [question.of] : []), ...question.by, ...question.where.map(({ column }) => column)])];
}

/** The name of the aggregate in the answer: one that no column has, nor ends as what stands beside it. */
export function aliasOf(question, columns) {
  const plain = { count: "n", sum: "total", avg: "average" }[question.measure];
  const taken = new Set([...columns.keys()].map((name) => name.toLowerCase()));
  const beside = ["", "_se", "_low", "_high", "_bound", "_least"];
  let alias = plain;
  for (let i = 2; beside.some((end) => taken.has(alias + end)); i++) alias = `${plain}_${i}`;
  return alias;
}

/** The question as the estimator takes it; the columns that it names have been read. */
export function compiled(question, release) {
  const conditions = new Map();
  const filters = [];
  const ranges = [];
  for (const part of question.where) {
    const column = release.columns.get(part.column);
    if (!column) throw new Refused(`there is no column ${part.column}`);
    const { low = null, high = null } = part;
    ranges.push({ column: part.column, low, high, written: condition(part, release) });
    if (column.role === "sensitive") conditions.set(part.column, truths(part, column.domain));
    else filters.push(new Filter({ ...part, low: number(low), high: number(high) }));
  }
  return {
    name: aliasOf(question, release.columns),
    kind: question.measure,
    value: question.measure === "count" ? null : question.of,
    groups: question.by.map((name) => ({ name, perturbed: release.columns.get(name).role === "sensitive" })),
    conditions,
    filters,
    ranges,
    order: question.order,
    limit: question.top,
    level: question.level,
    written: (name) => release.columns.get(name).sql,
  };
}

/** The end of a range; a day as how many days it is after the first of 1970. */
function number(end) {
  return typeof end === "string" ? Date.parse(end) / 86_400_000 : end;
}

function truths(part, domain) {
  const own = states(part, domain);
  return { states: own, features: [own] };
}

/** Truth values of a condition for the values of a domain; of a missing one it is not known, unless it is asked for. */
function states(part, domain) {
  if (part.labels) {
    const wanted = new Set(part.labels);
    return Int8Array.from({ length: domain.size }, (_, code) => {
      const label = domain.label(code);
      return wanted.has(label) ? TRUE : label === null && !wanted.has(null) ? UNKNOWN : FALSE;
    });
  }
  const { low = null, high = null } = part;
  return Int8Array.from(domain.numbers, (x) => {
    if (Number.isNaN(x)) return UNKNOWN;
    return (low === null || x >= low) && (high === null || x <= high) ? TRUE : FALSE;
  });
}

/** A condition in SQL. */
export function condition(part, release) {
  const column = release.columns.get(part.column);
  if (!part.labels) return between(column.sql, part);
  const literals = part.labels.filter((label) => label !== null).map((label) => literalOf(label, column));
  const listed = literals.length ? [`${column.sql} IN (${literals.join(", ")})`] : [];
  if (part.labels.includes(null)) listed.push(`${column.sql} IS NULL`);
  return listed.length > 1 ? `(${listed.join(" OR ")})` : listed[0];
}

function between(sql, { low = null, high = null }) {
  const end = (x) => (typeof x === "string" ? `DATE '${x}'` : String(x));
  if (low === null) return `${sql} <= ${end(high)}`;
  return high === null ? `${sql} >= ${end(low)}` : `${sql} BETWEEN ${end(low)} AND ${end(high)}`;
}

/** A value in SQL, by how a reader knows it. */
function literalOf(label, column) {
  return column.domain ? column.domain.literal(label) : kindOf(column).ofLabel(label);
}

/** The question in SQL. */
export function sqlOf(question, release) {
  const alias = aliasOf(question, release.columns);
  const groups = question.by.map((name) => release.columns.get(name).sql);
  const what = question.measure === "count" ? "COUNT(*)" : `${question.measure.toUpperCase()}(${release.columns.get(question.of).sql})`;
  const lines = [`SELECT ${[...groups, `${what} AS ${alias}`].join(", ")}`, "FROM release"];
  if (question.where.length) lines.push(`WHERE ${question.where.map((part) => condition(part, release)).join("\n  AND ")}`);
  if (groups.length) lines.push(`GROUP BY ${groups.join(", ")}`);
  if (question.order !== "group") lines.push(`ORDER BY ${alias}${question.order === "most" ? " DESC" : ""}`);
  if (question.top !== null && question.order !== "group") lines.push(`LIMIT ${question.top}`);
  return lines.join("\n");
}
