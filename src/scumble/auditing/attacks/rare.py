"""Rare rows: does a published table hold tuples that hardly anybody has? Whoever knows such a tuple points at the person.

Two algorithms keep their promise and publish them all the same, which is why the promise here is another one (semantic k-anonymity):

- `duplicated` publishes each row k times. Its output is k-anonymous: every row has k - 1 others like it.
- `leaking` publishes each row unchanged with probability delta. It is (0, delta)-differentially private.

`rare_rows` catches both, given the raw table. `privacy.anonymity.check_algorithm` refuses them by the definition, without any table.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.auditing.evidence.publication import whole_table
from scumble.auditing.finding import Finding
from scumble.core.entropy import Stream
from scumble.engines.duckdb.counting import rare_tuples
from scumble.forms.tuples.record import TuplesRecord
from scumble.release.release import Release
from scumble.truth import recoded

NAME = "rare rows"


def attack(release: Release, raw: Any = None) -> Finding:
    """Without the raw table: published tuples that are there fewer than k times. With it: tuples of fewer than k people that are published.

    Where every tuple of a domain is counted with noise, no k is promised, and that a rare tuple is published tells of nobody.
    """
    record = release.manifest.form
    assert isinstance(record, TuplesRecord)
    k = record.k or 2
    if record.transactions is not None or release.manifest.view.ranges or record.k is None or raw is None:
        return _alone(release, k)
    named: list[tuple[str | None, list[Any]]] = [(t.name, list(t.attributes)) for t in record.tables]
    parts = named or [(None, [c.name for c in release.manifest.columns])]
    whole = recoded(whole_table(raw, [c.name for c in release.manifest.columns]), release.manifest)
    findings = [rare_rows(release.table(name), whole.select(names), k) for name, names in parts]
    return max(findings, key=lambda finding: finding.success)


def rare_rows(published: pa.Table, raw: pa.Table, k: int) -> Finding:
    """The share of the tuples of fewer than k people that the published table has.

    >>> raw = pa.table({"disease": ["flu"] * 9 + ["hiv"]})
    >>> rare_rows(duplicated(raw, 3), raw, 3).detail
    '1 of 1 tuples that fewer than 3 people have are published'
    """
    names = raw.column_names
    counts = raw.group_by(names).aggregate([([], "count_all")])
    rare = counts.filter(pc.less(counts["count_all"], k)).select(names)
    known = {tuple(row.values()) for row in published.select(names).group_by(names).aggregate([]).to_pylist()}
    hits = sum(tuple(row.values()) in known for row in rare.to_pylist())
    sentence = f"{hits:,} of {len(rare):,} tuples that fewer than {k} people have are published"
    return Finding.of_share(NAME, hits, len(rare), 0.0, sentence, "singling out")


def duplicated(raw: pa.Table, k: int) -> pa.Table:
    """A k-anonymous table that hides nobody: each row k times."""
    return pa.concat_tables([raw] * k)


def leaking(raw: pa.Table, delta: float, stream: Stream) -> pa.Table:
    """A (0, delta)-differentially private table that hides nobody it has: each row with probability delta."""
    words = stream.integers(len(raw), 32)
    return raw.filter(pa.array(words < np.uint32(delta * 2**32)))


def _alone(release: Release, k: int) -> Finding:
    record = release.manifest.form
    assert isinstance(record, TuplesRecord)
    if record.k is None:
        return Finding.of_share(
            NAME, 0, 1, 0.0, "every tuple of the domain may be published, whether anybody has it or not", "singling out"
        )
    tables = record.tables
    names = [c.name for c in release.manifest.columns]
    parts = (
        [(t.files, t.attributes) for t in tables]
        if tables and record.transactions is None
        else [(release.manifest.data, names)]
    )
    if record.transactions is not None:
        keys = [record.transactions["pattern"], record.transactions["item"]]
        parts = [(t.files, keys) for t in tables]
    findings = [rare_tuples([release.file(f) for f in files], keys, k) for files, keys in parts]
    hits, targets = sum(h for h, _ in findings), sum(n for _, n in findings)
    sentence = f"{hits:,} of {targets:,} published tuples are there fewer than {k} times"
    return Finding.of_share(NAME, hits, targets, 0.0, sentence, "singling out")
