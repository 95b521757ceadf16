/** Numbers as `scumble query` prints them: as many decimals as are worth it (query/estimates.py). */

/** How far a whole number may be off by the arithmetic, in parts of it. */
const WHOLE = 1e-9;

/** Decimals worth printing: two significant digits of the typical standard error, or of how far sure bounds lie apart. */
export function digitsOf({ value, se, low, high, method }) {
  const errors = method === "steps" ? high.map((end, i) => (end - low[i]) / 2) : se;
  const known = [...errors].filter((error) => Number.isFinite(error) && error > 0).sort((a, b) => a - b);
  const whole = (x) => Math.abs(x - Math.round(x)) <= WHOLE * (1 + Math.abs(x));
  if (known.length === 0) return [...value].filter(Number.isFinite).every(whole) ? 0 : 4;
  const half = known.length / 2;
  const median = Number.isInteger(half) ? (known[half - 1] + known[half]) / 2 : known[Math.floor(half)];
  return Math.min(Math.max(1 - Math.floor(Math.log10(median)), 0), 8);
}

/** A number with commas and so many decimals; halves of the last one go to the even digit, as the number is stored. */
export function numberText(value, digits) {
  if (!Number.isFinite(value)) return "-";
  const rounded = roundedText(Math.abs(value), digits);
  const [whole, fraction] = rounded.split(".");
  const sign = value < 0 && /[1-9]/.test(rounded) ? "-" : "";
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction ? `.${fraction}` : "");
}

/** toFixed, but that a number exactly between two goes to the even one. */
function roundedText(value, digits) {
  if (value >= 1e21) return BigInt(value).toString() + (digits ? `.${"0".repeat(digits)}` : "");
  const text = value.toFixed(digits);
  const exact = value.toFixed(Math.min(100, digits + 60)); // all digits that a double of that size can have behind them
  const rest = exact.slice(exact.indexOf(".") + 1 + digits);
  if (!/^50*$/.test(rest)) return text;
  const below = exact.slice(0, exact.indexOf(".") + (digits ? 1 + digits : 0));
  return Number(below.at(-1)) % 2 === 0 ? below : text;
}

/** On which side of its interval each estimate lies, as far as printed digits tell: "at least" below it, "at most" above. */
export function outside(estimate) {
  const digits = digitsOf(estimate);
  const { value, low, high } = estimate;
  const differ = (x, end) => numberText(x, digits) !== numberText(end, digits);
  return Array.from(value, (x, i) => (x < low[i] && differ(x, low[i]) ? "at least" : x > high[i] && differ(x, high[i]) ? "at most" : ""));
}

/** Estimates, and the bound where one lies beyond what is possible: -12 (at least 0). */
function besideBounds(estimate, digits) {
  const { value, low, high } = estimate;
  const bound = (side, i) => (side ? ` (${side} ${numberText(side === "at least" ? low[i] : high[i], digits)})` : "");
  return outside(estimate).map((side, i) => numberText(value[i], digits) + bound(side, i));
}

/** Both ends of an interval, or the one that is known. */
export function intervalText(low, high, digits) {
  if (Number.isFinite(low) && Number.isFinite(high)) return `[${numberText(low, digits)}, ${numberText(high, digits)}]`;
  if (Number.isNaN(low) || Number.isNaN(high)) return "-";
  if (Number.isFinite(low)) return `at least ${numberText(low, digits)}`;
  return Number.isFinite(high) ? `at most ${numberText(high, digits)}` : "unbounded";
}

/** An estimate as columns of texts, each with its heading. */
export function texts(estimate, level) {
  const { name, se, low, high, method, bound, least } = estimate;
  const digits = digitsOf(estimate);
  const ends = Array.from(low, (end, i) => intervalText(end, high[i], digits));
  const columns = [{ heading: name, cells: besideBounds(estimate, digits) }];
  if (method === "exact") return columns;
  if (method === "steps" || method === "published") return [...columns, { heading: "surely within", cells: ends }];
  columns.push({ heading: "± se", cells: Array.from(se, (x) => numberText(x, digits)) });
  columns.push({ heading: `${percent(level)}% interval`, cells: ends });
  if (!bound || !bound.some(Number.isFinite)) return columns;
  if (!least)
    return [...columns, { heading: "suppressed included, at most", cells: Array.from(bound, (x) => numberText(x, 0)) }];
  const within = Array.from(bound, (most, i) => intervalText(least[i], most, digits));
  return [...columns, { heading: "suppressed included", cells: within }];
}

/** A level as a share of a hundred, as %g prints it. */
export function percent(level) {
  return String(Number((100 * level).toPrecision(6)));
}
