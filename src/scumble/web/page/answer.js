/** The answer on the page: its title, how sure it is, the drawing, notes, the numbers, and ways out. */

import { many } from "../estimate/arrays.js";
import { copied } from "./clipboard.js";
import { screenColours, PAPER } from "./drawing.js";
import { el, named, plain, put } from "./dom.js";
import { csvOf, pngOf, save, sheet } from "./export.js";
import { FIRST, figureOf, imageOf, shapeOf } from "./figure.js";
import { percent } from "../estimate/estimates.js";
import { LEVELS } from "./question.js";
import { snippets } from "./snippets.js";
import { conditionsOf, nameOfFolder, sureness, titleOf } from "./words.js";

const TABLE = 200;
const TOPS = [5, 10, 20, 50];

/** Puts an answer on the page; `ask` is called with the question that a click makes. */
export function showAnswer(place, question, answer, context, ask) {
  const { release } = context;
  const drawn = el("div", { class: "drawing" });
  const focused = document.activeElement?.id;
  put(
    place,
    el("h2", { id: "answer-title", text: titleOf(question) }),
    question.where.length > 0 && el("p", { class: "where", text: `Only rows where ${conditionsOf(question.where).join(", and ")}.` }),
    el("p", { class: "sure", text: sureness(answer, shapeOf(question, release)) }),
    settings(question, answer, ask),
    drawn,
    moreLines(question, answer, context, ask),
    notes(answer),
    ways(question, answer, release),
    numbers(question, answer, context),
    elsewhere(question, release),
  );
  draw(drawn, question, answer, context);
  context.redraw = () => draw(drawn, question, answer, context);
  if (focused) document.getElementById(focused)?.focus();
}

function draw(drawn, question, answer, { release, all }) {
  put(drawn, figureOf(question, answer, release, Math.max(280, drawn.clientWidth), screenColours(), all));
}

/** The order of lines, how many are shown, and the level. */
function settings(question, answer, ask) {
  const choice = (id, text, value, listed, choose) =>
    el(
      "label",
      {},
      `${text} `,
      el(
        "select",
        { id, onchange: (event) => choose(event.target.value) },
        listed.map(([own, shown]) => el("option", { value: String(own), text: shown, selected: String(own) === String(value) })),
      ),
    );
  const orders = [["group", "as listed"], ["most", "largest first"], ["fewest", "smallest first"]];
  const listed = TOPS.includes(question.top) || question.top === null ? TOPS : [question.top, ...TOPS];
  const tops = [["", "all"], ...listed.map((n) => [n, `the first ${n}`])];
  const levels = LEVELS.map((level) => [level, `${percent(level)}%`]);
  return el(
    "div",
    { class: "settings" },
    question.by.length === 1 && choice("order", "Order", question.order, orders, (order) => ask({ ...question, order, top: order === "group" ? null : question.top })),
    question.by.length === 1 && question.order !== "group" && choice("top", "Show", question.top ?? "", tops, (top) => ask({ ...question, top: top === "" ? null : Number(top) })),
    answer.estimate.method === "unbiased" && choice("level", "Intervals of", question.level, levels, (level) => ask({ ...question, level: Number(level) })),
  );
}

/** Where there are more lines than are drawn. */
function moreLines(question, answer, context, ask) {
  const [shape, count] = [shapeOf(question, context.release), answer.estimate.value.length];
  if (shape === "number" || shape === "crosstab" || count <= FIRST[shape] || context.all) return null;
  return el(
    "p",
    { class: "more" },
    `${many(FIRST[shape])} of ${many(count)} lines are drawn. `,
    el("button", { type: "button", class: "quiet", text: "Draw all", onclick: context.showAll }),
    shape === "bars" && question.order === "group" && el("button", { type: "button", class: "quiet", text: "Largest first, 20 of them", onclick: () => ask({ ...question, order: "most", top: 20 }) }),
  );
}

function notes({ notes }) {
  if (notes.length === 0) return null;
  return el("ul", { class: "notes", "aria-label": "notes" }, notes.map((note) => el("li", { text: plain(note) })));
}

/** CSV, PNG and a link. */
function ways(question, answer, release) {
  const name = `${(nameOfFolder() ?? "release").replace(/\.release$/, "")}-${[question.measure, question.of, ...question.by].filter(Boolean).join("-")}`.replace(/[^\w.-]+/g, "_").slice(0, 80);
  const png = async () => {
    const inner = imageOf(question, answer, release, 860, PAPER);
    const subtitle = [question.where.length ? `Only rows where ${conditionsOf(question.where).join(", and ")}.` : "", sureness(answer, shapeOf(question, release))].join(" ").trim();
    const source = `Source: ${nameOfFolder() ?? "a table"}, published with ${release.manifest.software}. ${many(release.manifest.rows)} rows.`;
    save(await pngOf(sheet(inner, { title: titleOf(question), subtitle, notes: answer.notes.map(plain), source })), `${name}.png`);
  };
  return el(
    "p",
    { class: "ways" },
    el("button", { type: "button", id: "save-csv", text: "Save as CSV", onclick: () => save(new Blob([csvOf(answer)], { type: "text/csv" }), `${name}.csv`) }),
    el("button", { type: "button", id: "save-png", text: "Save as PNG", disabled: answer.estimate.value.length === 0, onclick: png }),
    copied("copy-link", "Copy a link to this answer", () => location.href),
  );
}

/** The numbers themselves. */
function numbers(question, answer, context) {
  const { groups, texts, estimate } = answer;
  const count = estimate.value.length;
  const some = context.all ? count : Math.min(count, TABLE);
  const head = [...groups.map(({ name }) => ({ text: plain(name), words: true })), ...texts.map(({ heading }) => ({ text: heading }))];
  const row = (i) =>
    el(
      "tr",
      {},
      groups.map(({ labels }, k) => el(k === 0 ? "th" : "td", { class: "words", scope: k === 0 ? "row" : null, text: named(labels[i]) })),
      texts.map(({ cells }) => el("td", { text: cells[i] })),
    );
  return el(
    "details",
    { class: "numbers", id: "numbers", open: question.by.length !== 2 },
    el("summary", { text: `The numbers (${many(count)} ${count === 1 ? "line" : "lines"})` }),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "the numbers" },
      el(
        "table",
        {},
        el("caption", { class: "unseen", text: titleOf(question) }),
        el("thead", {}, el("tr", {}, head.map(({ text, words }) => el("th", { scope: "col", class: words ? "words" : null, text })))),
        el("tbody", {}, Array.from({ length: some }, (_, i) => row(i))),
      ),
    ),
    some < count && el("button", { type: "button", class: "quiet", text: `Show all ${many(count)} lines`, onclick: context.showAll }),
  );
}

/** The same question elsewhere. */
function elsewhere(question, release) {
  return el(
    "details",
    { class: "elsewhere", id: "elsewhere" },
    el("summary", { text: "Ask the same elsewhere: command line, Python, R, SQL" }),
    snippets(question, release).map(([title, code], i) =>
      el("div", { class: "snippet" }, el("h3", { text: title }), el("pre", { tabindex: 0, "aria-label": title }, el("code", { text: code })), copied(`copy-code-${i}`, "Copy", () => code, title)),
    ),
  );
}
