/** The question as a sentence of choices, and the filters below it. */


import { el, plain, put, shortened } from "./dom.js";
import { filterCard } from "./filters.js";
import { conditionsOf } from "./words.js";

const LONG = 60;

/** Puts the choices of a question on the page; `ask` is called with the question that a click makes. */
export function showControls(place, question, context, ask) {
  const focused = document.activeElement?.id;
  put(place, sentence(question, context, ask), filters(question, context, ask));
  if (focused) document.getElementById(focused)?.focus();
}

function sentence(question, context, ask) {
  const [first, second] = [question.by[0] ?? "", question.by[1] ?? ""];
  const by = (names) => ask({ ...question, by: names.filter(Boolean), ...(names[0] && !names[1] ? {} : { order: "group", top: null }) });
  const parts = [
    "Show ",
    measure(question, context, ask),
    " by ",
    columnChoice("by-1", "group by", first, context, [second], "nothing", (name) => by(name ? [name, second] : [])),
  ];
  if (first)
    parts.push(" and ", columnChoice("by-2", "and group by", second, context, [first], "nothing else", (name) => by([first, name])));
  return el("p", { class: "sentence" }, ...parts);
}

function measure(question, { askable }, ask) {
  const value = question.measure === "count" ? "count" : `${question.measure} ${question.of}`;
  const group = (label, kind) =>
    askable.summed.length > 0 && el("optgroup", { label }, askable.summed.map((name) => option(`${kind} ${name}`, `the ${kind === "avg" ? "average" : "total"} of ${plain(name)}`, value)));
  const choose = (event) => {
    const [kind, ...name] = event.target.value.split(" ");
    ask({ ...question, measure: kind, of: kind === "count" ? null : name.join(" ") });
  };
  return el(
    "select",
    { id: "measure", "aria-label": "what to show", onchange: choose },
    option("count", "the number of rows", value),
    group("averages", "avg"),
    group("totals", "sum"),
  );
}

function option(value, text, chosen) {
  return el("option", { value, text: shortened(text, LONG), selected: value === chosen });
}

/** A choice among columns, perturbed ones apart from public ones. */
function columnChoice(id, label, value, { askable, release }, without, none, choose) {
  const names = askable.grouped.filter((name) => !without.includes(name) || name === value);
  const perturbed = names.filter((name) => release.columns.get(name).domain);
  const others = names.filter((name) => !release.columns.get(name).domain);
  const group = (title, listed) => listed.length > 0 && el("optgroup", { label: title }, listed.map((name) => option(name, plain(name), value)));
  return el(
    "select",
    { id, "aria-label": label, onchange: (event) => choose(event.target.value) },
    option("", none, value),
    group("perturbed, so estimated", perturbed),
    group(release.form === "tuples" ? "columns" : "public, so exact", others),
  );
}

function filters(question, context, ask) {
  const { askable } = context;
  const used = question.where.map(({ column }) => column);
  const free = askable.filtered.filter((name) => !used.includes(name) && !context.drafts.has(name));
  const change = (part, next) => ask({ ...question, where: question.where.flatMap((own) => (own === part ? (next ?? []) : own)) });
  const cards = [
    ...question.where.map((part) => filterCard(part, context, (next) => change(part, next), conditionsOf([part])[0])),
    ...[...context.drafts].filter((name) => !used.includes(name)).map((name) =>
      filterCard({ column: name }, context, (next) => {
        context.drafts.delete(name);
        ask({ ...question, where: next ? [...question.where, next] : question.where });
      }, null),
    ),
  ];
  const add = el(
    "select",
    {
      id: "add-filter",
      "aria-label": "only rows where: choose a column",
      onchange: (event) => {
        context.drafts.add(event.target.value);
        context.open = event.target.value;
        ask(question);
      },
    },
    option("", cards.length ? "and …" : "all rows; choose a column to narrow it …", ""),
    free.map((name) => option(name, plain(name), "")),
  );
  return el("div", { class: "filters" }, el("span", { class: "filters-label", text: cards.length ? "Only rows where" : "Of" }), cards, free.length > 0 && add);
}

