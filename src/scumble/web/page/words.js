/** Sentences of the page. */

import { percent } from "../estimate/estimates.js";
import { plain } from "./dom.js";

/** What is shown: "Number of rows by disease and sex". */
export function titleOf(question) {
  const what = { count: "Number of rows", sum: `Total of ${plain(question.of)}`, avg: `Average of ${plain(question.of)}` }[question.measure];
  return question.by.length ? `${what} by ${question.by.map(plain).join(" and ")}` : what;
}

/** How sure an answer is, and how to read its drawing. */
export function sureness(answer, shape) {
  const read = {
    bars: "The dot is the estimate, the line through it the interval.",
    number: "The dot is the estimate, the line through it the interval.",
    line: "The band runs between the ends of the intervals.",
    crosstab: "Below each estimate stands its interval.",
  };
  const said = sureOf(answer);
  return answer.estimate.method === "exact" ? said : `${said} ${read[shape]}`;
}

function sureOf({ estimate, level, together, partial }) {
  if (estimate.method === "exact") return "Exact: computed from public columns alone.";
  if (estimate.method === "steps") return "Public numbers that were published in steps: the table's own answer surely lies within the bounds.";
  if (estimate.method === "published") return "Exact for what was published. With the rows that were left out, the answer surely lies within the bounds.";
  if (partial)
    return `Estimates for what was published; rare combinations were left out. In ${percent(level)} of 100 publications the interval holds their number.`;
  if (together)
    return `Estimates. The intervals hold the table's own numbers all together, for all lines that were ranked, in ${percent(level)} of 100 publications.`;
  return `Estimates. In ${percent(level)} of 100 publications the interval holds the table's own number.`;
}

/** The conditions of a question, in words. */
export function conditionsOf(where) {
  return where.map(({ column, labels, low, high }) => {
    const name = plain(column);
    if (labels) return `${name} is ${listed(labels.map((label) => (label === null ? "missing" : plain(label))))}`;
    if (low === null || low === undefined) return `${name} is at most ${high}`;
    return high === null || high === undefined ? `${name} is at least ${low}` : `${name} is ${low} to ${high}`;
  });
}

/** Some words, the last after an "or". */
function listed(words) {
  const shown = words.length > 6 ? [...words.slice(0, 5), `${words.length - 5} others`] : words;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}` : shown[0];
}

/** What the release is called: the name of its folder, where that is one of a release. */
export function nameOfFolder() {
  const folder = decodeURIComponent(location.pathname).split("/").at(-2) ?? "";
  return folder.endsWith(".release") ? folder : null;
}

/** What was done to the table, in a sentence or two. */
export function lead(release) {
  const { perturbed, facts } = release;
  if (perturbed.length === 0) return facts.asked ? `${facts.words} Answers come with an interval, and say what may be missing.` : facts.words;
  const names = perturbed.map(({ name }) => plain(name));
  const some = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} other columns`] : names;
  const which = some.length > 1 ? `${some.slice(0, -1).join(", ")} and ${some.at(-1)} were` : `${some[0]} was`;
  return `Before publication ${which} perturbed: ${became(perturbed)} A single row proves nothing. Counts and averages are corrected for it, and come with an interval.`;
}

/** How values were perturbed, with the shares of those that were kept. */
function became(perturbed) {
  const records = perturbed.flatMap((column) => column.channels ?? [column.channel]);
  if (records.some(({ kind }) => kind === "cyclic")) return "each value was replaced by a code that stands for many values.";
  const kept = records.flatMap(({ retain }) => retain);
  const [low, high] = [Math.min(...kept), Math.max(...kept)].map((share) => Number((100 * share).toPrecision(2)));
  const share = low === high ? `${low}%` : `${low}% to ${high}%`;
  return `${share} of the values were kept, the others replaced at random, and nobody can tell which.`;
}
