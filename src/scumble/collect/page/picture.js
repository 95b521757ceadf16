// What will leave the device, before it does: the true answer, the coin, and what is sent.

import { chances } from "./coins.js";
import { make } from "./dom.js";
import { textAt } from "./survey.js";

/** One row of the picture for each question. */
export function picture({ survey, texts, say, messages }, sent) {
  const rows = survey.questions.map((question, i) => row(question, sent[i], texts, say, messages));
  return make("ol", { class: "picture" }, rows);
}

function row(question, { place, code, kept }, texts, say, messages) {
  const label = (at) => texts.label(question, textAt(question, at), say("no_answer"));
  const [coin, outcome, goes] = question.channel ? story(question, place, code, kept, label, say, messages) : [null, say("public"), label(place)];
  const changed = question.channel && (question.channel.kind === "cyclic" || code !== place);
  return make("li", { class: changed ? "changed" : "same" },
    make("h3", {}, texts.ask(question)),
    make("div", { class: "path" },
      cell("yours", [say("yours")], label(place)),
      arrow(),
      cell("toss", [coinPicture(question.channel ? kept : null), say("coin")], outcome, coin ? make("span", { class: "chance" }, coin) : null),
      arrow(),
      cell("goes", [say("goes")], goes)));
}

/** How probable it was, what happened, and what is sent. */
function story(question, place, code, kept, label, say, messages) {
  const [chance, whole] = chances(question.channel, place);
  if (question.channel.kind === "cyclic") {
    const inside = chance(code) === BigInt(question.channel.inside);
    const share = BigInt(question.channel.offsets.length) * BigInt(question.channel.inside);
    const many = setSize(question, code);
    return [say("set_with", { chance: percent(share, whole, messages) }), say(inside ? "set_in" : "set_out"), say("set", { code, many, all: question.size })];
  }
  const outcome = kept ? "kept" : code === place ? "drew_yours" : "replaced";
  return [say("true_with", { chance: percent(chance(place), whole, messages) }), say(outcome), label(code)];
}

/** How many answers the set of a code has. */
function setSize(question, code) {
  const { offsets, codes } = question.channel;
  return offsets.filter((offset) => (code - Number(offset) + codes) % codes < question.size).length;
}

function percent(up, down, messages) {
  const tenths = (up * 1000n + down / 2n) / down;
  return `${tenths / 10n}${messages.point ?? "."}${tenths % 10n}%`;
}

function cell(name, heading, ...parts) {
  return make("div", { class: `cell ${name}` }, make("p", { class: "term" }, heading), make("p", { class: "what" }, parts));
}

function arrow() {
  return make("div", { class: "arrow", "aria-hidden": "true" }, make("svg", { viewBox: "0 0 24 24", width: "24", height: "24" }, make("path", { d: "M3 12h16m-6-6 6 6-6 6" })));
}

function coinPicture(kept) {
  if (kept === null) return null;
  return make("svg", { class: kept ? "face kept" : "face drawn", viewBox: "0 0 24 24", width: "22", height: "22", "aria-hidden": "true" },
    make("circle", { cx: "12", cy: "12", r: "10" }), make("path", { d: kept ? "M7 12.5l3.5 3.5L17 9" : "M8 8l8 8M16 8l-8 8" }));
}
