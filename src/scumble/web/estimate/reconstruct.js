/** Cells of published rows into unbiased counts and sums, with their variances: of one stratum, and of all together (query/reconstruct.py). */

import { filled, least, outer, quotient, zip } from "./arrays.js";
import { Draws } from "./few.js";
import { covariances, Moments, Ratio, steepness } from "./moments.js";
import * as own from "./own.js";
import { publicShare, sampleOf, smaller } from "./sampled.js";
import * as states from "./states.js";
import { Stratum } from "./stratum.js";
import { groupedSum, perturbedSum } from "./sums.js";

export class Reconstruction extends Stratum {
  /** How many rows: all, those with a public value, or those where a perturbed column is not missing. */
  count(value = null, present = null) {
    const moments = this.drawnCount(value, present);
    return this._own(moments, value === null ? "n" : `v${value}_n`, present);
  }

  /** Where values are replaced by others of the same column, the variance that follows from that. */
  _own(moments, name, present = null) {
    const { published, exact } = this.question;
    if (!published.whole || exact) return moments;
    const variance = own.corrected(this, moments.variance, this.cells.numbers(name), present);
    if (!this.single) return moments.ofVariance(variance, quotient(variance, moments.variance));
    const share = this.over(this.cells.numbers("n")).map((n) => n / published.whole);
    return moments.ofVariance(variance, own.lean(this.channel(this.single).retain, share, published.permuted));
  }

  /** The same, as if the replacement distribution were known. */
  drawnCount(value = null, present = null) {
    const { cells } = this;
    const name = value === null ? "n" : `v${value}_n`;
    const [first, second, third] = [1, 2, 3].map((order) => cells.numbers(name, order));
    const gather = (w) => [cells.gather(w, first), cells.gather(squared(w), second), cells.gather(w, second)];
    const moments = this._raised(this.moments(gather, present), second, present);
    return this.leaning(moments, second, third, present).widened(this._sampling(second, present));
  }

  /** What sampling adds to a variance: for each row of the answer a share of the sum of squares over sampled rows. */
  _sampling(squares, present = null) {
    const { cells, question } = this;
    if (!cells.sampled) return this.blank();
    const flagged = (numbers) => zip((n, flag) => n * flag, numbers, cells.sampled);
    const second = flagged(cells.numbers("n", 2));
    const condition = this.condition(present);
    const grouped = question.grouped.length > 0; // then a row of the answer is one value
    const share = condition ? (grouped ? 0.25 / sampleOf(question) : publicShare(question, condition.truth)) : 0;
    const none = { data: filled(cells.groups * cells.seen), shape: [cells.groups, ...cells.shape] };
    const hits = this.moments((w) => [cells.gather(w, second), none, none], present).value;
    const added = this.over(flagged(squares));
    const shares = smaller(share, hits, this.over(second));
    const members = condition ? condition.members : [];
    return shares.map((own, i) => (condition && members[i % cells.width] ? own * added[i] : 0));
  }

  /** The moments with how their variance follows them; x is what a counted row counts, by true cell. */
  leaning(moments, second, third, present = null, x = null) {
    const { question, cells } = this;
    let steep = question.grouped.length > 0 ? this._groupedSteepness() : this.blank();
    const condition = question.grouped.length > 0 ? null : this.condition(present);
    if (condition) {
      const h = x ? zip((own, number) => own * number, condition.truth, x) : condition.truth;
      const rows = covariances(
        h,
        (f) => this.restWeights(f),
        (g) => this.restExpectation(g),
      );
      steep = steepness(cells.gather(this.restWeights(rows.k), second).data, moments.variance, rows);
    }
    const weighed = quotient(this.over(third), this.over(second));
    return moments.leaning(zip((a, b) => a * b, steep, weighed));
  }

  /** Whether it is known how the variance of a count follows it: not for groups of several columns, or of several retentions. */
  get follows() {
    const { grouped, others } = this.question;
    if (grouped.length === 0) return true;
    return grouped.length === 1 && !others.some((axis) => axis.count > 1) && Boolean(this.channel(grouped[0]).againstOthers);
  }

  /** k / u for each value of the only perturbed column; nothing, where that is not known. */
  _groupedSteepness() {
    const out = this.blank();
    const known = this.channel(this.question.grouped[0]).againstOthers;
    if (!this.follows || !known) return out;
    const { p, r } = known;
    return out.map((_, i) => (1 - p - 2 * (1 - p) * r[i % r.length]) / p);
  }

  /** The only perturbed column that tells rows apart, where each row counts 1 and values are alike against all others; else nothing. */
  get single() {
    const { grouped, others, published } = this.question;
    const axes = [...grouped, ...others.filter((axis) => axis.count > 1)];
    if (axes.length !== 1 || published.weighted) return null;
    return this.channel(axes[0]).againstOthers ? axes[0] : null;
  }

  /** Whether it is known what counts are drawn from. */
  get drawn() {
    return states.known(this) || (this.single !== null && this._pairs(null) !== null);
  }

  /** How probably rows that count, and rows that do not, look as if they did, for each row of the answer; and how many do, of published ones. */
  _pairs(present) {
    const axis = this.single;
    if (!axis) return null;
    const { cells } = this;
    const condition = this.condition(present);
    const [kept, drawn] = [filled(cells.width, 1), filled(cells.width, 0)];
    if (cells.lines.length > 0) {
      const { p, r } = this.channel(axis).againstOthers;
      if (axis.count > 1 && condition)
        condition.members.forEach((member, i) => {
          if (!member) return;
          drawn[i] = (1 - p) * r[i];
          kept[i] = p + drawn[i];
        });
      return { kept, drawn, looking: (ones) => this._matches(ones, present) };
    }
    let matches = filled(cells.states, 0);
    if (condition) {
      matches = filled(cells.states, 1);
      if (axis.count > 1 && !condition.truth.every(Boolean)) {
        const pair = axis.collapsed(this.channel(axis)).pair(condition.truth);
        if (!pair) return null;
        kept.fill(pair.kept);
        drawn.fill(pair.drawn);
        matches = Float64Array.from(pair.matches, Number);
      }
    }
    return { kept, drawn, looking: (ones) => cells.gather(matches, ones).data };
  }

  /** What a count was drawn from, where that is known; where all rows or none count, nothing is drawn. */
  draws(value = null, present = null) {
    const ones = this.cells.numbers(value === null ? "n" : `v${value}_n`);
    const pairs = this._pairs(present);
    if (!pairs) return states.known(this) ? states.ofCount(this, ones, present) : null;
    const rows = this.over(ones);
    const { whole, permuted } = this.question.published;
    const { width } = this.cells;
    const certain = (i) => permuted && rows[i] === whole; // a permutation keeps what it is asked about
    const kept = rows.map((_, i) => (certain(i) ? 1 : pairs.kept[i % width]));
    const drawn = rows.map((_, i) => (certain(i) ? 0 : pairs.drawn[i % width]));
    return new Draws(pairs.looking(ones), rows, kept, drawn, states.limit(this));
  }

  /** How many published rows look as if they were counted; a sampled row is one, whatever its weight. */
  matching() {
    return this._matches(this.cells.numbers(this.question.published.weighted ? "n_rows" : "n"));
  }

  _matches(ones, present = null) {
    const condition = this.condition(present);
    if (!condition) return this.blank();
    const matching = this.cells.gather(this.looks(condition.truth), ones);
    return this.kept(this.matched(matching), condition.members);
  }

  /** A sum, together with the count of the rows that it is taken over. */
  sum(aggregate) {
    const { question } = this;
    const average = aggregate.kind === "avg";
    const column = aggregate.value.perturbed ? aggregate.value.column : null;
    if (column === null) return this._publicSum(question.place(aggregate.value), average);
    if (question.grouped.some((axis) => axis.name === column)) return groupedSum(this, column);
    return perturbedSum(this, column, question.place(aggregate.value), average);
  }

  _publicSum(place, average) {
    const { cells, question } = this;
    const numbers = (name, order) => cells.numbers(`v${place}_${name}`, order);
    const [first, mixed, second] = [numbers("s"), numbers("s", 2), numbers("q")];
    let top = this.moments((w) => [cells.gather(w, first), cells.gather(squared(w), second), cells.gather(w, second)]);
    const cross = this.moments((w) => [cells.gather(w, first), cells.gather(squared(w), mixed), cells.gather(w, mixed)]);
    top = this._raised(top, second);
    if (!average && !question.exact) top = this.leaning(top, second, numbers("c"));
    const numerator = this._own(top, `v${place}_s`).widened(this._sampling(second));
    let covariance = zip((a, b) => a + b, cross.variance, this._sampling(mixed));
    if (question.published.whole && !question.exact)
      covariance = zip((a, b) => a + b, covariance, own.change(this, first, numbers("n")));
    return new Ratio(numerator, this.count(place), covariance);
  }

  /** With two or more columns V can come out too small on small counts: it is at least sum v^2 min_x Var(w | x). */
  _raised(moments, squares, present = null) {
    const { grouped, others } = this.question;
    if (grouped.length + others.filter((axis) => axis.count > 1).length < 2) return moments;
    const whole = this.over(squares);
    const condition = this.condition(present);
    const floors = condition ? this._leastSpread(condition) : filled(this.cells.width);
    const { width } = this.cells;
    const variance = moments.variance.map((v, i) => Math.max(v, whole[i] * Math.max(floors[i % width], 0)));
    return new Moments(moments.value, variance);
  }

  /** The least variance of a row's weight over what it may truly be, for each value of the grouped columns. */
  _leastSpread({ members, truth }) {
    const meanSquare = this.restExpectation(squared(this.restWeights(truth)));
    const spread = this.question.grouped.map((axis) => this.channel(axis).spread());
    if (spread.length === 0) return filled(1, least(zip((mean, own) => mean - own, meanSquare, truth)));
    const hit = outer(spread.map((own) => own.hit));
    const miss = outer(spread.map((own) => own.miss));
    const lowest = least(meanSquare);
    return hit.map((own, i) => {
      if (!members[i]) return 0;
      return Math.min(least(zip((mean, counted) => own * mean - counted, meanSquare, truth)), miss[i] * lowest);
    });
  }
}

const squared = (numbers) => zip((x) => x * x, numbers);

/** The estimates of all strata together: rows have independent coins, so values and variances add up. */
export class Whole {
  constructor(question, cells) {
    Object.assign(this, { question, cells });
    const strata = question.exact ? [new Map()] : question.published.strata;
    this.parts = strata.map((channels, i) => new Reconstruction(question, cells.of(i), channels));
  }

  count(value = null, present = null) {
    return this.parts.map((part) => part.count(value, present)).reduce((a, b) => a.plus(b));
  }

  sum(aggregate) {
    return this.parts.map((part) => part.sum(aggregate)).reduce((a, b) => a.plus(b));
  }

  draws(value = null, present = null) {
    return this.drawn ? this.parts[0].draws(value, present) : null;
  }

  drawsOfSum(aggregate) {
    const place = this._publicPlace(aggregate);
    return place === null ? null : states.ofSum(this.parts[0], place);
  }

  even(aggregate, ratio) {
    const place = this._publicPlace(aggregate);
    return place === null ? null : states.ofAverage(this.parts[0], place, ratio);
  }

  carrying(aggregate) {
    const place = aggregate.kind === "count" ? null : this._publicPlace(aggregate);
    return place === null ? null : states.carrying(this.parts[0], place);
  }

  /** Where the sums of a public number stand, if it is known what it was drawn from. */
  _publicPlace(aggregate) {
    if (this.parts.length > 1 || aggregate.value.perturbed) return null;
    return states.known(this.parts[0]) ? this.question.place(aggregate.value) : null;
  }

  get drawn() {
    return this.parts.length === 1 && this.parts[0].drawn;
  }

  matching() {
    return this.parts.map((part) => part.matching()).reduce((a, b) => zip((x, y) => x + y, a, b));
  }
}
