/**
 * The variance of answers where values are replaced by others of the same column, drawn anew (identity) or permuted (swapped).
 *
 * The replacement distribution is taken from the published rows themselves, so that an estimate moves with all of them. query/own.py has the formulas and
 * docs/proofs/intervals.md the proof.
 */

import { add, along, filled, product, quotient, zip } from "./arrays.js";

const ROUNDING = 1e-9;

/** The variance of a sum with these first sums, where that with a known replacement distribution is given. */
export function corrected(part, variance, first, present = null) {
  const whole = add(variance, change(part, first, first, present));
  return zip((own, before) => (own > ROUNDING * before ? own : 0), whole, variance);
}

/** How much more the variance of a count follows it than if r were known. */
export function lean(p, share, permuted) {
  const [own, spread] = [new Float64Array(share.length), new Float64Array(share.length)];
  share.forEach((s, i) => {
    const taken = (permuted ? 1 : 1 - p) * s;
    const [inside, outside] = [(1 - taken) / p, -taken / p];
    const ofOwn = inside ** 2 * (1 + p * s) + outside ** 2 * p * (1 - s);
    const ofOther = inside ** 2 * p * s + outside ** 2 * (1 + p * (1 - s));
    own[i] = ofOwn * inside * s + ofOther * outside * (1 - s);
    spread[i] = inside ** 2 * s + outside ** 2 * (1 - s);
  });
  return quotient(own, spread).map((ratio) => p * ratio);
}

/** What is added to the covariance of two sums over the same condition. */
export function change(part, first, second, present = null) {
  let whole = part.blank();
  const { grouped, others, published } = part.question;
  const columns = [
    ...grouped.map((_, place) => (sums) => new Listed(part, place, sums, present)),
    ...others.flatMap((axis, place) => (matters(axis, present) ? [(sums) => new Asked(part, place, sums, present)] : [])),
  ];
  for (const of of columns) {
    const one = of(first);
    const other = second === first ? one : of(second);
    whole = add(whole, ofColumn(one, other, published));
  }
  return whole;
}

/** Whether a condition depends on a column; else nothing is added. */
function matters(axis, present) {
  const truth = axis.truth.map((own, cell) => own * (axis.name === present ? axis.present[cell] : 1));
  return truth.some((own) => own !== truth[0]);
}

function ofColumn(one, other, published) {
  const k = (published.permuted ? 1 : 1 - one.retain) / (one.retain * published.whole);
  const rows = add(one.overRows(other), other.overRows(one));
  return zip((all, own) => k * k * published.whole * all - k * own, one.overAll(other), rows);
}

/** How a sum depends on a column of conditions: by its cells v, then by row of the answer. */
class Asked {
  constructor(part, place, first, present) {
    const axis = part.question.others[place];
    const cells = Array.from({ length: axis.count }, (_, cell) => along0(part.behind, place, cell));
    this.channel = part.collapsed.get(axis.name);
    this.retain = this.channel.retain;
    const parts = (weigh) => cells.map((cell) => part.solved((f) => weigh(cell, f), first, present));
    const asIf = (cell, f) => {
      const there = zip((w, own) => w * own, part.restWeights(f, place), cell);
      return along({ data: there, shape: part.behind }, place, (line) => filled(line.length, line.reduce((a, b) => a + b, 0))).data;
    };
    this.whole = parts(asIf);
    this.seen = parts((cell, f) => zip((w, own) => w * own, part.restWeights(f), cell));
    this.true = parts((cell, f) => part.restWeights(zip((own, there) => own * there, f, cell)));
  }

  overRows(other) {
    const expected = through(other.whole, (line) => this.channel.expect(line));
    return sumOf(this.seen.map((seen, v) => seen.map((n, i) => n * other.whole[v][i] - this.true[v][i] * expected[v][i])));
  }

  overAll(other) {
    const [mine, theirs] = [this.whole, other.whole].map((d) => through(d, (line) => this.channel.expect(line)));
    const products = mine.map((row, v) => row.map((e, i) => e * theirs[v][i]));
    const weights = through(products, (line) => this.channel.weights(line));
    return sumOf(
      this.whole.map((row, v) => row.map((d, i) => this.channel.replace[v] * (d * other.whole[v][i] - weights[v][i]))),
    );
  }
}

/** 1 at one place of an axis, over a table. */
function along0(shape, place, cell) {
  const data = new Float64Array(product(shape));
  const inner = product(shape.slice(place + 1));
  for (let i = 0; i < data.length; i++) data[i] = Number(Math.floor(i / inner) % shape[place] === cell);
  return data;
}

/** A map of vectors applied down the columns of rows. */
function through(rows, map) {
  const out = rows.map((row) => new Float64Array(row.length));
  const line = new Float64Array(rows.length);
  for (let i = 0; i < rows[0].length; i++) {
    rows.forEach((row, v) => (line[v] = row[i]));
    map(line).forEach((number, v) => (out[v][i] = number));
  }
  return out;
}

function sumOf(rows) {
  return rows.reduce(add);
}

/** How a sum depends on a column that is grouped by: a row of the answer has one value d, and D(v) is 0 elsewhere. */
class Listed {
  constructor(part, place, first, present) {
    const channel = part.channel(part.question.grouped[place]);
    const { lines, width, groups } = part.cells;
    const inner = product(lines.slice(place + 1));
    this.retain = channel.retain;
    this.replace = Float64Array.from({ length: groups * width }, (_, i) => channel.replace[Math.floor(i / inner) % lines[place]]);
    const weigh = (f) => part.restWeights(f);
    this.whole = part.solved(weigh, first, present, place, true);
    this.seen = part.solved(weigh, first, present, place);
    this.true = part.solved(weigh, first, present);
  }

  overRows(other) {
    const p = this.retain;
    return this.seen.map((seen, i) => {
      const b = (1 - p) * this.replace[i];
      return other.whole[i] * ((seen * (1 - b)) / p - this.true[i] * (p + b));
    });
  }

  overAll(other) {
    const p = this.retain;
    return this.whole.map((d, i) => {
      const r = this.replace[i];
      const b = (1 - p) * r;
      return d * other.whole[i] * (r * (p + b) * (1 - p - b) + (1 - r) * b * (1 - b));
    });
  }
}
