/** A line over numbers or days: the estimates, and a band from the lower ends of their intervals to the upper ones. */

import { drawing, label, rule, width } from "./drawing.js";
import { svg } from "./dom.js";
import { extent, linear, marks, markTexts } from "./scale.js";

const HIGH = 340;
const TOP = 16;
const BOTTOM = 44;

/** lines: [{ name, at, value, low, high, text, interval }], at: the place on the lower axis */
export function line(lines, wide, colours, { fromZero, title, axisTitle }) {
  const [low, high] = extent(lines, fromZero);
  const listed = marks(low, high, 5);
  const texts = markTexts(listed);
  const left = Math.max(...texts.map((text) => width(text, 12))) + 14;
  const y = linear([low, high], [HIGH - BOTTOM, TOP]);
  const places = lines.map(({ at }) => at);
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const x = linear(first === last ? [first - 1, last + 1] : [first, last], [left + 8, wide - 14]);
  const grid = listed.flatMap((value, i) => [
    rule(left, y(value), wide, y(value), value === 0 ? colours.faint : colours.rule),
    label(texts[i], left - 6, y(value) + 4, { size: 12, colour: colours.faint, anchor: "end" }),
  ]);
  const shown = lines.filter(({ value }) => Number.isFinite(value));
  const inside = (end, otherwise) => (Number.isFinite(end) ? y(end) : y(otherwise));
  const band = [...shown.map((own) => [x(own.at), inside(own.high, high)]), ...[...shown].reverse().map((own) => [x(own.at), inside(own.low, low)])];
  const path = shown.map((own) => [x(own.at), y(own.value)]);
  return drawing(
    wide,
    HIGH,
    title,
    grid,
    svg("polygon", { points: points(band), fill: colours.tint, opacity: 0.75 }),
    svg("polyline", { points: points(path), fill: "none", stroke: colours.line, "stroke-width": 2, "stroke-linejoin": "round" }),
    shown.map((own) => dot(own, x, y, [low, high], colours, shown.length)),
    lowerAxis(lines, x, colours, wide, axisTitle),
  );
}

function points(pairs) {
  return pairs.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}

/** A point with its interval; intervals of many points are the band alone. */
function dot(own, x, y, [low, high], colours, many) {
  const [a, b] = [own.low, own.high].map((end, i) => (Number.isFinite(end) ? y(end) : y(i ? high : low)));
  return svg(
    "g",
    {},
    svg("title", { text: `${own.name}: ${own.text} ${own.interval}` }),
    many <= 60 && rule(x(own.at), a, x(own.at), b, colours.line, 1),
    svg("circle", { cx: x(own.at), cy: y(own.value), r: many <= 60 ? 3.5 : 2, fill: colours.line }),
    svg("rect", { x: x(own.at) - 6, y: TOP, width: 12, height: HIGH - BOTTOM - TOP, fill: "transparent" }),
  );
}

/** Names below the line, as many as have room: round numbers, or every so many days. */
function lowerAxis(lines, x, colours, wide, axisTitle) {
  const widest = Math.max(...lines.map(({ name }) => width(name, 12))) + 16;
  const room = Math.max(1, Math.floor((wide - 60) / widest));
  const every = Math.max(1, Math.ceil(lines.length / room));
  const places = lines.map(({ at }) => at);
  const numbers = every > 1 && lines.every(({ name, at }) => Number(name) === at);
  const round = numbers ? marks(Math.min(...places), Math.max(...places), room) : [];
  const shown = numbers ? round.map((at, i) => ({ at, name: markTexts(round)[i] })) : lines.filter((_, i) => i % every === 0);
  const named = shown.flatMap(({ at, name }) => [
    rule(x(at), HIGH - BOTTOM, x(at), HIGH - BOTTOM + 5, colours.faint),
    label(name, x(at), HIGH - BOTTOM + 19, { size: 12, colour: colours.faint, anchor: "middle" }),
  ]);
  return [...named, label(axisTitle, wide - 4, HIGH - 6, { size: 12, weight: 600, colour: colours.faint, anchor: "end" })];
}
