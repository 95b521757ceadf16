/** The page: opens the release, and from then on shows the question that stands in the address. */

import { many } from "../estimate/arrays.js";
import { showAbout } from "./about.js";
import { showAnswer } from "./answer.js";
import { askableOf, isOrdered } from "./askable.js";
import { Controls } from "./controls.js";
import { fetched, given, hosted, inlined, Missing, picked } from "./data.js";
import { el, plain, put } from "./dom.js";
import { Release } from "../estimate/release.js";
import { fromLink, toLink } from "./link.js";
import { opened } from "./opened.js";
import { firstQuestion } from "./question.js";
import { snippets } from "./snippets.js";
import { lead, nameOfFolder } from "./words.js";

const place = (id) => document.getElementById(id);

function start() {
  const { manifest, facts, data } = given();
  const release = new Release(manifest, facts);
  introduce(release);
  showAbout(place("about"), place("foot"), release);
  if (!facts.asked) return sayHow(release);
  const blobs = inlined(data);
  if (blobs) return begin(manifest, facts, blobs);
  if (hosted()) {
    const progress = (done, of) => say(`Reading the table … ${done + 1} of ${of} files`);
    return fetched(data, progress).then(
      (read) => begin(manifest, facts, read),
      (error) => letPick(manifest, facts, data, plain(error.message)),
    );
  }
  return letPick(manifest, facts, data, null);
}

/** What this is, before anything is read. */
function introduce(release) {
  const { manifest } = release;
  const name = nameOfFolder();
  if (name) {
    place("title").textContent = plain(name.replace(/\.release$/, ""));
    document.title = `${plain(name)}: a table published with scumble`;
  }
  place("lead").textContent = lead(release);
  if (!manifest.randomness.secure)
    place("facts").after(el("p", { class: "warning", text: "INSECURE: the coins were drawn from a seed, for tests. Whoever guesses it undoes the perturbation." }));
  const shown = manifest.columns.filter(({ role }) => !["stratum", "weight", "copies"].includes(role));
  place("facts").textContent = `${many(manifest.rows)} rows, ${shown.length} columns`;
}

function say(text) {
  put(place("loading"), text).hidden = false;
}

/** A release that cannot be asked by clicking: what to type. */
function sayHow(release) {
  const by = [...release.columns.values()].find(({ role }) => ["public", "tuple", "apart"].includes(role));
  const question = { ...firstQuestion(), by: by ? [by.name] : [] };
  const shown = snippets(question, release).filter(([title]) => title !== "R");
  put(
    place("loading"),
    el("h2", { text: "How to ask it" }),
    el("p", { text: "This kind of release cannot be asked by clicking: its answers need more than a page can compute. Ask it by typing:" }),
    shown.slice(0, 2).map(([title, code]) => el("div", { class: "snippet" }, el("h3", { text: title }), el("pre", { tabindex: 0, "aria-label": title }, el("code", { text: code })))),
  ).hidden = false;
}

/** From a folder a page may not read what lies beside it, until a reader hands it over. */
function letPick(manifest, facts, data, problem) {
  let held = new Map();
  const names = data.map(({ path }) => path);
  const listed = names.length > 3 ? `${names[0]} … ${names.at(-1)} (${names.length} files)` : names.join(", ");
  const status = el("p", { class: "hint", text: problem ?? "", role: "alert" });
  const take = async (files) => {
    try {
      held = await picked(files, data, held);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      status.textContent = error.message;
      return;
    }
    const left = names.filter((name) => !held.has(name));
    if (left.length > 0) status.textContent = `Still missing: ${left.slice(0, 5).join(", ")}${left.length > 5 ? " …" : ""}`;
    else begin(manifest, facts, held);
  };
  const input = el("input", { type: "file", id: "pick", multiple: true, accept: ".parquet", onchange: (event) => take(event.target.files) });
  const box = el(
    "div",
    { class: "drop" },
    el("h2", { text: "One step more" }),
    el("p", { text: `The table is too large to be inside this page, and a page that was opened from a folder may not read the files beside it. Hand it over: drop ${listed} here, or choose it. It stays on your computer.` }),
    el("label", { for: "pick", class: "button", text: "Choose the data file" }),
    input,
    status,
  );
  box.addEventListener("dragover", (event) => event.preventDefault());
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  put(place("loading"), box).hidden = false;
}

async function begin(manifest, facts, blobs) {
  try {
    const asked = await opened(manifest, facts, blobs);
    place("loading").hidden = true;
    run(asked);
  } catch (error) {
    say(`The table cannot be read: ${plain(error.message)}. Get the release again from its publisher.`);
  }
}

/** Shows what the address asks for, now and whenever it changes. */
function run(asked) {
  const { release } = asked;
  const askable = askableOf(release);
  const context = { release, askable, drafts: new Set(), open: null, all: false, valuesOf: (name) => asked.valuesOf(name) };
  const ask = (question) => {
    const link = toLink(question);
    if (link === location.hash) show();
    else location.hash = link;
  };
  for (const id of ["ask", "answer"]) place(id).hidden = false;
  const controls = new Controls(place("question"), context, ask);
  const show = async () => {
    const linked = fromLink(location.hash, askable);
    const question = linked ?? usual(release, askable);
    controls.show(question);
    await answer(question, context, ask, asked, location.hash.length > 1 && !linked);
  };
  context.showAll = () => {
    context.all = true;
    show();
  };
  addEventListener("hashchange", () => {
    context.all = false;
    show();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // what stands behind # is the question
    place("answer").focus();
  });
  let waiting = null;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => context.redraw?.(), 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => context.redraw?.());
  return show();
}

async function answer(question, context, ask, asked, unknown) {
  const turn = (context.turn = (context.turn ?? 0) + 1);
  const shown = place("answer");
  shown.setAttribute("aria-busy", "true");
  try {
    const answered = await asked.shown(question);
    if (turn !== context.turn) return; // another question was asked meanwhile
    showAnswer(shown, question, answered, context, ask);
    asked.readAhead(context.askable.grouped);
    const count = answered.estimate.value.length;
    place("status").textContent = `${count} ${count === 1 ? "line" : "lines"}`;
    if (unknown) shown.prepend(el("p", { class: "warning", text: "The link to this page asks for something that this release cannot answer; here is another question." }));
  } catch (error) {
    if (turn !== context.turn) return;
    put(shown, el("h2", { id: "answer-title", text: "This cannot be answered" }), el("p", { class: "warning", role: "alert", text: plain(error.message) }));
    context.redraw = null;
    if (error.name !== "Refused") console.error(error);
  } finally {
    shown.removeAttribute("aria-busy");
  }
}

/** What is shown at first: the rows by a column that was perturbed, or by one of few values. */
function usual(release, askable) {
  const question = firstQuestion();
  const columns = askable.grouped.map((name) => release.columns.get(name));
  const perturbed = columns.filter(({ domain }) => domain);
  const first = perturbed.find((column) => !isOrdered(column) && column.domain.size <= 60) ?? perturbed.find(({ domain }) => domain.size <= 200);
  const counted = release.form === "tuples" ? columns[0] : null;
  if (first ?? counted) question.by = [(first ?? counted).name];
  return question;
}

start();
