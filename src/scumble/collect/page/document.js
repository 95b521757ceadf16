// JSON as it stands in a document. A digest is taken of numbers as they are written, which JSON.parse forgets.

const TOKEN = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|(true|false|null))/y;
const DEEPEST = 50;

/** A number with its digits as they were written. */
export class Digits {
  constructor(text) {
    this.text = text;
  }
}

/** The document of a text: Maps, arrays, texts, Digits, truth values and null. */
export function parsed(text) {
  const tokens = tokensOf(text);
  const document = value(tokens, 0);
  if (!tokens.done) throw new SyntaxError("something follows the end of the document");
  return document;
}

function tokensOf(text) {
  let place = 0;
  let token = null;
  function next() {
    TOKEN.lastIndex = place;
    const found = TOKEN.exec(text);
    if (!found && text.slice(place).trim()) throw new SyntaxError("this is no JSON");
    token = found;
    place = found ? TOKEN.lastIndex : text.length;
  }
  next();
  return {
    get done() {
      return token === null;
    },
    sign(wanted) {
      const fits = token !== null && token[1] === wanted;
      if (fits) next();
      return fits;
    },
    take() {
      if (token === null) throw new SyntaxError("the document ends too early");
      const taken = token;
      next();
      return taken;
    },
  };
}

function value(tokens, depth) {
  if (depth > DEEPEST) throw new SyntaxError("the document is too deep");
  if (tokens.sign("{")) return members(tokens, depth);
  if (tokens.sign("[")) return elements(tokens, depth);
  const [, sign, text, digits, word] = tokens.take();
  if (sign) throw new SyntaxError(`${sign} stands where a value should`);
  if (text !== undefined) return JSON.parse(text);
  return digits === undefined ? { true: true, false: false, null: null }[word] : new Digits(digits);
}

function members(tokens, depth) {
  const fields = new Map();
  if (tokens.sign("}")) return fields;
  do {
    const name = value(tokens, DEEPEST);
    if (typeof name !== "string" || fields.has(name) || !tokens.sign(":")) throw new SyntaxError("a field is wrong");
    fields.set(name, value(tokens, depth + 1));
  } while (tokens.sign(","));
  if (!tokens.sign("}")) throw new SyntaxError("an object has no end");
  return fields;
}

function elements(tokens, depth) {
  const list = [];
  if (tokens.sign("]")) return list;
  do list.push(value(tokens, depth + 1));
  while (tokens.sign(","));
  if (!tokens.sign("]")) throw new SyntaxError("a list has no end");
  return list;
}

/** The text of which digests are taken: keys by their code points, ", " and ": " between parts. */
export function canonical(node) {
  if (node instanceof Digits) return node.text;
  if (Array.isArray(node)) return `[${node.map(canonical).join(", ")}]`;
  if (!(node instanceof Map)) return JSON.stringify(node);
  const names = [...node.keys()].sort(byCodePoints);
  return `{${names.map((name) => `${JSON.stringify(name)}: ${canonical(node.get(name))}`).join(", ")}}`;
}

function byCodePoints(one, other) {
  const [first, second] = [Array.from(one), Array.from(other)];
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const apart = first[i].codePointAt(0) - second[i].codePointAt(0);
    if (apart) return apart;
  }
  return first.length - second.length;
}

/** The same as plain objects and numbers; whole numbers that a number cannot hold are BigInts. */
export function plain(node) {
  if (node instanceof Digits) return number(node.text);
  if (Array.isArray(node)) return node.map(plain);
  if (!(node instanceof Map)) return node;
  return Object.assign(Object.create(null), Object.fromEntries([...node].map(([name, held]) => [name, plain(held)])));
}

function number(text) {
  const near = Number(text);
  return /^-?[0-9]+$/.test(text) && !Number.isSafeInteger(near) ? BigInt(text) : near;
}

/** SHA-256 of a document's canonical text, in hexadecimal. */
export async function digestOf(node) {
  return hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(node))));
}

/** Bytes in hexadecimal. */
export function hex(bytes) {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
