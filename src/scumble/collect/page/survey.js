// A survey as a reader takes it: what it claims is derived, and refused where it claims something else.

import { factor, reduced } from "./coins.js";
import { canonical, digestOf, Digits, parsed, plain } from "./document.js";
import { promise } from "./promise.js";

const FIELDS = "format version software title purpose collector contact until language series tokens issuer clock period live mechanism questions guarantees promise texts digest signature".split(" ");
const QUESTION_FIELDS = "name role ask help labels type domain channel attribute".split(" ");
const CHANNEL_FIELDS = "kind retain replace size bits threshold lots stages codes order dimension inside outside offsets".split(" ");
const CONTEXT = "scumble-survey-signature 1\n";
const LARGEST_GRID = 10_000_000;

/** The survey of a text; refused where its digest, promise or signature is not its own. */
export async function readSurvey(text, english) {
  const document = parsed(text);
  demand(document instanceof Map && document.get("format") === "scumble-survey", "this is no survey");
  const record = plain(document);
  demand(record.version === 1, "surveys of this version are not known here");
  known(record, FIELDS);
  const bare = new Map([...document].filter(([name]) => name !== "digest" && name !== "signature"));
  const digest = await digestOf(bare);
  demand(digest === record.digest, "the survey was changed: its digest is another one");
  const questions = await Promise.all(document.get("questions").map((node, i) => question(node, record.questions[i])));
  const gamma = product(questions.filter((each) => each.channel).map((each) => factor(each.channel)));
  demand(promise(gamma, english, Boolean(record.period)) === record.promise, "the survey promises what does not follow from its channels");
  return { ...record, text, questions, gamma, signed: await verified(record) };
}

function demand(holds, sentence) {
  if (!holds) throw new Error(sentence);
}

function known(fields, names) {
  const strange = Object.keys(fields).find((name) => !names.includes(name));
  demand(strange === undefined, `the survey has a field that is not known here: ${strange}`);
}

function product(factors) {
  if (factors.includes(null)) return null;
  return factors.reduce(([up, down], [more, under]) => reduced(up * more, down * under), [1n, 1n]);
}

async function question(node, record) {
  known(record, QUESTION_FIELDS);
  const sensitive = record.role === "sensitive";
  demand(sensitive === Boolean(record.channel), `question ${record.name} is sensitive and has no channel, or the other way round`);
  const values = record.domain.kind === "grid" ? null : node.get("domain").get("values").map(textOf);
  const grid = record.domain.kind === "grid" ? gridOf(record.domain) : null;
  const size = grid ? grid.size : values.length;
  if (sensitive) demandChannel(record, size);
  return { ...record, values, grid, size, sensitive, stream: await digestOf(streamNode(node)) };
}

/** Refuses a channel by which no coin could be flipped. */
function demandChannel({ name, channel }, size) {
  known(channel, CHANNEL_FIELDS);
  demand(channel.size === size, `the channel of ${name} is for another number of answers`);
  const whole = 1n << BigInt(channel.bits);
  if (channel.kind === "cyclic") {
    const [many, codes] = [BigInt(channel.offsets.length), BigInt(channel.codes)];
    const used = many * BigInt(channel.inside) + (codes - many) * BigInt(channel.outside);
    demand(channel.outside > 0 && channel.inside > 0 && used <= whole && codes >= size, `the channel of ${name} is none`);
    return;
  }
  demand(channel.kind === undefined, `channels of the kind of ${name} are not known here`);
  const stages = channel.stages ? [channel.stages.memoised, channel.stages.fresh].flat() : [channel.threshold].flat();
  const end = channel.stages ? 1n << BigInt(channel.stages.bits) : whole;
  demand([32, 53].includes(channel.stages ? channel.stages.bits : channel.bits), `the words of ${name} are too long`);
  demand(stages.every((each) => each >= 0 && BigInt(each) < end), `the channel of ${name} perturbs nothing`);
  demand(!channel.lots || (channel.lots.length === size && channel.lots.every((lot) => lot >= 0)), `the lots of ${name} are none`);
}

function streamNode(node) {
  const fields = new Map([["attribute", node.get("attribute") ?? node.get("name")], ["domain", node.get("domain")]]);
  return node.has("channel") ? fields.set("channel", node.get("channel")) : fields;
}

/** A value as labels name it: none is the empty text. */
function textOf(node) {
  return node === null ? "" : node instanceof Digits ? node.text : typeof node === "string" ? node : canonical(node);
}

function gridOf({ low, high, step }) {
  const digits = Math.max(...[low, step, high].map((text) => (text.split(".")[1] ?? "").length));
  const [first, last, by] = [low, high, step].map((text) => scaled(text, digits));
  demand([first, last, by].every((each) => each !== null) && by > 0n && last > first, "a grid of the survey is none");
  const size = Number((last - first) / by) + 1;
  demand(size <= LARGEST_GRID, "a grid of the survey has too many points");
  return { low, high, step, digits, first, by, size };
}

function scaled(text, digits) {
  const found = /^(-?)([0-9]+)(?:\.([0-9]*))?$/.exec(String(text).trim());
  if (!found || (found[3] ?? "").replace(/0+$/, "").length > digits) return null;
  const whole = BigInt(found[2] + (found[3] ?? "").slice(0, digits).padEnd(digits, "0"));
  return found[1] ? -whole : whole;
}

/** The place of an answer, given as text; -1 where it is none. */
export function placeOf(question, text) {
  if (!question.grid) return question.values.indexOf(text);
  const { first, by, digits, size } = question.grid;
  const given = scaled(text, digits);
  if (given === null || (given - first) % by || given < first) return -1;
  const place = Number((given - first) / by);
  return place < size ? place : -1;
}

/** The answer at a place, as text. */
export function textAt(question, place) {
  if (!question.grid) return question.values[place];
  const { first, by, digits } = question.grid;
  const number = first + by * BigInt(place);
  const text = String(number < 0n ? -number : number).padStart(digits + 1, "0");
  return `${number < 0n ? "-" : ""}${text.slice(0, text.length - digits)}${digits ? `.${text.slice(-digits)}` : ""}`;
}

/** Whether the signature is that of its key: true, or "unknown" where this browser cannot tell. A wrong one is refused. */
async function verified(record) {
  demand(Boolean(record.signature), "the survey is not signed");
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  let key;
  try {
    key = await crypto.subtle.importKey("raw", bytes(record.signature.key), { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error.name === "NotSupportedError") return "unknown";
    throw new Error("the signature of the survey is none");
  }
  const said = new TextEncoder().encode(CONTEXT + record.digest);
  demand(await crypto.subtle.verify("Ed25519", key, bytes(record.signature.signature), said), "the signature of the survey is not that of its key");
  return true;
}
