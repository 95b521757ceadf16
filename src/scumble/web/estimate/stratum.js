/**
 * The rows of one stratum, and what a condition makes of their cells (query/stratum.py).
 *
 * Conditions are on one column each and all have to hold, so that what is left of them on the columns that are not grouped is the same for
 * every value of the grouped ones that is asked about.
 */

import { along, filled, outer, product, some } from "./arrays.js";
import { Moments } from "./moments.js";

export class Stratum {
  constructor(question, cells, channels) {
    Object.assign(this, { question, cells, channels });
    this.collapsed = new Map(question.others.map((axis) => [axis.name, axis.collapsed(channels.get(axis.name))]));
    this.behind = question.others.map((axis) => axis.count);
  }

  channel(axis) {
    return this.channels.get(axis.name);
  }

  over(sums) {
    return this.cells.over(sums);
  }

  blank() {
    return filled(this.cells.groups * this.cells.width);
  }

  /** The values of the grouped columns that are asked about, and the condition that is left on the cells of the others; null where nobody can meet it. */
  condition(present = null) {
    const { grouped, others } = this.question;
    const own = (axis) =>
      Float64Array.from(axis.truth, (truth, cell) => truth * (axis.name === present ? axis.present[cell] : 1));
    const members = Array.from(outer(grouped.map(own)), Boolean);
    const truth = outer(others.map(own));
    return some(members) && some(truth) ? { members, truth } : null;
  }

  /** Numbers of a table by group and grouped value, where these are asked about; 0 elsewhere. */
  kept(numbers, members) {
    const out = this.blank();
    const width = this.cells.width;
    for (let i = 0; i < out.length; i++) if (members[i % width]) out[i] = numbers[i];
    return out;
  }

  /** Moments from what is gathered of a condition: L, Q and M of the rows. */
  moments(gather, present = null) {
    return this.momentsOfTruth((truth) => gather(this.restWeights(truth)), present);
  }

  momentsOfTruth(gather, present = null) {
    const condition = this.condition(present);
    if (!condition) return new Moments(this.blank(), this.blank());
    const [linear, squares, own] = gather(condition.truth);
    const value = this.kept(this.solve(linear), condition.members);
    const [most, less] = [this.solveSquares(squares), this.solve(own)];
    return new Moments(value, this.kept(most.map((v, i) => v - less[i]), condition.members));
  }

  /** The debias weights, by published cell, of a function of the true cells of the columns that are not grouped. */
  restWeights(f, skip = null) {
    return this._through(f, this.behind, (channel, line) => channel.weights(line), skip);
  }

  /** The mean of a function of published cells for each true cell, over the columns that are not grouped. */
  restExpectation(g) {
    return this._through(g, this.cells.rest, (channel, line) => channel.expect(line));
  }

  _through(numbers, shape, map, skip = null) {
    let table = { data: numbers, shape };
    this.question.others.forEach((axis, place) => {
      const channel = this.collapsed.get(axis.name);
      if (place !== skip && axis.count > 1) table = along(table, place, (line) => map(channel, line));
    });
    return table.data;
  }

  /** Which published cells look as if a condition held: those of its values, or codes that weigh more than half for it. */
  looks(f) {
    let table = { data: f, shape: this.behind };
    this.question.others.forEach((axis, place) => {
      const channel = this.collapsed.get(axis.name);
      if (axis.recoded && axis.count > 1)
        table = along(table, place, (line) => channel.weights(line).map((w) => Number(w > 0.5)));
    });
    return table.data;
  }

  solve(table, but = null) {
    return this._grouped(table, (channel, line) => channel.solve(line), but);
  }

  solveSquares(table) {
    return this._grouped(table, (channel, line) => channel.solveSquares(line));
  }

  /** Published counts by value of the grouped columns as how many rows look like each value. */
  matched(table) {
    return this._grouped(table, (channel, line) => channel.matches(line));
  }

  _grouped(table, map, but = null) {
    this.question.grouped.forEach((axis, place) => {
      if (place !== but) table = along(table, place + 1, (line) => map(this.channel(axis), line));
    });
    return table.data;
  }

  /** Sums over rows, times a weight that comes from the condition and those of the grouped columns; `but` one, whose sums may be over all its values. */
  solved(weigh, sums, present = null, but = null, over = false) {
    const condition = this.condition(present);
    if (!condition) return this.blank();
    let linear = this.cells.gather(weigh(condition.truth), sums);
    if (over) linear = along(linear, 1 + but, spreadOut);
    return this.kept(this.solve(linear, but), condition.members);
  }

  get states() {
    return product(this.behind);
  }
}

/** Each number as the sum of all. */
function spreadOut(line) {
  let whole = 0;
  for (const number of line) whole += number;
  return filled(line.length, whole);
}
