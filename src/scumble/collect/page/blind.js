// Tokens that are signed without being seen: RSABSSA-SHA384-PSS-Deterministic of RFC 9474, on the person's side.

const SALT = 48;
const HASH = "SHA-384";
const PSS = { name: "RSA-PSS", hash: HASH };

/** The issuer's key of a survey: SubjectPublicKeyInfo in base64. */
export async function issuerOf(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const key = await crypto.subtle.importKey("spki", bytes, PSS, true, ["verify"]);
  const { n, e } = await crypto.subtle.exportKey("jwk", key);
  return { key, n: number(fromText(n)), e: number(fromText(e)) };
}

/** A message that nobody can recognise: what the person keeps, and what is sent. Salt and 1/r are given by test vectors alone. */
export async function blinded(issuer, message, salt = crypto.getRandomValues(new Uint8Array(SALT)), inverse = null) {
  const { n, e } = issuer;
  const encoded = number(await encodedPss(message, bitsOf(n) - 1, salt));
  if (gcd(encoded, n) !== 1n) throw new Error("the message cannot be blinded");
  const kept = inverse ?? unit(n);
  return { message, inverse: kept, blinded: bytesOf((encoded * power(inverted(kept, n), e, n)) % n, length(n)) };
}

/** The signature of the message itself; refused where the issuer signed something else. */
export async function unblinded(issuer, { message, inverse }, signature) {
  const { n, key } = issuer;
  const plain = bytesOf((number(signature) * inverse) % n, length(n));
  if (!(await crypto.subtle.verify({ name: "RSA-PSS", saltLength: SALT }, key, plain, message))) throw new Error("the issuer signed something else");
  return plain;
}

async function encodedPss(message, bits, salt) {
  const size = Math.ceil(bits / 8);
  const digest = await hashed(new Uint8Array([...new Uint8Array(8), ...(await hashed(message)), ...salt]));
  const block = new Uint8Array(size - digest.length - 1);
  block[block.length - salt.length - 1] = 1;
  block.set(salt, block.length - salt.length);
  const mask = await maskOf(digest, block.length);
  const masked = block.map((byte, i) => byte ^ mask[i]);
  masked[0] &= 0xff >> (8 * size - bits);
  return new Uint8Array([...masked, ...digest, 0xbc]);
}

async function maskOf(seed, size) {
  const mask = [];
  for (let i = 0; mask.length < size; i++) mask.push(...(await hashed(new Uint8Array([...seed, 0, 0, i >> 8, i & 0xff]))));
  return mask.slice(0, size);
}

async function hashed(bytes) {
  return new Uint8Array(await crypto.subtle.digest(HASH, bytes));
}

/** A random number that has an inverse. */
function unit(n) {
  for (;;) {
    const drawn = number(crypto.getRandomValues(new Uint8Array(length(n) + 16))) % n;
    if (drawn > 1n && gcd(drawn, n) === 1n) return drawn;
  }
}

function power(base, exponent, n) {
  let [result, square] = [1n, base % n];
  for (let rest = exponent; rest; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % n;
    square = (square * square) % n;
  }
  return result;
}

function inverted(x, n) {
  let [a, b, u, v] = [x % n, n, 1n, 0n];
  while (b) {
    const whole = a / b;
    [a, b, u, v] = [b, a - whole * b, v, u - whole * v];
  }
  return ((u % n) + n) % n;
}

function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

function bitsOf(n) {
  return n.toString(2).length;
}

function length(n) {
  return Math.ceil(bitsOf(n) / 8);
}

/** Bytes as a number, the highest first. */
export function number(bytes) {
  return BigInt(`0x${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("") || "0"}`);
}

/** A number as so many bytes. */
export function bytesOf(whole, size) {
  return Uint8Array.from(whole.toString(16).padStart(2 * size, "0").match(/../g), (pair) => parseInt(pair, 16));
}

/** Bytes of base64url without padding. */
export function fromText(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}
