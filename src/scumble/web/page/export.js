/** Answers out of the page: as lines of comma-separated values, and as an image. */

import { drawing, fitted, label, PAPER, width } from "./drawing.js";
import { svg } from "./dom.js";

const RISKY = /^[=+\-@\t\r]/;

/** A text as a cell: one that a spreadsheet would take for a formula gets an apostrophe before it. */
function cell(text) {
  const safe = RISKY.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A number with all its digits; what cannot be said is empty. */
const number = (x) => (Number.isFinite(x) ? String(x) : "");

/** The group columns, then a, a_se, a_low, a_high for the aggregate a, as `scumble query --format csv` has them. */
export function csvOf({ groups, estimate }) {
  const { name, value, se, low, high, least, bound } = estimate;
  const figures = [["", value], ["_se", se], ["_low", low], ["_high", high], ["_least", least], ["_bound", bound]].filter(([, numbers]) => numbers);
  const head = [...groups.map((group) => cell(group.name)), ...figures.map(([end]) => cell(name + end))];
  const lines = Array.from(value, (_, i) => [
    ...groups.map(({ labels }) => (labels[i] === null ? "" : cell(labels[i]))),
    ...figures.map(([, numbers]) => number(numbers[i])),
  ]);
  return [head, ...lines].map((line) => line.join(",")).join("\n") + "\n";
}

/** Hands a file to the reader. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const MARGIN = 28;

/** A drawing with title, sentences and source on paper: what stands alone must say what it is. */
export function sheet(inner, { title, subtitle, notes, source }) {
  const wide = Number(inner.getAttribute("width")) + 2 * MARGIN;
  const text = (words, size) => wrapped(words, wide - 2 * MARGIN, size);
  const parts = [];
  let y = MARGIN + 22;
  const write = (lines, size, weight, colour) => {
    for (const words of lines) {
      parts.push(label(words, MARGIN, y, { size, weight, colour }));
      y += size * 1.4;
    }
  };
  write(text(title, 22), 22, 700, PAPER.ink);
  write(text(subtitle, 14), 14, 400, PAPER.faint);
  y += 8;
  inner.setAttribute("x", MARGIN);
  inner.setAttribute("y", y);
  y += Number(inner.getAttribute("height")) + 24;
  write(notes.flatMap((note) => text(`Note: ${note}`, 12)), 12, 400, PAPER.faint);
  write(text(source, 12), 12, 400, PAPER.faint);
  const high = y + MARGIN - 12;
  return drawing(wide, high, title, svg("rect", { width: wide, height: high, fill: PAPER.back }), inner, parts);
}

/** Words in lines of so many pixels. */
function wrapped(words, room, size) {
  const lines = [];
  let line = "";
  for (const word of words.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (width(longer, size) <= room || !line) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map((own) => fitted(own, room, size));
}

/** A drawing as an image, twice as fine as the screen. */
export async function pngOf(drawn) {
  const [wide, high] = ["width", "height"].map((name) => Number(drawn.getAttribute(name)));
  const text = new XMLSerializer().serializeToString(drawn);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const fine = Math.min(2, 16_000 / Math.max(wide, high));
  [canvas.width, canvas.height] = [wide * fine, high * fine];
  const context = canvas.getContext("2d");
  context.scale(fine, fine);
  context.drawImage(image, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

