/** One filter of a question: a card that opens, with the values of a column to tick, or two ends. */

import { filterOf } from "./askable.js";
import { el, named, plain } from "./dom.js";

/** Values up to which numbers are ticked one by one. */
const FEW = 12;
/** Values from which on they can be searched, and those that are shown at once. */
const SOME = 10;
const MOST = 300;

/** change: called with the condition, or with nothing where it is taken away; said: it in words, where it is one already. */
export function filterCard(part, context, change, said) {
  const { column } = part;
  const body = el("div", { class: "filter-body" });
  const details = el(
    "details",
    { class: "filter", open: context.open === column },
    el("summary", { id: `filter-${column}`, text: said ?? `${plain(column)} is …` }),
    body,
  );
  const fill = async () => {
    if (body.childElementCount > 0) return;
    body.append(await editor(part, context, change));
  };
  details.addEventListener("toggle", () => {
    if (details.open) {
      context.open = column;
      fill();
    } else if (context.open === column) context.open = null;
  });
  if (details.open) fill();
  const remove = el("button", { type: "button", class: "remove", "aria-label": `remove the filter on ${plain(column)}`, text: "×", onclick: () => change(null) });
  return el("span", { class: "filter-card" }, details, remove);
}

async function editor(part, context, change) {
  const column = context.release.columns.get(part.column);
  const how = filterOf(column);
  if (how === "between") return ends(part, column.domain.labels[0], column.domain.labels.at(-1), "number", change);
  const { labels, range } = await context.valuesOf(part.column);
  if (how === "days" && labels.length > FEW) return ends(part, ...outer(labels.filter((label) => label !== null)), "date", change);
  if ((how === "either" && !part.labels && (labels === null || labels.length > FEW)) || (part.labels === undefined && (part.low ?? part.high ?? null) !== null))
    return ends(part, range[0], range[1], "number", change);
  return ticks(part, labels, change);
}

const outer = (labels) => [labels[0], labels.at(-1)];

/** Two ends; either may be left open. */
function ends(part, least, most, type, change) {
  const input = (id, label, value, hint) =>
    el("label", { class: "end" }, `${label} `, el("input", { id: `${id}-${part.column}`, type, step: "any", value: value ?? "", placeholder: hint, min: type === "date" ? hint : null, max: null }));
  const low = input("low", "from", part.low ?? null, least);
  const high = input("high", "to", part.high ?? null, most);
  const read = (label) => {
    const { value } = label.querySelector("input");
    return value === "" ? null : type === "date" ? value : Number(value);
  };
  const apply = () => {
    let [from, to] = [read(low), read(high)];
    if (from !== null && to !== null && from > to) [from, to] = [to, from];
    if (from === null && to === null) change(null);
    else change({ column: part.column, low: from, high: to });
  };
  const form = el("form", { class: "ends" }, low, high, el("button", { type: "submit", text: "Apply" }), el("p", { class: "hint", text: `${least} to ${most} in all` }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  return form;
}

/** Values to tick; a change is made when the reader applies it. */
function ticks(part, labels, change) {
  const chosen = new Set(part.labels ?? []);
  const list = el("ul", { class: "ticks" });
  const show = (search) => {
    const fitting = labels.filter((label) => named(label).toLowerCase().includes(search.toLowerCase()));
    list.replaceChildren(
      ...fitting.slice(0, MOST).map((label) => {
        const box = el("input", { type: "checkbox", checked: chosen.has(label) });
        box.addEventListener("change", () => (box.checked ? chosen.add(label) : chosen.delete(label)));
        return el("li", {}, el("label", {}, box, ` ${named(label)}`));
      }),
      ...(fitting.length > MOST ? [el("li", { class: "hint", text: `${fitting.length - MOST} more: search for them` })] : []),
    );
  };
  show("");
  const search = el("input", { type: "search", placeholder: "search", "aria-label": `search the values of ${plain(part.column)}`, oninput: (event) => show(event.target.value) });
  const form = el(
    "form",
    {},
    labels.length > SOME && search,
    list,
    el("button", { type: "submit", text: "Apply" }),
    labels.length > 2 && el("button", { type: "button", class: "quiet", text: "None", onclick: () => { chosen.clear(); show(search.value); } }),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const kept = labels.filter((label) => chosen.has(label));
    change(kept.length > 0 && kept.length < labels.length ? { column: part.column, labels: kept } : null);
  });
  return form;
}
