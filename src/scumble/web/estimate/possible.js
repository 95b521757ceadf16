/** What an aggregate can be at all: group sizes and domains are public, so a count lies in [0, n] and an average among the values that there are (query/possible.py). */

/** The least and the most of counts, and of sums and averages of perturbed columns, for each line, by name. */
export function limitsOf(question, whole, lines) {
  const rows = whole.cells.over(whole.cells.numbers("n"));
  const limits = new Map();
  for (const { name, kind, value } of question.aggregates) {
    if (kind === "count") limits.set(name, { least: lines.map(() => 0), most: lines.map((line) => rows[line]) });
    else if (value.perturbed) {
      const { low, high } = ends(question.published.domains.get(value.column).numbers);
      const each = kind === "avg" ? [() => low, () => high] : [(n) => n * Math.min(low, 0), (n) => n * Math.max(high, 0)];
      const [least, most] = each.map((end) => lines.map((line) => end(rows[line])));
      limits.set(name, { least, most });
    }
  }
  return limits;
}

function ends(numbers) {
  let [low, high] = [Infinity, -Infinity];
  for (const x of numbers)
    if (!Number.isNaN(x)) {
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
  return low > high ? { low: 0, high: 0 } : { low, high };
}

/** An estimate cut to what it can be. Where nothing of the interval is left, it runs from the nearest possible value as far as it reached on that side. */
export function cut(estimate, limits) {
  const limit = limits.get(estimate.name);
  if (!limit || estimate.method === "exact") return estimate;
  const { value, low, high } = estimate;
  const { least, most } = limit;
  const within = (x, i) => Math.min(Math.max(x, least[i]), most[i]);
  return {
    ...estimate,
    value: value.map(within),
    low: low.map((end, i) => {
      if (high[i] < least[i]) return least[i];
      return end > most[i] ? Math.max(least[i], most[i] - (value[i] - end)) : Math.max(end, least[i]);
    }),
    high: high.map((end, i) => {
      if (low[i] > most[i]) return most[i];
      return end < least[i] ? Math.min(most[i], least[i] + (end - value[i])) : Math.min(end, most[i]);
    }),
  };
}
