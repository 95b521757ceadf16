/** Two groups: a table of estimates, each with its interval, shaded by how large it is. On the screen it is a table, on paper a drawing. */

import { drawing, fitted, label, rule, width } from "./drawing.js";
import { el, svg } from "./dom.js";

const LEAST = 0.06;

/** Lines by the labels of two groups: { rows, columns, cell(row, column) }. */
export function crossed(lines) {
  const distinct = (place) => [...new Map(lines.map(({ names, keys }) => [keys[place], { key: keys[place], name: names[place] }])).values()];
  const cells = new Map(lines.map((line) => [line.keys.join(), line]));
  const sizes = lines.map(({ value }) => Math.abs(value)).filter(Number.isFinite).sort((a, b) => a - b);
  const most = sizes[Math.floor(0.95 * (sizes.length - 1))] ?? 0; // a few wild ones do not leave the others pale
  return {
    rows: distinct(0),
    columns: distinct(1),
    cell: (row, column) => cells.get([row.key, column.key].join()) ?? null,
    share: (line) => (line && Number.isFinite(line.value) && most > 0 ? Math.min(1, Math.max(0, line.value) / most) : 0),
  };
}

export function crosstab(lines, [first, second], caption) {
  const table = crossed(lines);
  const cell = (row, column) => {
    const line = table.cell(row, column);
    const place = el("td", {}, line ? [el("span", { class: "figure", text: line.text }), el("span", { class: "interval", text: line.interval })] : "–");
    place.style.setProperty("--share", String(LEAST + (1 - LEAST) * table.share(line)));
    return place;
  };
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      { class: "crosstab" },
      el("caption", { class: "unseen", text: caption }),
      el(
        "thead",
        {},
        el("tr", {}, el("td"), el("th", { scope: "colgroup", colspan: String(table.columns.length), class: "axis", text: second })),
        el("tr", {}, el("th", { scope: "col", class: "axis", text: first }), table.columns.map(({ name }) => el("th", { scope: "col", text: name }))),
      ),
      el("tbody", {}, table.rows.map((row) => el("tr", {}, el("th", { scope: "row", text: row.name }), table.columns.map((column) => cell(row, column))))),
    ),
  );
}

/** The same as a drawing. */
export function crosstabDrawing(lines, [first, second], colours, title) {
  const table = crossed(lines);
  const names = Math.min(220, Math.max(width(first, 13, 600), ...table.rows.map(({ name }) => width(name))) + 16);
  const each = Math.max(...lines.map(({ text, interval }) => Math.max(width(text, 14, 600), width(interval, 11)))) + 20;
  const wide = names + each * table.columns.length;
  const high = 52 + 42 * table.rows.length;
  const cells = table.rows.flatMap((row, i) =>
    table.columns.flatMap((column, k) => {
      const [x, y, line] = [names + k * each, 52 + i * 42, table.cell(row, column)];
      if (!line) return [];
      return [
        svg("rect", { x, y, width: each - 2, height: 40, fill: colours.line, opacity: (LEAST + (1 - LEAST) * table.share(line)) * 0.45 }),
        label(line.text, x + each / 2, y + 18, { size: 14, weight: 600, colour: colours.ink, anchor: "middle" }),
        label(line.interval, x + each / 2, y + 33, { size: 11, colour: colours.ink, anchor: "middle" }),
      ];
    }),
  );
  return drawing(
    wide,
    high,
    title,
    label(second, names + 4, 16, { weight: 600, colour: colours.faint }),
    label(first, 0, 40, { weight: 600, colour: colours.faint }),
    table.columns.map(({ name }, k) => label(fitted(name, each - 8), names + (k + 0.5) * each, 40, { colour: colours.ink, anchor: "middle" })),
    rule(0, 49, wide, 49, colours.faint),
    table.rows.map(({ name }, i) => label(fitted(name, names - 12), 0, 52 + i * 42 + 25, { colour: colours.ink })),
    cells,
  );
}
