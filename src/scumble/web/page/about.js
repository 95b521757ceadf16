/** What was published: columns, what is guaranteed, and what this page is and is not. */

import { many } from "../estimate/arrays.js";
import { el, plain, put } from "./dom.js";
import { nameOfFolder } from "./words.js";

export function showAbout(place, foot, release) {
  const { manifest, columns, facts } = release;
  put(
    place,
    el("h2", { text: "What was published" }),
    columnTable(columns),
    el("h2", { text: "What is guaranteed" }),
    guarantees(manifest),
    el("h2", { text: "About this page" }),
    paragraphs(manifest, facts.asked),
  );
  put(foot, `${manifest.software} · mechanism ${manifest.mechanism} · ${many(manifest.rows)} rows. This page loads nothing and sends nothing.`);
}

function columnTable(columns) {
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "the columns" },
    el(
      "table",
      { class: "columns" },
      el("caption", { class: "unseen", text: "The columns" }),
      el("thead", {}, el("tr", {}, ["column", "published", "type"].map((text) => el("th", { scope: "col", class: "words", text })))),
      el(
        "tbody",
        {},
        [...columns.values()].map(({ name, became, type, domain }) =>
          el("tr", {}, el("th", { scope: "row", class: "words" }, plain(name), domain ? el("span", { class: "tag", text: "perturbed" }) : null), el("td", { class: "words", text: plain(became) }), el("td", { class: "words faint", text: type })),
        ),
      ),
    ),
  );
}

function guarantees({ guarantees: claimed, not_covered: open }) {
  const conditions = [...new Set(claimed.flatMap((guarantee) => guarantee.conditions))];
  const list = (sentences) => el("ul", {}, sentences.map((sentence) => el("li", { text: plain(sentence) })));
  return el(
    "div",
    {},
    claimed.length ? list(claimed.map(({ statement }) => statement)) : el("p", { text: "Nothing: no bound holds, or none was asked for." }),
    conditions.length > 0 && el("details", {}, el("summary", { text: `under these conditions (${conditions.length})` }), list(conditions)),
    open.length > 0 && el("details", {}, el("summary", { text: `not covered (${open.length})` }), list(open)),
  );
}

function paragraphs({ rows }, asked) {
  const folder = nameOfFolder() ?? "NAME.release";
  return el(
    "div",
    {},
    asked && el("p", { text: `It reads the ${many(rows)} published rows in your browser and computes the answers there, with the same estimates as the command scumble query.` }),
    el("p", { text: "What it says of guarantees is what the manifest claims; that the release is what it claims to be is checked by" }),
    el("pre", { tabindex: 0, "aria-label": "the command that verifies" }, el("code", { text: `scumble verify ${folder}` })),
    asked && el("p", { text: "More questions than can be clicked (shares, quantiles, regressions, several conditions joined by OR) are answered by scumble query, in SQL." }),
    el("p", { text: "README.md beside this page says how to compute with the table by hand." }),
  );
}
