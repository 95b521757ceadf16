// The questions: radio buttons for a few answers, a list for many, a field for numbers.

import { make } from "./dom.js";
import { placeOf } from "./survey.js";

const FEW = 12;

/** The form of a survey; `looked` is called with the answers, name -> text, and the code. */
export function form({ survey, texts, say }, former, looked) {
  const problem = make("p", { class: "warning", role: "alert", hidden: true });
  const fields = survey.questions.map((question, i) => field(question, i, texts, say, former.record?.[question.name]));
  const code = survey.tokens === "open" ? null : codeField(say, former.code ?? "");
  const submit = (event) => {
    event.preventDefault();
    const record = Object.fromEntries(survey.questions.map((question, i) => [question.name, read(event.target, question, i)]));
    const wrong = survey.questions.findIndex((question) => record[question.name] === null || placeOf(question, record[question.name]) < 0);
    problem.hidden = wrong < 0;
    if (wrong >= 0) return complain(event.target, problem, survey.questions[wrong], wrong, record, texts, say);
    return looked(record, code ? event.target.elements.code.value.trim() : "");
  };
  return make("form", { novalidate: true, autocomplete: "off", onsubmit: submit }, fields, code, problem,
    make("p", { class: "aside" }, say("nothing_yet")), make("button", { type: "submit", class: "main" }, say("look")));
}

function complain(form, problem, question, i, record, texts, say) {
  const name = record[question.name] === null ? "missing_one" : "not_an_answer";
  problem.textContent = say(name, { what: texts.ask(question) });
  form.querySelector(`[name="q${i}"]`).focus();
}

/** What was answered, as text; null where nothing was. */
function read(form, question, i) {
  const held = form.elements[`q${i}`];
  if (question.grid) return held.value.trim().replace(",", ".") || null;
  if (question.size > FEW) return held.value === "" ? null : question.values[Number(held.value)];
  const chosen = form.querySelector(`[name="q${i}"]:checked`);
  return chosen ? question.values[Number(chosen.value)] : null;
}

function field(question, i, texts, say, former) {
  const mark = make("span", { class: question.sensitive ? "mark coin" : "mark" }, say(question.sensitive ? "by_chance" : "as_it_is"));
  const help = texts.help(question) ? make("p", { class: "help", id: `help${i}` }, texts.help(question)) : null;
  const about = help ? `help${i}` : null;
  if (question.grid) return numberField(question, i, texts, say, former, mark, help);
  const labels = question.values.map((text) => texts.label(question, text, say("no_answer")));
  if (question.size > FEW) {
    const options = labels.map((label, place) => make("option", { value: String(place), selected: question.values[place] === former }, label));
    const list = make("select", { id: `q${i}`, name: `q${i}`, "aria-describedby": about }, make("option", { value: "" }, say("choose")), options);
    return make("div", { class: "question" }, make("label", { for: `q${i}` }, make("span", { class: "ask" }, texts.ask(question)), mark), help, list);
  }
  const choices = labels.map((label, place) =>
    make("label", { class: "choice" }, make("input", { type: "radio", name: `q${i}`, value: String(place), checked: question.values[place] === former }), make("span", {}, label)));
  return make("fieldset", { class: "question", "aria-describedby": about }, make("legend", {}, make("span", { class: "ask" }, texts.ask(question)), mark), help, choices);
}

function numberField(question, i, texts, say, former, mark, help) {
  const { low, high, step } = question.grid;
  const range = say(step === "1" ? "range" : "range_by", { low, high, step });
  const whole = !/[.]/.test(low + step);
  const input = make("input", { id: `q${i}`, name: `q${i}`, type: "text", inputmode: low.startsWith("-") ? "text" : whole ? "numeric" : "decimal", "aria-describedby": `range${i}`, value: former ?? "" });
  return make("div", { class: "question" },
    make("label", { for: `q${i}` }, make("span", { class: "ask" }, texts.ask(question)), mark), help, input, make("p", { class: "help", id: `range${i}` }, range));
}

function codeField(say, former) {
  return make("div", { class: "question" },
    make("label", { for: "code" }, make("span", { class: "ask" }, say("code"))),
    make("input", { id: "code", name: "code", type: "text", autocapitalize: "characters", spellcheck: "false", "aria-describedby": "codehelp", value: former }),
    make("p", { class: "help", id: "codehelp" }, say("code_help")));
}
