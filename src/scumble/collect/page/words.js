// The languages of the page: message files, and the survey's own texts.

import { filled } from "./promise.js";

const KEY = "scumble.language";

async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.json();
}

/** The message files that there are, code -> name of the language. */
export function languages() {
  return fetched("page/languages");
}

/** A message file; what it does not have is in English. */
export async function messagesOf(language) {
  const english = await fetched("page/messages/en.json");
  return language === "en" ? english : { ...english, ...(await fetched(`page/messages/${language}.json`)) };
}

/** The language that a reader wants most of those that there are. */
export function wanted(there, survey) {
  const asked = [new URLSearchParams(location.search).get("lang"), held(), ...navigator.languages, survey?.language, "en"];
  return asked.filter(Boolean).map((each) => each.split("-")[0]).find((each) => Object.hasOwn(there, each));
}

function held() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Remembers a language that was chosen. */
export function choose(language) {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    return;
  }
}

/** The words of a page in one language: a function of the message's name and its numbers. */
export function speaker(messages) {
  return (name, numbers = {}) => filled(messages[name] ?? name, numbers);
}

/** What the survey says itself, in a language where it can. */
export class Texts {
  constructor(survey, language) {
    this.survey = survey;
    this.own = survey.texts?.[language] ?? {};
  }

  get title() {
    return this.own.title ?? this.survey.title;
  }

  get purpose() {
    return this.own.purpose ?? this.survey.purpose;
  }

  ask(question) {
    return this.own.columns?.[question.name]?.ask ?? question.ask;
  }

  help(question) {
    return this.own.columns?.[question.name]?.help ?? question.help;
  }

  /** What people read for a value; none is the page's own words. */
  label(question, text, none) {
    const own = this.own.columns?.[question.name]?.labels?.[text];
    return own ?? question.labels?.[text] ?? (text === "" ? none : text);
  }
}
