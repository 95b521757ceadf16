/** Answers of releases to questions, by the modules of the page, for tests: a list of { folder, manifest, facts, files, questions } in, answers out. */

import { openAsBlob, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { opened } from "../../../src/scumble/web/page/opened.js";

const [, , given, out] = process.argv;
const results = [];
for (const { folder, manifest, facts, files, questions } of JSON.parse(readFileSync(given, "utf8"))) {
  const blobs = await Promise.all(files.map((file) => openAsBlob(join(folder, file))));
  const release = await opened(manifest, facts, new Map(files.map((file, i) => [file, blobs[i]])));
  for (const question of questions) results.push(await release.shown(question).catch((error) => ({ error: error.message, stack: error.stack })));
}
/** JSON has no numbers that are none, and typed arrays are lists. */
const plain = (_, value) =>
  value instanceof Float64Array ? [...value] : typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
writeFileSync(out, JSON.stringify(results, plain));
