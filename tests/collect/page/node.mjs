// node node.mjs MODULES VECTORS TOKENS DRAWS: what does not come out, a blinded token, and how often each code is sent by fresh coins.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { failures } from "./vectors.mjs";

const [folder, file, tokens, draws] = process.argv.slice(2);
const modules = {};
for (const name of ["document", "coins", "survey", "answers", "blind"]) modules[name] = await import(pathToFileURL(`${folder}/${name}.js`));
const english = JSON.parse(readFileSync(`${folder}/messages/en.json`, "utf-8"));
const wrong = await failures(modules, JSON.parse(readFileSync(file, "utf-8")), english);

/** The token of RFC 9474's test vector: what is sent, and what comes of the issuer's signature. */
async function blindly({ issuer, message, salt, inverse, signature }) {
  const { blinded, bytesOf, issuerOf, unblinded } = modules.blind;
  const bytes = (text) => bytesOf(BigInt(`0x${text}`), text.length / 2);
  const key = await issuerOf(issuer);
  const kept = await blinded(key, bytes(message), bytes(salt), BigInt(`0x${inverse}`));
  const own = await blinded(key, bytes(message));
  const forged = await unblinded(key, own, bytes(signature)).then(() => "taken", () => "refused");
  return { sent: modules.document.hex(kept.blinded), signed: modules.document.hex(await unblinded(key, kept, bytes(signature))), forged };
}

/** How often each code comes of a place, by fresh words. */
async function counted({ channel, place, times }) {
  const counts = {};
  const words = modules.coins.freshWords(channel.bits);
  for (let i = 0; i < times; i++) {
    const { code } = await modules.coins.flipped(channel, place, words);
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

const moments = ["2027-05-03", "2026-12-31", "2027-01-03", "2027-01-04", "2028-02-29", "2020-12-28", "2021-01-01"];
const periods = moments.map((day) => ["day", "week", "month", "quarter", "year", null].map((length) => modules.answers.periodOf(length, new Date(`${day}T12:00:00Z`))));
console.log(JSON.stringify({ wrong, periods, token: await blindly(JSON.parse(tokens)), counts: await Promise.all(JSON.parse(draws).map(counted)) }));
