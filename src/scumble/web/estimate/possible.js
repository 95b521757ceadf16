/**
 * What an aggregate can be at all: group sizes, public numbers and domains are public, so a count lies in [0, n] and an average among the values that
 * there are (query/possible.py, query/limits.py).
 *
 * An interval is cut to that. Of one that lies beyond a bound a standard error is left at least. The estimate stays where it is.
 */

import { outside } from "./estimates.js";

/** How far an estimate may be off by the arithmetic, in parts of it, and still be its bound. */
const WHOLE = 1e-9;

/** The least and the most of counts, sums and averages, for each line, by name. */
export function limitsOf(question, whole, lines) {
  const known = new Known(question, whole);
  return new Map(
    question.aggregates.map(({ name, kind, value }) => {
      const ends = lines.map((line) => known.ends(kind, value, line));
      return [name, { least: Float64Array.from(ends, ([low]) => low), most: Float64Array.from(ends, ([, high]) => high) }];
    }),
  );
}

class Known {
  constructor(question, whole) {
    const { cells } = whole;
    const alone = cells.width === 1 && question.grouped.length === 0;
    Object.assign(this, { question, cells });
    this.rows = cells.over(cells.numbers("n"));
    this.sure = alone && question.others.every((axis) => axis.truth.every(Boolean)); // no row can belong to another line
    this.sums = new Map(question.values.map((value, place) => [value, cells.over(cells.numbers(`v${place}_s`))]));
  }

  ends(kind, value, line) {
    const rows = this.rows[line];
    if (kind === "count") return [this.sure ? rows : 0, rows];
    const [low, high] = value.perturbed ? this._among(value, line) : this._published(value, line);
    if (kind === "avg") return low > high ? [NaN, NaN] : [low, high];
    if (low > high) return [0, 0];
    return value.perturbed ? [rows * Math.min(low, 0), rows * Math.max(high, 0)] : this._added(this.sums.get(value)[line], rows, low, high);
  }

  /** A sum of some of the rows: what all above 0 add up to, and what all below do. */
  _added(total, rows, low, high) {
    if (this.sure) return [total, total];
    const positive = Math.max(Math.min(rows * Math.max(high, 0), total - rows * Math.min(low, 0)), total, 0);
    return [total - positive, positive];
  }

  /** The least and the most of a public number in the public group of a line. */
  _published(value, line) {
    const { low, high } = this.cells.ranges[this.question.place(value)];
    const group = Math.floor(line / this.cells.width);
    return [low[group], high[group]];
  }

  /** The values of a perturbed column that conditions leave; where lines are told apart by it, that of the line. */
  _among({ column, shift }, line) {
    const { numbers } = this.question.published.domains.get(column);
    const at = (code) => numbers[code] + (shift ? shift(numbers[code]) : 0);
    const { grouped, others, asked } = this.question;
    const place = grouped.findIndex((axis) => axis.name === column);
    if (place >= 0) {
      const inner = this.cells.lines.slice(place + 1).reduce((a, b) => a * b, 1);
      const own = at(Math.floor((line % this.cells.width) / inner) % this.cells.lines[place]);
      return Number.isNaN(own) ? [Infinity, -Infinity] : [own, own];
    }
    const axis = others.find(({ name }) => name === column);
    let [low, high] = [Infinity, -Infinity];
    numbers.forEach((_, code) => {
      const x = at(code);
      if (Number.isNaN(x) || (asked.conditions.has(column) && !axis.truth[axis.cells[code]])) return;
      low = Math.min(low, x);
      high = Math.max(high, x);
    });
    return [low, high];
  }
}

/** An aggregate with what it can be in the place of its interval: what is done to an answer is done to its limits. */
export function endsOf(estimate, limits) {
  const known = limits.get(estimate.name);
  if (estimate.method === "exact") return { ...estimate, low: estimate.value, high: estimate.value };
  const low = known ? known.least : estimate.value.map(() => -Infinity);
  const high = known ? known.most : estimate.value.map(() => Infinity);
  return { ...estimate, low, high };
}

/** An estimate whose interval is cut to what is possible: the interval of `ends`. */
export function cut(estimate, ends) {
  if (estimate.method !== "unbiased") return estimate;
  const { value, se, low, high } = estimate;
  const [least, most] = [ends.low, ends.high];
  const within = (x, i) => (Number.isNaN(least[i]) || Number.isNaN(most[i]) ? NaN : Math.min(Math.max(x, least[i]), most[i]));
  const reach = (i) => (Number.isFinite(se[i]) ? se[i] : 0);
  const near = (x, i) => Math.abs(x - within(x, i)) <= WHOLE * (1 + Math.abs(within(x, i)));
  return {
    ...estimate,
    value: value.map((x, i) => (near(x, i) ? within(x, i) : x)),
    low: low.map((end, i) => {
      const kept = within(end, i);
      return value[i] > most[i] ? Math.min(kept, Math.max(least[i], most[i] - reach(i))) : kept;
    }),
    high: high.map((end, i) => {
      const kept = within(end, i);
      return value[i] < least[i] ? Math.max(kept, Math.min(most[i], least[i] + reach(i))) : kept;
    }),
  };
}

/** What to know of lines whose estimates are impossible: the bound stands beside them. */
export function beyond(estimate) {
  const count = outside(estimate).filter(Boolean).length;
  if (count === 0) return [];
  const where = estimate.value.length > 1 ? `in ${count} of ${estimate.value.length} rows` : "here";
  return [`${where} coins took an estimate out of what is possible, and the nearest bound stands beside it`];
}
