/** A question as the part of an address behind #, so that a link holds it. Whatever somebody wrote there, a question comes out, or nothing. */

import { firstQuestion, LEVELS } from "./question.js";

const ORDERS = ["group", "most", "fewest"];
const MEASURES = ["count", "sum", "avg"];
const MOST = 20_000;

export function toLink(question) {
  const link = new URLSearchParams();
  link.set("show", question.measure);
  if (question.of) link.set("of", question.of);
  for (const name of question.by) link.append("by", name);
  for (const part of question.where) link.append("where", JSON.stringify(part));
  if (question.order !== "group") link.set("order", question.order);
  if (question.top !== null) link.set("top", question.top);
  if (question.level !== 0.95) link.set("level", question.level);
  return `#${link}`;
}

/** The question of a link about columns that may be asked: { asked } by name; null where the link holds none, or one that cannot be put. */
export function fromLink(hash, askable) {
  const link = new URLSearchParams(hash.slice(1));
  if (!link.has("show") || hash.length > MOST) return null;
  const question = firstQuestion();
  question.measure = link.get("show");
  question.of = question.measure === "count" ? null : link.get("of");
  question.by = [...new Set(link.getAll("by"))];
  question.order = link.get("order") ?? "group";
  question.top = link.has("top") ? Number(link.get("top")) : null;
  question.level = link.has("level") ? Number(link.get("level")) : 0.95;
  try {
    question.where = link.getAll("where").map((text) => condition(JSON.parse(text)));
  } catch {
    return null;
  }
  return valid(question, askable) ? question : null;
}

function condition({ column, labels, low = null, high = null }) {
  const ends = [low, high].every((end) => end === null || Number.isFinite(end) || /^\d{4}-\d\d-\d\d$/.test(end));
  const listed = Array.isArray(labels) && labels.length > 0 && labels.every((label) => label === null || typeof label === "string");
  if (labels === undefined ? !ends || (low === null && high === null) : !listed) throw new Error("no condition");
  return labels === undefined ? { column, low, high } : { column, labels };
}

function valid(question, askable) {
  const { measure, of, by, where, order, top, level } = question;
  const conditions = where.map(({ column }) => column);
  return (
    MEASURES.includes(measure) &&
    (measure === "count" || askable.summed.includes(of)) &&
    by.length <= 2 &&
    by.every((name) => askable.grouped.includes(name)) &&
    conditions.every((name) => askable.filtered.includes(name)) &&
    new Set(conditions).size === conditions.length &&
    ORDERS.includes(order) &&
    (top === null || (Number.isInteger(top) && top > 0)) &&
    LEVELS.includes(level)
  );
}
