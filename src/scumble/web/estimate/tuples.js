/** Questions to a release of counted tuples: which table answers, what is summed over its tuples, and what the answer is of (forms/tuples/totals.py). */

import { many } from "./arrays.js";
import { Refused } from "./cells.js";
import { capped } from "./tuple_caps.js";
import { estimated } from "./tuple_estimate.js";
import { Sums } from "./tuple_sums.js";

/** The columns of a table that must have been read before a question is put to it: all of them, because tuples are told apart by all. */
export function tablesFor(names, release) {
  const { tables, transactions } = release.counted;
  if (transactions) {
    const [pseudonym] = names.filter((name) => [transactions.user, transactions.pattern].includes(name)).sort();
    if (pseudonym) throw new Refused(`'${pseudonym}' numbers published copies anew and stands for nobody; ask about '${transactions.item}'`);
    return tables;
  }
  const fitting = tables.filter(({ attributes }) => names.every((name) => attributes.includes(name)));
  if (fitting.length === 0)
    throw new Refused(
      `no table of this release has all of ${[...names].sort().join(", ")}, and what was published apart cannot be put together; ask for each part by itself`,
    );
  return release.counted.marginals ? fitting : [fitting.reduce((best, own) => (own.rows > best.rows ? own : best))];
}

/** The answer at a level: { groups, estimates, level, notes, at, limits }. */
export function answerTuples(asked, release, level) {
  const names = [...asked.groups.map(({ name }) => name), ...asked.filters.map(({ column }) => column)];
  const columns = [...names, ...asked.aggregates.flatMap(({ value }) => (value ? [value.column] : []))];
  const tables = tablesFor([...new Set(columns)], release);
  const counting = release.counting(tables, new Set(columns));
  const lines = counting.lines(asked);
  const values = asked.aggregates.map(({ kind, value }) => summable(kind, value, counting, lines, release));
  const { total, transactions } = release.counted;
  const every = total === null || transactions ? Infinity : total;
  const bounds = { least: new Float64Array(lines.count), most: new Float64Array(lines.count).fill(every) };
  const limits = () => new Map(asked.aggregates.flatMap(({ name, kind }) => (kind === "count" ? [[name, bounds]] : [])));
  const caps = counting.capped && { tables: counting.capped, matching: release.counted.matching(asked, lines, tables, counting) };
  const at = (level) => {
    const known = knownOf(release.counted, counting, level);
    const estimates = asked.aggregates.map((aggregate, i) => {
      const own = [aggregate, values[i].sums, values[i].span(asked.filters), known];
      return caps ? capped(...own, caps) : estimated(...own);
    });
    const notes = [
      ...notesOf(asked, release.counted, tables, counting),
      ...boundless(asked, values, known, release),
    ];
    return { groups: lines.groups, estimates, level, notes: () => notes, at, limits, partial: !known.every };
  };
  return at(level);
}

/** What an aggregate adds up over the tuples that match, and what its values can be in rows that were suppressed. */
function summable(kind, value, counting, lines, release) {
  if (value === null) return { sums: new Sums(lines.count, counting.tuplesOf(lines, null), null), span: () => [1, 1] };
  const x = counting.numbers(value);
  let [low, high] = [Infinity, -Infinity];
  for (const row of lines.rows) {
    if (x.missing[row]) continue;
    if (!Number.isFinite(x.numbers[row])) throw new Refused(`${value.column} has published values that are infinite or no numbers; leave them out by a filter`);
    low = Math.min(low, x.numbers[row]);
    high = Math.max(high, x.numbers[row]);
  }
  const middle = low > high ? 0 : low + (high - low) / 2;
  return {
    sums: new Sums(lines.count, counting.tuplesOf(lines, x), middle),
    span: (filters) => spanOf(kind, value, filters, release),
  };
}

/** The least and the most of a value among those that were declared and meet the conditions on its column; nothing where none were declared. */
function spanOf(kind, { column, shift }, filters, release) {
  const declared = release.counted.declared.get(column);
  if (!declared) return null;
  const own = filters.filter((filter) => filter.column === column);
  const possible = [...declared].filter((x) => !Number.isNaN(x) && own.every((filter) => filter.among(x)));
  if (possible.length === 0) return kind === "sum" ? [0, 0] : [NaN, NaN];
  const shifted = shift ? possible.map((x) => x + shift(x)) : possible;
  return [shifted.reduce((a, b) => Math.min(a, b)), shifted.reduce((a, b) => Math.max(a, b))];
}

function knownOf(counted, counting, level) {
  const { total, complete, domains, transactions } = counted;
  const noise = counting.noise ?? counted.noise;
  const bounded = total !== null && !transactions && !domains && !counting.corrected;
  const all = bounded ? { rows: total, ...counting.all } : null;
  const exactly = !noise && all !== null && all.rows === all.value;
  return { noise, all, every: complete || exactly || domains, level };
}

const CORRECTED =
  "counts are put right by how many columns tuples have values in, which is right where those that match have as many as others (else a count lies between " +
  "_least and _bound), and the upper end of a count has all that may have been suppressed";
const LOWER =
  "how many were taken out of a column was not published: counts and sums are what was left, lower than the truth, and only their lower end is known";

function notesOf(asked, { domains, complete, transactions, tables: every, cStar, noise, total, marginals }, tables, counting) {
  if (marginals) return [putTogether(tables)];
  if (domains || complete) return [];
  const notes = [];
  if (!transactions && every.length > 1) notes.push(`answered from ${tables[0].name}: ${tables[0].attributes.join(", ")}`);
  if (counting.capped) {
    notes.push(`each tuple stayed in at most ${cStar} of ${every.length} columns of the schema; ${counting.corrected ? CORRECTED : LOWER}`);
    if (counting.corrected && asked.aggregates.every(({ kind }) => kind === "count")) return notes;
  }
  const what = noise ? "the interval is" : "the value is exact";
  if (total === null || transactions) return [...notes, `${what} for what was published; rare tuples were suppressed, how many rows is not known`];
  const missing = `${noise ? "about " : ""}${many(even(Math.max(total - counting.all.value, 0)))}`;
  return [...notes, `${what} for what was published; ${missing} of ${many(total)} rows were suppressed, and any of them may match`];
}

/** Which marginals an answer is from. */
function putTogether([first, ...others]) {
  if (!others.length) return `answered from ${first.name}: ${first.attributes.join(", ")}`;
  return `put together of ${others.length + 1} marginals that have these columns, each weighted by the inverse of its variance`;
}

/** The nearest whole number; halves go to the even one. */
function even(x) {
  const below = Math.floor(x);
  return x - below === 0.5 ? below + (below % 2) : Math.round(x);
}

/** Why nothing bounds what suppressed rows add, where an answer without them says nothing of the table, or all but this is public. */
function boundless(asked, values, known, release) {
  const bare = asked.aggregates.filter(({ value }, i) => value !== null && values[i].span(asked.filters) === null).map(({ value }) => value.column);
  if (known.every || bare.length === 0 || (!known.all && known.noise)) return [];
  const names = [...new Set(bare)].filter((name) => !release.counted.declared.has(name)).map((name) => `'${name}'`);
  const said = `which values ${names.join(" and ")} can have (a sensitive column with low and high)`;
  const stated = known.all ? said : `${said}, nor how many rows there are (total)`;
  return [`with the suppressed rows sums and averages have no bound: the publisher did not declare ${stated}`];
}
