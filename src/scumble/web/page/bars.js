/** Bars, one a line of the answer, each with its interval. Averages have no bars, because they need no zero: a dot and an interval. */

import { drawing, fitted, label, rule, whisker, width } from "./drawing.js";
import { svg } from "./dom.js";
import { extent, linear, marks, markTexts } from "./scale.js";

const ROW = 28;
const STACKED = 46;
const TOP = 26;
const NARROW = 560;

/** lines: [{ name, value, low, high, text, interval }] */
export function bars(lines, wide, colours, { fromZero, title }) {
  const narrow = wide < NARROW;
  const row = narrow ? STACKED : ROW;
  const names = narrow ? 0 : Math.min(Math.max(...lines.map(({ name }) => width(name))) + 14, wide * 0.32);
  const figures = Math.max(...lines.map(({ text }) => width(text, 13, 600)));
  const side = narrow ? 0 : figures + Math.max(...lines.map(({ interval }) => width(interval, 12))) + 30;
  const room = [names + 4, wide - side - 4];
  const scale = linear(extent(lines, fromZero), room);
  const high = TOP + lines.length * row + 4;
  const body = lines.map((line, i) => {
    const top = TOP + i * row;
    return svg("g", {}, svg("title", { text: `${line.name}: ${line.text} ${line.interval}` }), bar(line, top, { narrow, names, figures, room, scale, colours, fromZero, wide }));
  });
  return drawing(wide, high, title, axis(scale, lines, fromZero, room, high, colours), body);
}

function axis(scale, lines, fromZero, room, high, colours) {
  const [low, end] = extent(lines, fromZero);
  const wanted = Math.max(2, Math.min(6, Math.floor((room[1] - room[0]) / 90)));
  const listed = marks(low, end, wanted);
  const texts = markTexts(listed);
  return listed.flatMap((value, i) => [
    rule(scale(value), TOP - 6, scale(value), high, value === 0 ? colours.faint : colours.rule),
    label(texts[i], scale(value), TOP - 12, { size: 11, colour: colours.faint, anchor: "middle" }),
  ]);
}

function bar(line, top, { narrow, names, figures, room, scale, colours, fromZero, wide }) {
  const y = top + (narrow ? 30 : ROW / 2);
  const parts = [];
  if (fromZero && Number.isFinite(line.value)) {
    const [a, b] = [scale(0), scale(line.value)];
    parts.push(svg("rect", { x: Math.min(a, b), y: y - 7, width: Math.abs(b - a), height: 14, fill: colours.tint }));
  }
  if (line.interval || !fromZero) parts.push(...whisker(line, scale, y, room, colours));
  if (narrow) {
    const figure = `${line.text}  ${line.interval}`;
    const space = wide - width(figure, 12) - 16;
    parts.push(label(fitted(line.name, space), 4, top + 16, { colour: colours.ink }));
    parts.push(label(figure, wide - 4, top + 16, { size: 12, colour: colours.faint, anchor: "end" }));
    return parts;
  }
  parts.push(label(fitted(line.name, names - 14), names - 8, y + 4.5, { colour: colours.ink, anchor: "end" }));
  parts.push(label(line.text, room[1] + 14 + figures, y + 4.5, { weight: 600, colour: colours.ink, anchor: "end" }));
  parts.push(label(line.interval, wide - 4, y + 4.5, { size: 12, colour: colours.faint, anchor: "end" }));
  return parts;
}
