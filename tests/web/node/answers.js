/** Answers to questions by the modules of the page, for tests: { folder, manifest, facts, files, questions } in a file, answers into another. */

import { openAsBlob, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { opened } from "../../../src/scumble/web/page/opened.js";
import { sqlOf } from "../../../src/scumble/web/page/question.js";

const [, , given, out] = process.argv;
const { folder, manifest, facts, files, questions } = JSON.parse(readFileSync(given, "utf8"));
const blobs = await Promise.all(files.map((file) => openAsBlob(join(folder, file))));
const asked = await opened(manifest, facts, new Map(files.map((file, i) => [file, blobs[i]])));
const answers = [];
for (const question of questions) {
  const refused = (error) => {
    if (error.name !== "Refused") throw error;
    return { refused: error.message, sql: sqlOf(question, asked.release) };
  };
  answers.push(await asked.shown(question).catch(refused));
}
/** JSON has no numbers that are none, and typed arrays are lists. */
const plain = (_, value) =>
  value instanceof Float64Array ? [...value] : typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
writeFileSync(out, JSON.stringify(answers, plain));
