/** Buttons that copy a text. */

import { el } from "./dom.js";

export function copied(id, text, content, about = "") {
  const button = el("button", { type: "button", id, text, "aria-label": about ? `${text} ${about}` : null });
  button.addEventListener("click", async () => {
    const done = await copy(content());
    button.textContent = done ? "Copied" : "Could not copy";
    document.getElementById("status").textContent = button.textContent;
    setTimeout(() => (button.textContent = text), 2000);
  });
  return button;
}

/** By the clipboard of the browser, or the old way where a page from a folder has none. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { value: text, class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
