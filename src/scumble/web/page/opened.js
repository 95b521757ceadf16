/** A release whose files are at hand: what answers the questions of the page. */

import { answerTo } from "../estimate/ask.js";
import { Indistinguishable } from "../estimate/channel.js";
import { Refused } from "../estimate/cells.js";
import { Release } from "../estimate/release.js";
import { ParquetFile } from "../read/parquet.js";
import { Table } from "../read/table.js";
import { texts } from "./figures.js";
import { compiled, named, sqlOf } from "./question.js";

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

  _answer(question) {
    try {
      return answerTo(compiled(question, this.release), this.release);
    } catch (error) {
      if (error instanceof Indistinguishable) throw new Refused(error.message);
      throw error;
    }
  }

  /** A value of a column as a reader knows it, by its code in an answer. */
  label(name, code) {
    const { domain } = this.release.columns.get(name);
    return domain ? domain.label(code) : this.release.table.codes(name).labels[code];
  }
}
