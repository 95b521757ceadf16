/** The question as a sentence of choices, and the filters below it. */

import { el, named, plain, put, shortened } from "./dom.js";
import { filterCard } from "./filters.js";
import { conditionsOf } from "./words.js";

const LONG = 60;
const SOME = 10;

/** The choices of a question, made once: what a reader is typing in stays where it is. `ask` is called with the question that a click makes. */
export class Controls {
  constructor(place, context, ask) {
    Object.assign(this, { context, ask, question: null });
    this.measure = this._measure();
    this.by = [this._column("by-1", "group by", 0, "nothing"), this._column("by-2", "and group by", 1, "nothing else")];
    this.second = el("span", {}, " and ", this.by[1]);
    this.filters = el("div", { class: "filters" });
    put(place, el("p", { class: "sentence" }, "Show ", this.measure, " by ", this.by[0], this.second), this.filters);
  }

  /** Shows a question. */
  show(question) {
    this.question = question;
    this.measure.value = question.measure === "count" ? "count" : `${question.measure} ${question.of}`;
    this.by.forEach((choice, i) => (choice.value = question.by[i] ?? ""));
    this.second.hidden = question.by.length === 0;
    const focused = this.context.focus ?? document.activeElement?.id;
    this.context.focus = null;
    put(this.filters, this._filters());
    if (focused) document.getElementById(focused)?.focus();
  }

  _measure() {
    const { summed } = this.context.askable;
    const group = (title, kind, word) =>
      summed.length > 0 && el("optgroup", { label: title }, summed.map((name) => option(`${kind} ${name}`, `the ${word} of ${plain(name)}`)));
    const choose = (event) => {
      const [measure, ...name] = event.target.value.split(" ");
      this.ask({ ...this.question, measure, of: measure === "count" ? null : name.join(" ") });
    };
    return el(
      "select",
      { id: "measure", "aria-label": "what to show", onchange: choose },
      option("count", "the number of rows"),
      group("averages", "avg", "average"),
      group("totals", "sum", "total"),
    );
  }

  /** A choice among columns, perturbed ones apart from public ones. */
  _column(id, label, place, none) {
    const { askable, release } = this.context;
    const isPerturbed = (name) => Boolean(release.columns.get(name).domain);
    const group = (title, names) => names.length > 0 && el("optgroup", { label: title }, names.map((name) => option(name, plain(name))));
    return el(
      "select",
      { id, "aria-label": label, onchange: (event) => this._group(place, event.target.value) },
      option("", none),
      group("perturbed, so estimated", askable.grouped.filter(isPerturbed)),
      group(release.form === "tuples" ? "columns" : "public, so exact", askable.grouped.filter((name) => !isPerturbed(name))),
    );
  }

  /** A column takes the first or the second place; one that is in both leaves the other, and lines of two groups have no rank. */
  _group(place, name) {
    const by = [0, 1].map((own) => (own === place ? name : this.question.by[own]));
    if (by[1 - place] === name) by[1 - place] = "";
    const left = (by[0] || place === 1 ? by : []).filter(Boolean);
    this.ask({ ...this.question, by: left, ...(left.length === 1 ? {} : { order: "group", top: null }) });
  }

  _filters() {
    const { context, question, ask } = this;
    const used = question.where.map(({ column }) => column);
    const drafts = [...context.drafts].filter((name) => !used.includes(name));
    const free = context.askable.filtered.filter((name) => !used.includes(name) && !context.drafts.has(name));
    const change = (part, next) => ask({ ...question, where: question.where.flatMap((own) => (own === part ? (next ?? []) : own)) });
    const settle = (name, next) => {
      context.drafts.delete(name);
      ask({ ...question, where: next ? [...question.where, next] : question.where });
    };
    const cards = [
      ...question.where.map((part) => filterCard(part, context, (next) => change(part, next), conditionsOf([part])[0])),
      ...drafts.map((name) => filterCard({ column: name }, context, (next) => settle(name, next), null)),
    ];
    const said = el("span", { class: "filters-label", text: cards.length ? "Only rows where" : "Of all rows." });
    return [said, cards, free.length > 0 && this._menu(free, cards.length > 0)];
  }

  /** Columns that a filter can be added for. */
  _menu(names, more) {
    const { context, question, ask } = this;
    const add = (name) => {
      context.drafts.add(name);
      context.open = name;
      context.focus = `filter-${name}`;
      ask(question);
    };
    const list = el("ul", { class: "menu-list" });
    const show = (search) =>
      put(list, names.filter((name) => named(name).toLowerCase().includes(search)).map((name) => el("li", {}, el("button", { type: "button", class: "item", text: plain(name), onclick: () => add(name) }))));
    show("");
    const search = el("input", { type: "search", placeholder: "search", "aria-label": "search the columns", oninput: (event) => show(event.target.value.toLowerCase()) });
    return el("details", { class: "menu" }, el("summary", { id: "add-filter", class: "button", text: more ? "and …" : "Narrow it down …" }), el("div", { class: "menu-body" }, names.length > SOME && search, list));
  }
}

function option(value, text) {
  return el("option", { value, text: shortened(text, LONG) });
}
