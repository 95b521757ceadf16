/** The same question for other tools: the command line, Python, R, and SQL. */

import { sqlOf } from "./question.js";
import { nameOfFolder } from "./words.js";

/** A text as a shell takes it. */
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
/** A text as Python and R take it: JSON is one in both. */
const quoted = (text) => JSON.stringify(text);

const folder = () => nameOfFolder() ?? "NAME.release";

/** [title, code] pairs. */
export function snippets(question, release) {
  const sql = sqlOf(question, release);
  return [
    ["Command line", commandLine(sql, question)],
    ["Python", python(sql, question)],
    ["R", r(question)],
    ["SQL", sql],
  ];
}

function commandLine(sql, { level }) {
  return `scumble query ${shell(folder())} ${shell(sql)}${level === 0.95 ? "" : ` --level ${level}`}`;
}

function python(sql, { level }) {
  const plain = !/["\\]/.test(sql);
  const text = plain ? `"""\n${sql}\n"""` : quoted(sql);
  return `import scumble\n\nrelease = scumble.open(${quoted(folder())})\nprint(release.query(${text}${level === 0.95 ? "" : `, level=${level}`}))`;
}

function r({ measure, of, by, where, order, top, level }) {
  const parts = [`measure = ${quoted(measure)}`];
  if (measure !== "count") parts.push(`of = ${quoted(of)}`);
  if (by.length) parts.push(`by = c(${by.map(quoted).join(", ")})`);
  if (where.length) parts.push(`where = list(${where.map(condition).join(", ")})`);
  if (order !== "group") parts.push(`order = ${quoted(order)}`);
  if (top !== null) parts.push(`top = ${top}`);
  if (level !== 0.95) parts.push(`level = ${level}`);
  return `library(scumble)\n\nrelease <- open_release(${quoted(folder())})\nask(release, ${parts.join(",\n    ")})`;
}

function condition({ column, labels, low = null, high = null }) {
  const name = `\`${column.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
  if (labels) return `${name} = c(${labels.map((label) => (label === null ? "NA" : quoted(label))).join(", ")})`;
  const end = (x) => (x === null ? "NA" : typeof x === "string" ? quoted(x) : String(x));
  return `${name} = between(${end(low)}, ${end(high)})`;
}
