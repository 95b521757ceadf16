/** What drawings share: colours, letters, and how wide a text is. */

import { svg } from "./dom.js";

export const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/** Colours of a drawing on paper; on the screen they are those of the page. */
export const PAPER = { ink: "#17191c", faint: "#5d6470", rule: "#d9dce1", tint: "#cfe0f3", line: "#1d5c9e", back: "#ffffff" };

export function screenColours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(Object.keys(PAPER).map((name) => [name, style.getPropertyValue(`--${name}`).trim() || PAPER[name]]));
}

let ruler = null;

/** How many pixels wide a text is. */
export function width(text, size = 13, weight = 400) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `${weight} ${size}px ${SANS}`;
  return ruler.measureText(text).width;
}

/** A text that fits into so many pixels. */
export function fitted(text, room, size = 13, weight = 400) {
  if (width(text, size, weight) <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (width(`${text.slice(0, middle)}…`, size, weight) <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low).trimEnd()}…`;
}

/** A text of a drawing. */
export function label(text, x, y, { size = 13, weight = 400, colour, anchor = "start" }) {
  return svg("text", { x, y, "font-size": size, "font-weight": weight, fill: colour, "text-anchor": anchor, "font-family": SANS, text });
}

export function rule(x1, y1, x2, y2, colour, thick = 1) {
  return svg("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": thick });
}

/** An estimate with its interval on a horizontal scale: a line with ends and a dot; arrows where an end is open. */
export function whisker({ value, low, high }, scale, y, [from, to], colours) {
  const parts = [];
  const [a, b] = [Number.isFinite(low) ? scale(low) : from, Number.isFinite(high) ? scale(high) : to];
  if (!Number.isNaN(low) && !Number.isNaN(high)) {
    parts.push(svg("line", { x1: a, x2: b, y1: y, y2: y, stroke: colours.line, "stroke-width": 2.5, "stroke-linecap": "round", opacity: 0.55 }));
    for (const [end, x] of [[low, a], [high, b]])
      if (Number.isFinite(end)) parts.push(rule(x, y - 4, x, y + 4, colours.line, 1.5));
  }
  if (Number.isFinite(value)) parts.push(svg("circle", { cx: scale(value), cy: y, r: 4, fill: colours.line, stroke: colours.back, "stroke-width": 1.5 }));
  return parts;
}

/** A drawing of a size. */
export function drawing(wide, high, title, ...children) {
  return svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", "aria-label": title, xmlns: "http://www.w3.org/2000/svg" }, ...children);
}
