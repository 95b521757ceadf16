// What this browser keeps for the page: a secret, and the message that was sent or waits. No true answer is in it.

import { keyedBy } from "./coins.js";

const SECRET = "scumble.secret";
const MESSAGE = "scumble.message.";
const BLINDING = "scumble.blinding.";
const LATER = [408, 425, 429, 500, 502, 503, 504];
const FIRST_WAIT = 2;
const LONGEST_WAIT = 120;

/** The browser's storage, or one that forgets. */
function storage() {
  try {
    localStorage.setItem("scumble.try", "1");
    localStorage.removeItem("scumble.try");
    return { kept: true, at: localStorage };
  } catch {
    const held = new Map();
    const at = { getItem: (name) => held.get(name) ?? null, setItem: (name, text) => held.set(name, text), removeItem: (name) => held.delete(name) };
    return { kept: false, at };
  }
}

export class Device {
  constructor() {
    const { kept, at } = storage();
    this.kept = kept;
    this._at = at;
  }

  /** A function that makes bytes of the device's secret, which is drawn where there is none. */
  keyed() {
    let text = this._at.getItem(SECRET);
    if (!/^[0-9a-f]{64}$/.test(text ?? "")) {
      const drawn = crypto.getRandomValues(new Uint8Array(32));
      text = [...drawn].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      this._at.setItem(SECRET, text);
    }
    return keyedBy(Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16)));
  }

  /** The message to a survey in a period: {body, state}, or null. */
  message(survey, period) {
    const text = this._at.getItem(`${MESSAGE}${survey.digest}.${period}`);
    return text === null ? null : JSON.parse(text);
  }

  keep(survey, period, message) {
    this._at.setItem(`${MESSAGE}${survey.digest}.${period}`, JSON.stringify(message));
  }

  drop(survey, period) {
    this._at.removeItem(`${MESSAGE}${survey.digest}.${period}`);
  }

  /** What was blinded for a token in a period, or null. */
  blinding(survey, period) {
    const text = this._at.getItem(`${BLINDING}${survey.digest}.${period}`);
    return text === null ? null : JSON.parse(text);
  }

  keepBlinding(survey, period, blinding) {
    this._at.setItem(`${BLINDING}${survey.digest}.${period}`, JSON.stringify(blinding));
  }

  /** Forgets the person: the next one has coins of the own. */
  forget(survey, period) {
    this._at.removeItem(SECRET);
    this._at.removeItem(`${BLINDING}${survey.digest}.${period}`);
    this.drop(survey, period);
  }
}

/** Seconds to wait before the n-th try: longer and longer, and no two devices alike. */
export function pause(tries) {
  return Math.ceil(Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** tries) * (0.5 + Math.random() / 2));
}

/** What the server says to a body: whether it was done, or may be later and after how many seconds, its document, and why not. */
export async function post(address, body, type) {
  let answer;
  try {
    answer = await fetch(address, { method: "POST", headers: { "Content-Type": type }, body, redirect: "error", credentials: "omit", signal: AbortSignal.timeout(30_000) });
  } catch {
    return { done: false, later: true, why: "", after: 0 };
  }
  const document = await answer.json().catch(() => ({}));
  return {
    done: answer.status === 200,
    later: LATER.includes(answer.status),
    document,
    why: document.error ?? String(answer.status),
    after: Number(answer.headers.get("Retry-After")) || 0,
  };
}
