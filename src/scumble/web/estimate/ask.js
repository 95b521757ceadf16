/** The road of a question: rules -> a form's answer -> what the rules do to it -> order, limit, notes (query/ask.py). */

import { many } from "./arrays.js";
import { joint } from "./joint.js";
import { beyond, cut, endsOf } from "./possible.js";
import { hull, rewritten } from "./rewrites.js";
import { answerRows, taken } from "./rows.js";
import { answerTuples } from "./tuples.js";

/** The answer of a release to a question: { groups, estimate, level, notes, together, partial }: the last two where intervals hold all at once, and where rows were left out. */
export function answerTo(question, release) {
  const asked = rewritten(question, release.columns);
  const forms = [asked.asked, ...asked.variants].map((variant) => formed(variant, release, question.level));
  let lines = shownLines(question, asked, forms);
  const chosen = lines.shown.length < lines.count && question.limit !== null && question.order !== "group" && lines.estimate.method !== "exact";
  if (lines.count > 1 && chosen) {
    const wider = 1 - (1 - question.level) / lines.count;
    lines = shownLines(
      question,
      asked,
      forms.map((form) => form.at(wider)),
    );
    lines.notes.push(rankingNote(lines.count, question.level, wider));
    lines.together = true;
  }
  return { ...lines, level: question.level, notes: [...release.notes, ...lines.notes] };
}

function formed(asked, release, level) {
  if (release.form === "tuples") return answerTuples(asked, release, level);
  const together = joint(asked, release);
  return together ? together(level) : answerRows(asked, release.published, release.table, level);
}

/** The lines that are shown, and from how many they were chosen. */
function shownLines(question, asked, forms) {
  const [form, ...others] = forms;
  const [own, ...variants] = forms.map((one) => asked.undo(one.estimates)[0]);
  const keys = forms.map(lineKeys);
  const places = others.map((_, k) => keys[0].map((key) => keys[k + 1].indexOf(key)));
  const [limits, ...loose] = forms.map((one) => asked.undo(bare(one))[0]);
  const whole = cut(hull(own, variants, places), hull(limits, loose, places));
  const shown = ordered(form.estimates[0].value, question);
  const estimate = taken(whole, shown);
  return {
    groups: form.groups.map(({ name, codes, labels }) => ({
      name,
      codes: shown.map((line) => codes[line]),
      ...(labels && { labels: shown.map((line) => labels[line]) }),
    })),
    estimate,
    shown,
    count: whole.value.length,
    partial: form.partial ?? false,
    notes: [...asked.notes, ...form.notes(shown), ...beyond(estimate)],
  };
}

/** The aggregates of a form with what they can be in the place of their intervals. */
function bare(form) {
  const limits = form.limits();
  return form.estimates.map((estimate) => endsOf(estimate, limits));
}

/** What tells the lines of an answer apart. */
function lineKeys({ groups, estimates }) {
  return Array.from(estimates[0].value, (_, i) => groups.map(({ codes }) => codes[i]).join());
}

/** The places of the lines that are shown, in the order in which they are; what has no value comes last. */
function ordered(values, { order, limit }) {
  const lines = Array.from(values, (_, i) => i);
  if (order !== "group") {
    const sign = order === "most" ? -1 : 1;
    const missing = (line) => !Number.isFinite(values[line]);
    lines.sort((a, b) => missing(a) - missing(b) || (missing(a) ? 0 : sign * (values[a] - values[b])));
  }
  return limit === null ? lines : lines.slice(0, limit);
}

function rankingNote(count, level, wider) {
  return (
    `lines were chosen by ORDER BY and LIMIT from ${many(count)}, the luckiest first: the intervals of each column hold together ` +
    `with ${significant(100 * level, 6)}%, each with ${significant(100 * wider, 7)}%`
  );
}

/** A number with so many digits at most, as %g prints it. */
export function significant(x, digits) {
  return String(Number(x.toPrecision(digits)));
}
