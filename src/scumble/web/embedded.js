/**
 * The estimator without a page, for engines that have neither files nor texts of bytes, such as V8 in R: a global `scumble` that opens one release at a time.
 *
 *     scumble.file(path, bytes)            hands over a data file
 *     scumble.open(manifest, facts)        opens the release of these files
 *     scumble.ask(question)                the answer, as JSON
 */

import { DECODES } from "./text_decoder.js";
import { Refused } from "./estimate/cells.js";
import { askableOf, isNumber } from "./page/askable.js";
import { opened } from "./page/opened.js";

const files = DECODES && new Map();
let asked = null;

/** Bytes that are read in parts, as the estimator reads a file. */
class Bytes {
  constructor(bytes) {
    this.bytes = bytes;
    this.size = bytes.length;
  }

  slice(start, end) {
    const part = this.bytes.slice(start, end);
    return { arrayBuffer: async () => part.buffer };
  }
}

/** JSON has no numbers that are none: those are words, and typed arrays are lists. */
function plain(_, value) {
  if (ArrayBuffer.isView(value)) return [...value];
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

globalThis.scumble = {
  file: (path, bytes) => files.set(path, new Bytes(bytes)) && files.size,
  async open(manifest, facts) {
    asked = await opened(manifest, facts, new Map(files));
    files.clear();
    return JSON.stringify(askableOf(asked.release));
  },
  async ask(question) {
    try {
      question.where.forEach(demandRange);
      const { groups, estimate, level, texts, notes, sql } = await asked.shown(question);
      const columns = groups.map(({ name, labels }) => ({ name, labels, kind: kindOf(name) }));
      return JSON.stringify({ groups: columns, estimate, level, texts, notes, sql }, plain);
    } catch (error) {
      if (error.name !== "Refused") throw error;
      return JSON.stringify({ refused: error.message });
    }
  },
};

/** The ends of a range are what the column has: numbers or days. */
function demandRange({ column: name, labels, low, high }) {
  if (labels) return;
  const days = kindOf(name) === "day";
  if (!days && !isNumber(asked.release.columns.get(name))) throw new Refused(`${name} has neither numbers nor days; name its values`);
  const fits = (end) => (days ? /^\d{4}-\d\d-\d\d$/.test(end) && !Number.isNaN(Date.parse(end)) : Number.isFinite(end));
  const ends = [low, high].filter((end) => end !== null);
  if (!ends.length || !ends.every(fits)) throw new Refused(`a range of ${name} has ${days ? "days (2024-02-29)" : "numbers"} at its ends, one of them at least`);
}

/** What the values of a column are, in a word: text, number, truth or day. */
function kindOf(name) {
  const column = asked.release.columns.get(name);
  const kind = (column.value_kind ?? column).kind;
  return ["text", "truth", "day"].includes(kind) ? kind : ["moment", "time"].includes(kind) ? "text" : "number";
}
