/** A release whose files are at hand: what answers the questions of the page. */

import { answerTo } from "../estimate/ask.js";
import { Indistinguishable } from "../estimate/channel.js";
import { Refused } from "../estimate/cells.js";
import { Release } from "../estimate/release.js";
import { ParquetFile } from "../read/parquet.js";
import { Table } from "../read/table.js";
import { texts } from "../estimate/estimates.js";
import { compiled, named, sqlOf } from "./question.js";

/** Values up to which columns are read before they are asked for. */
const MOST_AHEAD = 30_000_000;

/** blobs: the bytes of each data file, by its path in the release. */
export async function opened(manifest, facts, blobs) {
  const release = new Release(manifest, facts);
  const file = async (path) => ParquetFile.opened(blobs.get(path));
  const tables = release.tables ?? [{ files: [...blobs.keys()] }];
  const read = await Promise.all(tables.map(async ({ files }) => new Table(await Promise.all(files.map(file)), release.columns, release.domains)));
  return new Opened(release.withTables(read));
}

class Opened {
  constructor(release) {
    this.release = release;
  }

  /** The answer to a question, with texts for people: { groups, estimate, texts, notes, sql }. */
  async shown(question) {
    const { release } = this;
    await release.load(named(question));
    const answer = this._answer(question);
    const groups = answer.groups.map((group) => ({ ...group, labels: group.labels ?? group.codes.map((code) => this.label(group.name, code)) }));
    return { ...answer, groups, texts: texts(answer.estimate, answer.level), sql: sqlOf(question, release) };
  }

  /** Reads columns while nobody asks, so that the next answer has them at hand; not where they would fill the memory. */
  readAhead(names) {
    const { table } = this.release;
    if (this.ahead || this.release.counted || table.rows * names.length > MOST_AHEAD) return;
    this.ahead = true;
    const idle = globalThis.requestIdleCallback ?? ((task) => setTimeout(task, 200));
    const next = ([first, ...others]) => {
      if (first !== undefined) idle(() => table.load([first]).then(() => next(others), () => next(others)));
    };
    next(names);
  }

  _answer(question) {
    try {
      return answerTo(compiled(question, this.release), this.release);
    } catch (error) {
      if (error instanceof Indistinguishable) throw new Refused(error.message);
      throw error;
    }
  }

  /** The labels of a column's values, or nothing where there are too many, and the ends of its numbers. */
  async valuesOf(name) {
    const { release } = this;
    const { domain } = release.columns.get(name);
    if (domain) return { labels: domain.labels, range: outer(domain.numbers) };
    await release.load([name]);
    const column = release.column(name);
    if (column.different === null) return { labels: null, range: outer(column.numbers.numbers) };
    return { labels: column.labels, range: outer(column.values.filter((value) => value !== null).map(Number)) };
  }

  /** A value of a column as a reader knows it, by its code in an answer. */
  label(name, code) {
    const { domain } = this.release.columns.get(name);
    return domain ? domain.label(code) : this.release.table.codes(name).labels[code];
  }
}

/** The least and the most of numbers. */
function outer(numbers) {
  let [low, high] = [Infinity, -Infinity];
  for (const x of numbers)
    if (!Number.isNaN(x)) {
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
  return [low, high];
}
