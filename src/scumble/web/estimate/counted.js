/** What is known of a release of counted tuples, and its tuples, counted once for all questions (forms/tuples/opened.py, forms/tuples/counting.py). */

import { Column } from "../read/column.js";
import { Domain } from "../read/domain.js";
import { many, product } from "./arrays.js";
import { Refused } from "./cells.js";
import { Counting } from "./counting.js";
import { together } from "./marginals.js";
import { Keys } from "./scan.js";
import { Published } from "./tuple_caps.js";

const MOST_TUPLES = 5_000_000;

export class Counted {
  constructor(manifest, facts, columns) {
    const { form } = manifest;
    const { noise, declared, complete, full, noises } = facts.counted;
    this.marginals = noises ?? null;
    Object.assign(this, { columns, noise: noise ?? null, complete: Boolean(complete), total: form.total ?? null });
    this.transactions = form.schema?.transactions ?? null;
    this.cStar = form.schema?.c_star ?? 1;
    const names = manifest.columns.map(({ name }) => name);
    this.tables = form.schema?.tables ?? [{ name: "data", attributes: names, rows: 0 }];
    this.domains = full ? new Map(names.map((name) => [name, new Domain({ name, ...full[name] })])) : null;
    this.declared = new Map(Object.entries(declared ?? {}).map(([name, given]) => [name, new Domain({ name, ...given }).numbers]));
    this.kept = facts.counted.kept ?? null;
    this.counted = new Map();
  }

  opened(read) {
    this.read = new Map(this.tables.map((table, i) => [table.name, read[i]]));
  }

  /** Tuples are told apart by all columns of a table, so that all of them are read. */
  async load(tables) {
    for (const table of tables) await this.read.get(table.name).load(this._columnsOf(table));
  }

  _columnsOf(table) {
    if (!this.transactions) return table.attributes;
    return ["item", "value", "pattern"].flatMap((role) => this.transactions[role] ?? []);
  }

  /** The tuples of some tables; of marginals the cells of the columns that are asked for. */
  counting(tables, asked) {
    if (this.marginals) return this._cells(tables, [...this.domains.keys()].filter((name) => asked.has(name)));
    const name = tables.map((table) => table.name).join(" ");
    if (!this.counted.has(name)) this.counted.set(name, this._counting(tables));
    return this.counted.get(name);
  }

  _counting(tables) {
    if (this.transactions) return this._ofTransactions(tables);
    const [table] = tables;
    const counted = tuplesOf(this.read.get(table.name), table.attributes);
    const { columns, counts } = this.domains ? overDomain(counted, this.domains, this.columns) : counted;
    return this._ruled(new TupleTable(columns), counts, null, this._capped([table], [counts]), new Uint8Array(counts.length));
  }

  /** Every declared value of a column once. */
  declaredColumn(name) {
    return columnsOf(this.domains, [name], this.columns).get(name);
  }

  /** Marginals that have some columns, put together (forms/tuples/marginals.py). */
  _cells(tables, names) {
    const key = JSON.stringify(names);
    if (!this.counted.has(key)) {
      const { rows, variances, noise } = together(tables.map((table) => this._marginal(table)), names, this.domains);
      const counting = new Counting(new TupleTable(columnsOf(this.domains, names, this.columns), rows.length), rows, variances);
      this.counted.set(key, Object.assign(counting, { noise }));
    }
    return this.counted.get(key);
  }

  _marginal(table) {
    const names = table.attributes;
    const noise = this.marginals[table.name];
    return { names, noise, ...this._estimates(dense(tuplesOf(this.read.get(table.name), names), this.domains, names), noise) };
  }

  /** What a tuple that is published n times counts: n with one variance above the floor, something else at the floor. */
  _ruled(table, counts, tuple, capped, place) {
    if (!this.noise) return new Counting(table, counts, new Float64Array(counts.length), tuple);
    const { v, s } = this._estimates(counts);
    if (!capped) return new Counting(table, v, s, tuple);
    v.forEach((number, row) => ([v[row], s[row]] = capped[place[row]].scaled(number, s[row])));
    return new Counting(table, v, s, tuple, place, capped);
  }

  _estimates(counts, noise = this.noise) {
    const v = counts.map((n) => (n > noise.floor ? n : noise.at_floor));
    return { v, s: counts.map((n) => (n > noise.floor ? noise.variance_above : noise.variance_at_floor)) };
  }

  /** Of each table all its tuples, where a cap took some out. */
  _capped(tables, counts) {
    if (!this.kept) return null;
    return tables.map(({ name }, i) => {
      const { v, s } = this._estimates(counts[i]);
      return new Published(this.kept[name], v, s);
    });
  }

  /** The pairs of each pattern; an item that is in several tables is taken from the first that has it. */
  _ofTransactions(tables) {
    const names = this._columnsOf(tables[0]);
    const { item, pattern } = this.transactions;
    const taken = new Set();
    const patterns = [];
    const parts = tables.map((table) => {
      const own = new Set(table.attributes.map(String).filter((label) => !taken.has(label)));
      for (const label of own) taken.add(label);
      const { columns, counts } = tuplesOf(this.read.get(table.name), names);
      const items = columns.get(item);
      patterns.push(onceOf(columns.get(pattern), counts));
      const rows = [...counts.keys()].filter((row) => own.has(items.labels[items.codes[row]]));
      return { columns: new Map([...columns].map(([name, column]) => [name, column.taken(rows)])), counts: rows.map((row) => counts[row]) };
    });
    const place = Uint32Array.from(parts.flatMap((part, i) => part.counts.map(() => i)));
    const tuple = parts.flatMap(({ columns }, place) => {
      const { values, codes } = columns.get(pattern);
      return Array.from(codes, (code) => `${place} ${values[code]}`);
    });
    const kept = names.filter((name) => name !== pattern);
    const columns = new Map(kept.map((name) => [name, stacked(parts.map((part) => part.columns.get(name)))]));
    return this._ruled(new TupleTable(columns), Float64Array.from(parts.flatMap((part) => part.counts)), tuple, this._capped(tables, patterns), place);
  }

  /** How many rows of one tuple of each table can match, for each line: of transactions, the items that are asked for. */
  matching({ groups, filters }, lines, tables, counting) {
    if (!this.transactions) return () => 1;
    const { item } = this.transactions;
    const column = counting.table.codes(item);
    const taken = new Set();
    const own = tables.map(({ attributes }) => {
      const labels = attributes.map(String).filter((label) => !taken.has(label));
      for (const label of labels) taken.add(label);
      return labels;
    });
    const grouped = lines.groups.find(({ name }) => name === item);
    if (grouped) {
      const owners = own.map((labels) => new Set(labels));
      return (line, place) => Number(owners[place].has(grouped.labels[line]));
    }
    const asked = filters.filter((filter) => filter.column === item);
    const values = new Map(column.labels.map((label, code) => [label, column.values[code]]));
    // an item that nobody was published with counts as one that matches
    const meets = (label) => !values.has(label) || asked.every((filter) => filter.meets(values.get(label), column.kind));
    const rows = own.map((labels) => labels.filter(meets).length);
    return (line, place) => rows[place];
  }
}

/** The different tuples of a table, and how often each is in it. */
function tuplesOf(table, names) {
  const keys = new Keys(table.rows);
  for (const name of names) {
    const { codes, values } = table.codes(name);
    keys.add(codes, values.length);
    keys.renumber();
  }
  const { keys: tuple, count } = keys.distinct(null);
  const counts = new Float64Array(count);
  const firsts = new Int32Array(count);
  for (let i = table.rows - 1; i >= 0; i--) {
    counts[tuple[i]]++;
    firsts[tuple[i]] = i;
  }
  return { columns: new Map(names.map((name) => [name, table.codes(name).taken(firsts)])), counts };
}

/** The counts of patterns, each once. */
function onceOf({ codes }, counts) {
  const known = new Map();
  counts.forEach((n, row) => known.set(codes[row], n));
  return Float64Array.from(known.values());
}

/** Every tuple of the domain, those that were not published with a count of 0. */
function overDomain(counted, domains, facts) {
  const names = [...domains.keys()];
  return { columns: columnsOf(domains, names, facts), counts: dense(counted, domains, names) };
}

/** How often each tuple of some domains was published, in the order of its codes. */
function dense(counted, domains, names) {
  const shape = names.map((name) => domains.get(name).size);
  const size = product(shape);
  if (size > MOST_TUPLES) throw new Refused(`the domain has ${many(size)} tuples, too many for a page`);
  const counts = new Float64Array(size);
  const codes = names.map((name) => counted.columns.get(name).encoded(domains.get(name)));
  counted.counts.forEach((n, row) => (counts[codes.reduce((key, own, k) => key * shape[k] + own[row], 0)] = n));
  return counts;
}

/** The values of every tuple of some domains. */
function columnsOf(domains, names, facts) {
  const shape = names.map((name) => domains.get(name).size);
  const columns = names.map((name, k) => {
    const inner = product(shape.slice(k + 1));
    const places = Int32Array.from({ length: product(shape) }, (_, key) => Math.floor(key / inner) % shape[k]);
    return [name, domains.get(name).column(facts.get(name), places)];
  });
  return new Map(columns);
}

/** Columns of the same values, one below the other. */
function stacked(columns) {
  const values = [...new Set(columns.flatMap((column) => column.values))];
  return Column.sorted(
    columns[0].fact,
    columns[0].kind,
    values,
    columns.flatMap((column) => {
      const places = column.values.map((value) => values.indexOf(value));
      return Array.from(column.codes, (code) => places[code]);
    }),
  );
}

/** Tuples as a table that questions are put to. */
class TupleTable {
  constructor(columns, rows = columns.values().next().value.rows) {
    Object.assign(this, { columns, rows });
  }

  codes(name) {
    return this.columns.get(name);
  }

  numbers(name) {
    return this.columns.get(name).numbers;
  }

  meeting(filter) {
    return this.columns.get(filter.column).meeting(filter);
  }
}
