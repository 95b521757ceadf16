// Coins by whole numbers alone: a uniform word and the place of an answer give a code. docs/protocol.md has the rules.

const SEPARATOR = "\u001f";
const LABEL = "scumble-coin 1";
const SHORT = 32;

/** What a word makes of a place: the code and whether the coin kept the answer; null where it is drawn again. */
export function decided(channel, place, word) {
  return channel.kind === "cyclic" ? ofDesign(channel, place, word) : ofReplacement(channel, place, word);
}

function ofReplacement(channel, place, word) {
  const threshold = thresholdOf(channel, place);
  if (word < threshold) return { code: place, kept: true };
  const lots = channel.lots ? channel.lots.map(BigInt) : null;
  const all = lots ? total(lots) : BigInt(channel.size);
  const drawn = (word - threshold) / (((1n << BigInt(channel.bits)) - threshold) / all);
  if (drawn >= all) return null;
  return { code: lots ? lotHolding(lots, drawn) : Number(drawn), kept: false };
}

function ofDesign(channel, place, word) {
  const codes = BigInt(channel.codes);
  const [inside, outside] = [BigInt(channel.inside), BigInt(channel.outside)];
  const end = BigInt(channel.offsets.length) * inside;
  const moved = (offset) => Number((BigInt(place) + BigInt(offset)) % codes);
  if (word < end) return { code: moved(channel.offsets[Number(word / inside)]), kept: true };
  const rest = others(channel);
  const drawn = (word - end) / outside;
  return drawn < BigInt(rest.length) ? { code: moved(rest[Number(drawn)]), kept: false } : null;
}

function others(channel) {
  const taken = new Set(channel.offsets.map(Number));
  return Array.from({ length: channel.codes }, (_, code) => code).filter((code) => !taken.has(code));
}

function thresholdOf(channel, place) {
  return BigInt(Array.isArray(channel.threshold) ? channel.threshold[place] : channel.threshold);
}

function lotHolding(lots, drawn) {
  let before = 0n;
  return lots.findIndex((lot) => (before += lot) > drawn);
}

function total(numbers) {
  return numbers.reduce((sum, each) => sum + each, 0n);
}

/** The stages of a channel: what is memoised, and what is laid over it anew each time, if anything is. */
export function stagesOf(channel) {
  if (!channel.stages) return [channel, null];
  const stage = (threshold) => ({ size: channel.size, bits: channel.stages.bits, threshold });
  return [stage(channel.stages.memoised), stage(channel.stages.fresh)];
}

/** How probably each code is sent for an answer at a place, over one common denominator: a function of the code, and that number. */
export function chances(channel, place) {
  if (channel.kind === "cyclic") {
    const inside = new Set(channel.offsets.map((offset) => (place + Number(offset)) % channel.codes));
    const many = BigInt(channel.offsets.length);
    const whole = many * BigInt(channel.inside) + (BigInt(channel.codes) - many) * BigInt(channel.outside);
    return [(code) => BigInt(inside.has(code) ? channel.inside : channel.outside), whole];
  }
  const threshold = thresholdOf(channel, place);
  const all = channel.lots ? total(channel.lots.map(BigInt)) : BigInt(channel.size);
  const share = ((1n << BigInt(channel.bits)) - threshold) / all;
  const lot = (code) => share * (channel.lots ? BigInt(channel.lots[code]) : 1n);
  return [(code) => lot(code) + (code === place ? threshold : 0n), threshold + all * share];
}

/** The factor by which a code changes the odds of two answers at most, as [numerator, denominator]; null where there is no bound. */
export function factor(channel) {
  const [memoised] = stagesOf(channel);
  if (memoised.kind === "cyclic") return reduced(BigInt(memoised.inside), BigInt(memoised.outside));
  const own = Array.isArray(memoised.threshold);
  const rates = [memoised.threshold].flat().map((_, place) => rate(memoised, place));
  const rising = [...rates].sort((one, other) => less(one.drawn, other.drawn));
  let largest = [1n, 1n];
  for (let code = 0; code < (own || memoised.lots ? memoised.size : 1); code++) {
    const lot = memoised.lots ? BigInt(memoised.lots[code]) : 1n;
    const { threshold, drawn } = rates[own ? code : 0];
    const apart = own ? [rising, [...rising.slice(-2)].reverse()].map((end) => end.find((each) => each.place !== code)) : rising;
    const each = [[threshold + drawn[0] * lot, drawn[1]], ...apart.map((other) => [other.drawn[0] * lot, other.drawn[1]])].sort(less);
    const [low, high] = [each[0], each[each.length - 1]];
    if (low[0] === 0n) return null;
    const ratio = [high[0] * low[1], high[1] * low[0]];
    if (less(largest, ratio) < 0) largest = ratio;
  }
  return reduced(...largest);
}

/** How probably one lot is drawn for an answer at a place. */
function rate(channel, place) {
  const threshold = thresholdOf(channel, place);
  const all = channel.lots ? total(channel.lots.map(BigInt)) : BigInt(channel.size);
  const share = ((1n << BigInt(channel.bits)) - threshold) / all;
  return { place, threshold, drawn: [share, threshold + all * share] };
}

function less([up, down], [other, under]) {
  const [one, two] = [up * under, other * down];
  return one < two ? -1 : one > two ? 1 : 0;
}

/** A fraction in lowest terms. */
export function reduced(up, down) {
  let [a, b] = [up, down];
  while (b) [a, b] = [b, a % b];
  return [up / a, down / a];
}

function asWord(bytes, bits) {
  const view = new DataView(bytes.buffer ?? bytes, bytes.byteOffset ?? 0);
  return bits === SHORT ? BigInt(view.getUint32(0, true)) : view.getBigUint64(0, true) >> 11n;
}

/** New words each time. */
export function freshWords(bits) {
  return async () => asWord(crypto.getRandomValues(new Uint8Array(8)), bits);
}

/** The same words each time, one after the other: a keyed function of what they are for. */
export function memoisedWords(bits, keyed, series, stream, place) {
  let turn = 0;
  return async () => asWord(await keyed(LABEL, series, stream, String(place), String(turn++)), bits);
}

/** Bytes that are the same for the same purpose, and tell nothing of the secret. */
export async function keyedBy(secret) {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return async (...about) =>
    new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(about.join(SEPARATOR))));
}

/** What is sent for a place: words are drawn until one decides. */
export async function flipped(channel, place, words) {
  for (;;) {
    const settled = decided(channel, place, await words());
    if (settled) return settled;
  }
}
