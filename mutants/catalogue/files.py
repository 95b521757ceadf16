"""Values, order and bytes of the files."""

from mutants.mutant import Mutant

ENCODE, WRITE, SHUFFLE, PIPELINE = (
    "publishing.encode",
    "publishing.write",
    "publishing.shuffle",
    "publishing.row_pipeline",
)

MUTANTS = [
    Mutant("numbers rounded down to their grid", "core.domain", "np.rint((x - low) / width)", "np.floor((x - low) / width)", "numbers"),
    Mutant("public columns are not made coarser", ENCODE, "        if self._coarsen is not None:\n            column = coarsen", "        if False:\n            column = coarsen", "coarse"),
    Mutant("bins are rounded, not cut off", "spec.coarsening", "pc.floor(pc.divide(column.cast(pa.float64()), width))", "pc.round(pc.divide(column.cast(pa.float64()), width))", "coarse"),
    Mutant("labels that are one off", ENCODE, "return pa.DictionaryArray.from_arrays(column.cast(pa.int32()), values.fill_null(\"\"))", "return pa.DictionaryArray.from_arrays(pc.if_else(pc.equal(column.cast(pa.int32()), len(values) - 1), 0, pc.add(column.cast(pa.int32()), 1)).cast(pa.int32()), values.fill_null(\"\"))"),
    Mutant("words in the order in which they came", ENCODE, "        used.sort(key=words.__getitem__)\n", ""),
    Mutant("a dictionary of all words that came up", ENCODE, "pa.array([words[place] for place in used], self._kind)", 'pa.array([*(words[place] for place in used), "Ann Baker"], self._kind)'),
    Mutant("the order of the source within a bucket", WRITE, "        return written.take(pa.array(order))", "        return written"),
    Mutant("rows sorted by a public column", WRITE, "order = stream.permutation(narrow.num_rows, alike(keys, narrow.num_rows))", 'order = np.argsort(narrow.column("code").to_numpy(), kind="stable")'),
    Mutant("the order of rows by one coin for all", WRITE, "order = stream.permutation(narrow.num_rows, alike(keys, narrow.num_rows))", "order = np.roll(np.arange(narrow.num_rows), int(stream.integers(1, 16)[0]))"),
    Mutant("rows sorted by the numbers of words", ENCODE, "return written.indices if self._by_dictionary else written", "return column"),
    Mutant("buckets by place", SHUFFLE, "chosen = stream.integers(batch.num_rows, 8) & np.uint8(buckets - 1)", "chosen = (np.arange(batch.num_rows) * buckets // batch.num_rows).astype(np.uint8)", "csv"),
    Mutant("statistics of the columns", WRITE, "write_statistics=False", "write_statistics=True"),
    Mutant("page indexes", WRITE, "write_statistics=False", "write_statistics=False, write_page_index=True"),
    Mutant("row groups of a published value", WRITE, "writer.write_table(table.cast(schema), row_group_size=ROW_GROUP)", "[writer.write_table(table.cast(schema).slice(a, 500)) for a in range(0, len(table), 500)]"),
    Mutant("the last row of a batch is lost", PIPELINE, "        return scatter(batch, bucket_count", "        return scatter(batch.slice(0, batch.num_rows - 1), bucket_count"),
    Mutant("a batch is published twice", PIPELINE, "        self._buckets.add(parts)\n", "        self._buckets.add(parts)\n        if not self._fingerprints:\n            self._fingerprints = [np.zeros(0)]\n            self._buckets.add(parts)\n", "batches"),
    Mutant("the manifest has another retention than its threshold", "release.records", "retain=thresholds[0] / 2**coins.bits if one else", "retain=0.3 if one else"),
]  # fmt: skip
