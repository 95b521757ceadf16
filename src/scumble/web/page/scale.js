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

/** Marks as texts, all in one unit. */
export function markTexts(listed) {
  const most = Math.max(...listed.map(Math.abs));
  const [unit, sign] = most >= 2e9 ? [1e9, "bn"] : most >= 2e6 ? [1e6, "m"] : most >= 1e5 ? [1e3, "k"] : [1, ""];
  return listed.map((value) => {
    const text = Number((value / unit).toPrecision(10)).toLocaleString("en-US", { maximumFractionDigits: 8 });
    return value === 0 ? "0" : text + sign;
  });
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
