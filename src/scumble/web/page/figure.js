/** The drawing of an answer: one number, bars, a line, or a cross-tab. */

import { isOrdered } from "./askable.js";
import { bars } from "./bars.js";
import { crosstab, crosstabDrawing } from "./crosstab.js";
import { drawing, label, whisker } from "./drawing.js";
import { el, named, plain } from "./dom.js";
import { line } from "./lines.js";
import { extent, linear } from "./scale.js";
import { titleOf } from "./words.js";

/** Bars, points and cells that are drawn at first; a reader may ask for all. */
export const FIRST = { bars: 40, line: 400, crosstab: 60 };

/** Which drawing an answer gets. */
export function shapeOf(question, release) {
  if (question.by.length === 0) return "number";
  if (question.by.length === 2) return "crosstab";
  return question.order === "group" && isOrdered(release.columns.get(question.by[0])) ? "line" : "bars";
}

/** Lines of an answer with their texts and, where there is a scale, their places on it. */
export function linesOf(answer, release) {
  const { groups, estimate, texts } = answer;
  const interval = texts.find(({ heading }) => heading.includes("interval") || heading === "surely within");
  return Array.from(estimate.value, (value, i) => ({
    names: groups.map(({ labels }) => named(labels[i])),
    keys: groups.map(({ codes }) => codes[i]),
    name: groups.length ? named(groups[0].labels[i]) : "",
    at: groups.length ? placeOf(groups[0], i, release) : 0,
    value,
    low: estimate.low[i],
    high: estimate.high[i],
    text: texts[0].cells[i],
    interval: interval ? interval.cells[i] : "",
  }));
}

/** The number that a group stands for, or its place among the others. */
function placeOf({ name, labels, codes }, i, release) {
  const column = release.columns.get(name);
  if (labels[i] === null) return NaN;
  const number = /^\d{4}-\d\d-\d\d$/.test(labels[i]) ? Date.parse(labels[i]) : Number(labels[i]);
  return isOrdered(column) && Number.isFinite(number) ? number : codes[i];
}

/** What is missing has no place on a scale; it stands in the table. */
const placed = (lines) => lines.filter(({ at }) => !Number.isNaN(at));

/** Of averages no zero is drawn. */
const fromZero = (question) => question.measure !== "avg";

/** The drawing for the screen. */
export function figureOf(question, answer, release, wide, colours, all) {
  const lines = linesOf(answer, release);
  const shape = shapeOf(question, release);
  const title = `${titleOf(question)}, ${lines.length} lines; the numbers stand in the table below`;
  if (lines.length === 0) return el("p", { class: "nothing", text: "No row meets these conditions, so there is nothing to show." });
  if (shape === "number") return oneNumber(lines[0], answer, wide, colours, question);
  if (shape === "crosstab") return crosstab(lines, question.by.map(plain), titleOf(question));
  const some = all ? lines : lines.slice(0, FIRST[shape]);
  if (shape === "line") return line(placed(some), wide, colours, { fromZero: fromZero(question), title, axisTitle: plain(question.by[0]) });
  return bars(some, wide, colours, { fromZero: fromZero(question), title });
}

function oneNumber(own, answer, wide, colours, question) {
  const across = Math.min(wide, 560);
  const [low, high] = extent([own], fromZero(question));
  const scale = linear([low, high], [10, across - 10]);
  const exact = answer.estimate.method === "exact";
  return el(
    "div",
    { class: "one" },
    el("p", { class: "big", text: own.text }),
    !exact && el("p", { class: "within", text: own.interval }),
    !exact && Number.isFinite(own.value) && drawing(across, 20, `${own.text} ${own.interval}`, whisker(own, scale, 10, [10, across - 10], colours)),
  );
}

/** The drawing for an image. */
export function imageOf(question, answer, release, wide, colours) {
  const lines = linesOf(answer, release);
  const shape = shapeOf(question, release);
  const title = titleOf(question);
  if (shape === "crosstab") return crosstabDrawing(lines, question.by.map(plain), colours, title);
  if (shape === "line") return line(placed(lines), wide, colours, { fromZero: fromZero(question), title, axisTitle: plain(question.by[0]) });
  if (shape === "bars") return bars(lines.slice(0, 100), wide, colours, { fromZero: fromZero(question), title });
  const [own] = lines;
  return drawing(wide, 60, title, label(own.text, 0, 40, { size: 40, weight: 600, colour: colours.ink }), label(own.interval, 260, 40, { size: 18, colour: colours.faint }));
}
