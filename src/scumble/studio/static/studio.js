"use strict";

/** Pages work without this script. With it, a form that is `data-live` is sent as it changes, and parts of the page follow. */

const PATIENCE = 250;

/** Takes over the parts of a page that was made anew, where they differ; the focus stays where it was. */
function follow(text) {
  const made = new DOMParser().parseFromString(text, "text/html");
  const focused = document.activeElement?.id;
  for (const part of document.querySelectorAll("[data-part]")) {
    const other = made.getElementById(part.id);
    if (!other && part.dataset.poll !== undefined) return location.reload(); // what was waited for is there
    if (other && other.outerHTML !== part.outerHTML) part.replaceWith(other);
  }
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
  poll();
}

async function page(address) {
  const answer = await fetch(address);
  if (answer.redirected && new URL(answer.url).pathname !== location.pathname) location.assign(answer.url);
  else follow(await answer.text());
}

/** A part that says how far something is looks again, until it is over. */
let waiting = null;
function poll() {
  const part = document.querySelector("[data-poll]");
  if (!part || waiting) return;
  waiting = setTimeout(() => {
    waiting = null;
    page(location.href).catch(() => poll());
  }, Number(part.dataset.poll));
}

let pending = null;
let number = 0;
function send(form) {
  clearTimeout(pending);
  pending = setTimeout(() => {
    const mine = ++number;
    const fields = new URLSearchParams(new FormData(form));
    const asked = form.method === "get" ? fetch(`${form.action}?${fields}`) : fetch(form.action, { method: "POST", body: fields });
    asked
      .then((answer) => answer.text())
      .then((text) => { if (mine === number) follow(text); })
      .catch(() => {});
  }, PATIENCE);
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-live]");
  if (form) send(form);
});

/** A slider says what it stands for while it is moved. */
document.addEventListener("input", (event) => {
  const { target } = event;
  if (target.type !== "range") return;
  const words = JSON.parse(target.dataset.words ?? "[]");
  const shown = words[Number(target.value) - Number(target.min)];
  if (shown === undefined) return;
  target.setAttribute("aria-valuetext", shown);
  const output = document.getElementById(target.dataset.output);
  if (output) output.textContent = shown;
});

poll();
