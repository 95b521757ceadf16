/** Scales: from numbers to places of a drawing, with round marks. */

/** A few round numbers that span an interval. */
export function marks(low, high, wanted = 5) {
  const span = high - low || 1;
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((unit) => unit * power).find((size) => size >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** A mark as text: as short as it is clear. */
export function markText(value, step) {
  const magnitude = Math.abs(value);
  if (magnitude >= 1e6) return `${trimmed(value / 1e6, step / 1e6)}m`;
  if (magnitude >= 1e4) return `${trimmed(value / 1e3, step / 1e3)}k`;
  return Number(trimmed(value, step)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

function trimmed(value, step) {
  const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(Math.abs(step)) + 1e-9)));
  return String(Number(value.toFixed(digits + (String(Number(step.toPrecision(2))).includes("25") ? 1 : 0))));
}

/** The numbers that a drawing has to hold, with a little room; from zero on where that is asked for. */
export function extent(lines, fromZero) {
  const numbers = lines.flatMap(({ value, low, high }) => [value, low, high]).filter(Number.isFinite);
  let [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  if (numbers.length === 0) [low, high] = [0, 1];
  if (fromZero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  if (low === high) [low, high] = [low - 1, high + 1];
  const room = (high - low) * 0.04;
  return [fromZero && low === 0 ? 0 : low - room, fromZero && high === 0 ? 0 : high + room];
}

/** A linear scale. */
export function linear([low, high], [from, to]) {
  return (value) => from + ((value - low) / (high - low)) * (to - from);
}
