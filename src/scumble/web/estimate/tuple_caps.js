/** Counts of releases whose tuples stayed in so many tables at most: put right by a histogram of tables, or lower counts (forms/tuples/capped.py, mechanisms/kept_columns.py). */

import { filled, zip } from "./arrays.js";
import { quantile } from "./normal.js";
import { estimated } from "./tuple_estimate.js";

/** What all published tuples of a table are, with what is known of those that stayed in it; `kept` is null where that was not published. */
export class Published {
  constructor(kept, v, s) {
    this.kept = kept;
    this.value = v.reduce((sum, n) => sum + n, 0);
    this.variance = s.reduce((sum, n) => sum + n, 0);
    this.factor = kept ? kept.factor : 1;
  }

  /** What a published tuple stands for, and how uncertain that is, with the choice of tables. */
  scaled(v, s) {
    if (!this.kept) return [v, s];
    return [this.factor * v, this.factor ** 2 * s + this.kept.sampling * Math.max(v, 0)];
  }

  /** A count if all suppressed tuples had so many rows that match, its variance, and the least and the most it can be by the weights of tuples. */
  beyond(count, variance, rows) {
    const { kept, factor } = this;
    const found = count / factor;
    const each = Math.max(rows, 1);
    const square = each * found;
    const noise = Math.max(variance - kept.sampling * square, 0) / factor ** 2;
    const rest = rows > 1 ? noise + rows ** 2 * this.variance : rows > 0 ? this.variance - noise : noise;
    const missing = Math.max(kept.kept - this.value, 0);
    const matching = Math.max(found, 0) / each;
    return {
      value: factor * (found + rows * (kept.kept - this.value)),
      variance: this._spread(found, square, Math.max(rest, 0), rows),
      least: each * this._extreme(matching, false),
      most: each * this._extreme(matching + Math.min(rows, 1) * missing, true),
    };
  }

  _spread(found, square, rest, rows) {
    const { kept, sampling, spread, weights, noise } = this.kept;
    const { factor } = this;
    const suppressed = rows * Math.max(kept - this.value, 0);
    const share = (found + suppressed) / kept;
    const cells = weights.reduce((sum, x) => sum + (rows * factor + share * (x - factor)) ** 2, 0);
    return factor ** 2 * rest + noise * cells + sampling * (square + rows * suppressed) + spread * share ** 2;
  }

  /** How many tuples so many kept ones stand for if those of the largest, or of the smallest, weights are among them. */
  _extreme(number, heaviest) {
    const { weights, counts } = this.kept;
    const order = [...weights.keys()];
    if (heaviest) order.reverse();
    let [left, sum] = [number, 0];
    for (const x of order) {
      const taken = Math.min(left, Math.max(counts[x], 0));
      sum += taken * weights[x];
      left -= taken;
    }
    return sum + left * weights[order[0]];
  }
}

/** One aggregate of a release whose tuples were capped. */
export function capped(aggregate, sums, span, known, { tables, matching }) {
  let result = estimated(aggregate, shared(sums, tables), span, known);
  if (tables.some(({ kept }) => !kept)) result = open(aggregate.kind, result, span);
  if (aggregate.kind !== "count") return result;
  const { high, least, most } = ends(result, sums, tables, matching, known.level);
  if (tables.some(({ kept }) => !kept)) return { ...result, high: zip(Math.min, high, result.high) };
  return { ...result, high, least: zip(Math.min, least, result.low), bound: zip(Math.max, most, high) };
}

/** The sums with the variance that the tuples of a table have in common. */
function shared(sums, tables) {
  const own = Object.create(sums);
  own.powers = { ...sums.powers };
  for (const [name, a, b] of [["s02", "matching", "matching"], ["s11", "spread", "matching"], ["s20", "spread", "spread"]]) {
    if (!own.powers[name]) continue;
    own.powers[name] = own.powers[name].map((variance, line) =>
      tables.reduce((sum, { kept }, place) => {
        const part = sums.byTable[place];
        return kept && part ? sum + kept.shared * part[a][line] * part[b][line] : sum;
      }, variance),
    );
  }
  return own;
}

function ends(e, sums, tables, matching, level) {
  const size = e.value.length;
  const [value, variance, least, most] = [filled(size), filled(size), filled(size), filled(size)];
  for (let line = 0; line < size; line++)
    tables.forEach((table, place) => {
      const part = sums.byTable[place];
      const rows = matching(line, place);
      const count = part ? part.matching[line] : 0;
      if (!table.kept) {
        if (rows > 0) value[line] = most[line] = Infinity;
        least[line] += count;
        return;
      }
      const found = table.beyond(count, part ? part.powers.s02[line] : 0, rows);
      value[line] += found.value;
      variance[line] += found.variance;
      least[line] += found.least;
      most[line] += found.most;
    });
  const z = quantile(0.5 + level / 2);
  const reach = variance.map((v) => z * Math.sqrt(v));
  return {
    high: value.map((v, i) => Math.max(v + reach[i], e.value[i])),
    least: least.map((v, i) => v - Math.max(e.value[i] - e.low[i], 0)),
    most: most.map((v, i) => v + reach[i]),
  };
}

/** An estimate of what was left of the truth: its ends are those that are sure, with all that may have been taken out. */
function open(kind, e, span) {
  if (e.bound) return { ...e, low: e.least ?? e.low, high: e.bound, bound: undefined, least: undefined };
  const each = (number) => filled(e.value.length, number);
  if (!span) return { ...e, low: each(-Infinity), high: each(Infinity) };
  if (kind === "avg") return { ...e, low: each(span[0]), high: each(span[1]) };
  return { ...e, low: span[0] >= 0 ? e.low : each(-Infinity), high: span[1] <= 0 ? e.high : each(Infinity) };
}
