// A person's answers as one message. Nothing of it depends on a true answer but its codes, which are perturbed.

import { flipped, freshWords, memoisedWords, stagesOf } from "./coins.js";
import { placeOf } from "./survey.js";

const MESSAGE = "scumble-message 1";

/** What becomes of each answer, {place, code, kept} in the order of the questions. `keyed` memoises coins; without it they are fresh. */
export async function perturbed(survey, record, keyed = null) {
  const all = [];
  for (const question of survey.questions) {
    const place = placeOf(question, record[question.name] ?? "");
    if (place < 0) throw new RangeError(question.name);
    all.push({ place, ...(await sent(survey, question, place, keyed)) });
  }
  return all;
}

async function sent(survey, question, place, keyed) {
  if (!question.channel) return { code: place, kept: true };
  const [first, over] = stagesOf(question.channel);
  const words = keyed ? memoisedWords(first.bits, keyed, survey.series, question.stream, place) : freshWords(first.bits);
  const memoised = await flipped(first, place, words);
  if (!over) return memoised;
  const last = await flipped(over, memoised.code, freshWords(over.bits));
  return { code: last.code, kept: memoised.kept && last.kept };
}

/** The text that is sent. */
export function messageOf(survey, codes, { id, period = "", token = "" }) {
  const message = { v: 1, survey: survey.digest, id, codes };
  if (period) message.period = period;
  if (token) message.token = token;
  return JSON.stringify(message);
}

/** The id of a device's message to a survey in a period: the same each time. */
export async function idOf(survey, period, keyed) {
  return base64url((await keyed(MESSAGE, survey.digest, period)).slice(0, 16));
}

/** An id that no other message has. */
export function newId() {
  return base64url(crypto.getRandomValues(new Uint8Array(16)));
}

/** Bytes in base64url without padding. */
export function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The period that a moment is in, by the universal clock; empty where a survey has none. */
export function periodOf(length, moment = new Date()) {
  const [year, month, day] = moment.toISOString().slice(0, 10).split("-");
  switch (length) {
    case "day":
      return `${year}-${month}-${day}`;
    case "week":
      return weekOf(moment);
    case "month":
      return `${year}-${month}`;
    case "quarter":
      return `${year}-Q${Math.ceil(Number(month) / 3)}`;
    case "year":
      return year;
    default:
      return "";
  }
}

function weekOf(moment) {
  const thursday = new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate()));
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  const week = Math.ceil(((thursday - first) / 86_400_000 + 1) / 7);
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, "0")}`;
}
