/** A release as the estimator knows it: its columns, its channels, and what is public about its rows. */

import { Domain } from "../read/domain.js";
import { Counted } from "./counted.js";
import { tablesFor } from "./tuples.js";
import { Channel } from "./channel.js";
import { Design } from "./design.js";

export class Release {
  /** manifest: without its files; facts: what else the page has been given (release/explore_facts.py). */
  constructor(manifest, facts) {
    Object.assign(this, { manifest, facts, form: manifest.form.kind, notes: facts.notes, together: manifest.form.joint ?? [] });
    const columns = manifest.columns.map((column, i) => ({ ...column, ...facts.columns[i], beyond: isBeyond(column, facts.columns[i]) }));
    this.perturbed = columns.filter((column) => column.role === "sensitive" && !column.beyond);
    this.domains = new Map(this.perturbed.map((column) => [column.name, new Domain(column)]));
    this.columns = new Map(columns.map((column) => [column.name, { ...column, domain: this.domains.get(column.name) ?? null }]));
    this.counted = this.form === "tuples" ? new Counted(manifest, facts, this.columns) : null;
    this.table = null;
    this._published = null;
  }

  /** The tables of a release that has several, with the files of each. */
  get tables() {
    return this.manifest.form.schema?.tables ?? null;
  }

  /** The same with its tables opened, in their order. */
  withTables(tables) {
    [this.table] = tables;
    this.counted?.opened(tables);
    return this;
  }

  /** Reads what a question about columns of these names needs. */
  async load(names) {
    if (!this.counted) return this.table.load([...this.always, ...this.following, ...names]);
    return this.counted.load(tablesFor(names, this));
  }

  /** A column that was read. */
  column(name) {
    if (!this.counted) return this.table.columns.get(name);
    if (this.counted.marginals) return this.counted.declaredColumn(name);
    return this.counting(tablesFor([name], this)).table.codes(name);
  }

  counting(tables, asked) {
    return this.counted.counting(tables, asked);
  }

  /** The columns that every question needs beside those that it names. */
  get always() {
    const { stratum, weight, copies } = this.facts.published;
    return [stratum, weight, copies].filter(Boolean);
  }

  /** The columns whose replacements follow what was published of them. */
  get following() {
    return this.perturbed.filter((column) => recordsOf(column).some(({ replace }) => replace === "published")).map(({ name }) => name);
  }

  /** What the query layer has to know; where replacements follow the data, the columns have been read. */
  get published() {
    if (this._published) return this._published;
    const records = this.perturbed.map((column) => [column.name, recordsOf(column)]);
    const count = Math.max(1, ...records.map(([, own]) => own.length));
    const strata = Array.from({ length: count }, (_, i) => new Map(records.map(([name, own]) => [name, this._channel(name, own[i % own.length])])));
    const { stratum, weight, copies, sample, whole, permuted } = this.facts.published;
    this._published = {
      domains: this.domains,
      strata,
      stratum: stratum ?? null,
      weight: weight ?? null,
      copies: copies ?? null,
      sample: sample ?? null,
      weighted: Boolean(weight || copies),
      whole: whole ?? 0,
      permuted: Boolean(permuted),
    };
    return this._published;
  }

  _channel(name, given) {
    const { size } = this.domains.get(name);
    if (given.kind === "cyclic") return new Design({ ...given, size });
    if (given.replace === "published") {
      const counts = this.table.published(name);
      const rows = counts.reduce((a, b) => a + b, 0);
      return new Channel(given.retain, counts.map((n) => n / rows), size);
    }
    return spread(given, size);
  }
}

/** The channels of a perturbed column, one for each stratum. */
function recordsOf(column) {
  return column.channels ?? [column.channel];
}

/** Whether a column is more than this page can compute with: too many values, or a channel that it does not know. */
function isBeyond(column, { too_many: tooMany }) {
  if (column.role !== "sensitive") return false;
  return Boolean(tooMany) || !recordsOf(column).every(({ kind, replace }) => kind === "cyclic" || (kind === undefined && REPLACED.includes(replace)));
}

const REPLACED = ["uniform", "published", "given"];

/** A channel on some values of a domain as one on all of it: the others are never drawn, and do not occur. */
function spread({ retain, members, lots }, size) {
  const all = lots?.reduce((a, b) => a + b, 0);
  if (!members) return new Channel(retain, lots ? lots.map((lot) => lot / all) : null, size);
  const drawn = new Float64Array(size);
  members.forEach((member, i) => (drawn[member] = lots ? lots[i] / all : 1 / members.length));
  if (typeof retain === "number") return new Channel(retain, drawn, size);
  const kept = new Float64Array(size).fill(Math.max(...retain));
  members.forEach((member, i) => (kept[member] = retain[i]));
  return new Channel(kept, drawn, size);
}
