// What people answered so far, for whoever may see it: shares and averages with their intervals, drawn and in a table.

import { periodOf } from "./answers.js";
import { make, show } from "./dom.js";
import { opened } from "./frame.js";

const EVERY = 10_000;
const MOST_LINES = 30;
const main = document.getElementById("main");

function quoted(name) {
  return `"${name.replaceAll('"', '""')}"`;
}

class Live {
  constructor(page) {
    Object.assign(this, page);
    this.token = "";
    this.counted = -1;
  }

  start() {
    if (!this.survey.live) return show(main, make("p", { class: "warning" }, this.say("live_hidden")));
    return this.survey.live.readers === "token" ? this.door() : this.follow();
  }

  door() {
    const { say } = this;
    const enter = (event) => {
      event.preventDefault();
      this.token = event.target.elements.token.value.trim();
      this.follow();
    };
    show(main, make("form", { onsubmit: enter, autocomplete: "off" },
      make("div", { class: "question" }, make("label", { for: "token" }, make("span", { class: "ask" }, say("live_token"))), make("input", { id: "token", name: "token", type: "password" })),
      make("button", { type: "submit", class: "main" }, say("live_show"))));
  }

  /** Shows it, and looks again after a while. */
  async follow() {
    try {
      await this.renew();
    } catch (error) {
      if (this.counted < 0) show(main, make("p", { role: "alert", class: "warning" }, error.message));
      if (error.final) return;
    }
    setTimeout(() => this.follow(), EVERY);
  }

  async ask(sql) {
    const given = new URLSearchParams({ sql });
    if (this.survey.period) given.set("period", periodOf(this.survey.period));
    const headers = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    const answer = await fetch(`query?${given}`, { headers, credentials: "omit", signal: AbortSignal.timeout(60_000) });
    const document = await answer.json().catch(() => ({}));
    if (answer.ok) return document;
    const none = answer.status === 422 && this.counted < 0;
    const sentence = none ? this.say("live_none", { batch: this.survey.live.batch }) : this.say("live_wrong", { why: document.error ?? answer.status });
    throw Object.assign(new Error(sentence), { final: [401, 404].includes(answer.status) });
  }

  async renew() {
    const { answers, level } = await this.ask("SELECT COUNT(*) AS n FROM release");
    if (answers === this.counted) return;
    const parts = [];
    for (const question of this.survey.questions) parts.push(await this.part(question, answers));
    this.counted = answers;
    const { say, survey } = this;
    show(main,
      make("section", { "aria-labelledby": "live" },
        make("h2", { id: "live" }, say("live")),
        make("p", { role: "status" }, make("strong", {}, say("live_count", { answers: this.number(answers, 0) }))),
        make("p", { class: "aside" }, say("live_help", { level: `${Math.round(100 * level)}%`, batch: survey.live.batch })),
        parts),
      make("p", {}, make("a", { href: "./" }, say("to_survey"))));
  }

  async part(question, answers) {
    const name = quoted(question.name);
    if (question.grid) return this.average(question, await this.ask(`SELECT AVG(${name}) AS n FROM release`));
    const { rows } = await this.ask(`SELECT ${name} AS answer, COUNT(*) AS n FROM release GROUP BY ${name}`);
    const known = new Map(rows.map((row) => [row.answer === null ? "" : String(row.answer), row]));
    const lines = question.values.filter((text) => known.has(text)).slice(0, MOST_LINES);
    return this.table(question, lines.map((text) => {
      const { n, n_low: low, n_high: high } = known.get(text);
      const share = (count) => Math.min(1, Math.max(0, count / answers));
      return { label: this.texts.label(question, text, this.say("no_answer")), at: share(n), low: share(low), high: share(high), percent: true };
    }));
  }

  average(question, { rows }) {
    const [low, high] = [Number(question.grid.low), Number(question.grid.high)];
    const share = (value) => Math.min(1, Math.max(0, (value - low) / (high - low)));
    const [{ n, n_low: from, n_high: to }] = rows;
    const inside = (value) => Math.min(high, Math.max(low, value));
    const said = [n, from, to].map((value) => this.number(inside(value), 2));
    return this.table(question, [{ label: this.say("average_row"), at: share(n), low: share(from), high: share(to), said }]);
  }

  table(question, lines) {
    const { say, texts } = this;
    const rows = lines.map((line) => {
      const [at, low, high] = line.said ?? [line.at, line.low, line.high].map((share) => `${this.number(100 * share, 1)}%`);
      return make("tr", {}, make("th", { scope: "row" }, line.label), make("td", { class: "bar" }, bar(line)), make("td", { class: "figure" }, at), make("td", { class: "figure" }, `${low} – ${high}`));
    });
    return make("table", { class: "live" }, make("caption", {}, texts.ask(question)),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say("answer_column")), make("td", {}), make("th", { scope: "col" }, say("share_column")), make("th", { scope: "col" }, say("interval_column")))),
      make("tbody", {}, rows));
  }

  number(value, decimals) {
    return value.toLocaleString(this.language, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  }
}

/** The estimate as a bar and its interval as a line across it. */
function bar({ at, low, high }) {
  const x = (share) => String(100 * share);
  return make("svg", { viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" },
    make("rect", { class: "track", x: "0", y: "3", width: "100", height: "10" }),
    make("rect", { class: "fill", x: "0", y: "3", width: x(at), height: "10" }),
    make("line", { class: "interval", x1: x(low), x2: x(high), y1: "8", y2: "8" }),
    make("line", { class: "interval", x1: x(low), x2: x(low), y1: "4", y2: "12" }),
    make("line", { class: "interval", x1: x(high), x2: x(high), y1: "4", y2: "12" }));
}

const page = await opened();
if (page) new Live(page).start();
