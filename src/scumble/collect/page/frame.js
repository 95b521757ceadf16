// What every page of a survey has around it: title, who collects, the language, and the survey's name.

import { readSurvey } from "./survey.js";
import { make } from "./dom.js";
import { choose, languages, messagesOf, speaker, Texts, wanted } from "./words.js";

/** The survey, and how the page speaks of it; what goes wrong is told on the page. */
export async function opened() {
  try {
    return await read();
  } catch {
    return told("The server cannot be reached. Load the page again.");
  }
}

async function read() {
  const there = await languages();
  const first = wanted(there, null) ?? "en";
  let say = speaker(await messagesOf(first));
  if (!globalThis.crypto?.subtle) return told(say("insecure"));
  try {
    const survey = await readSurvey(await (await fetch("survey")).text(), await messagesOf("en"));
    const language = wanted(there, survey) ?? "en";
    const messages = await messagesOf(language);
    say = speaker(messages);
    const texts = new Texts(survey, language);
    framed(survey, texts, say, there, language);
    return { survey, texts, messages, say, language };
  } catch (error) {
    return told(say("unreadable", { why: error.message }));
  }
}

function told(sentence) {
  document.getElementById("main").replaceChildren(make("p", { class: "warning", role: "alert" }, sentence));
  return null;
}

function framed(survey, texts, say, there, language) {
  document.documentElement.lang = language;
  document.title = texts.title;
  const collector = survey.collector ? say("collector", { who: survey.collector }) : say("collector_unknown");
  const until = survey.until ? say("until", { until: survey.until.replace("T", " ").replace("Z", "") }) : null;
  document.getElementById("head").replaceChildren(
    picker(there, language, say),
    make("h1", {}, texts.title),
    ...(texts.purpose ? [make("p", { class: "purpose" }, texts.purpose)] : []),
    make("p", { class: "who" }, collector, survey.contact ? ` (${survey.contact})` : "", ". ", until),
  );
  document.getElementById("foot").replaceChildren(
    make("p", {}, say("survey_name", { digest: "" }).replace(/\.$/, ""), make("code", {}, survey.digest)),
    ...(survey.signed === true ? [] : [make("p", { class: "warning" }, say("unsigned"))]),
  );
}

function picker(there, language, say) {
  const options = Object.entries(there).map(([code, name]) => make("option", { value: code, lang: code, selected: code === language }, name));
  const turned = (event) => {
    choose(event.target.value);
    const address = new URL(location.href);
    address.searchParams.set("lang", event.target.value);
    location.replace(address);
  };
  return make("label", { class: "language" }, make("span", {}, say("choose_language")), make("select", { onchange: turned }, options));
}
