"""Differencing: two publications of nearly the same people, whose exact parts are subtracted. What is left are those who came, left, or changed.

    tuples that are counted exactly        the tuples of these people, all columns
    values that are published as they are  (buckets; rows whose values are exchanged): how often each value came or left, beside the public rows that did
    coins by key                           whoever is published with another value has another one: not which, but that

Looked at where the difference is at most a twentieth of the table: beyond that these are other people. With one person more, the value is told for certain; with several, the guess is the value that came most often. The baseline is the
commonest value.
"""

from collections.abc import Iterator

import numpy as np

from scumble.auditing.attacks.averaging import linked
from scumble.auditing.evidence.buckets import AnatomyBuckets
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.publication import Publication, together
from scumble.auditing.finding import Finding
from scumble.forms.tuples.record import Exact, TuplesRecord

NAME = "differencing"

FEW = 0.05
"""The share of a table up to which a difference is one of few people."""


def attack(case: Case) -> list[Finding]:
    """What the difference to each other publication tells."""
    return [finding for other in case.others for finding in _between(case.publication, other)]


def _between(ours: Publication, theirs: Publication) -> Iterator[Finding]:
    if _counted(ours) and _counted(theirs):
        yield from _tuples(ours, theirs)
    if set(_exact_columns(ours)) & set(_exact_columns(theirs)):
        yield from _values(ours, theirs)
    yield from _changed(ours, theirs)


def _counted(publication: Publication) -> bool:
    record = publication.manifest.form if publication.manifest is not None else None
    return isinstance(record, TuplesRecord) and isinstance(record.counting, Exact)


def _says(publication: Publication) -> str:
    return publication.says("corruption", "corruption_of_buckets", "exact_counts")


def _tuples(ours: Publication, theirs: Publication) -> Iterator[Finding]:
    names = [name for name in ours.table.column_names if name in theirs.table.column_names]
    if not names:
        return
    (a, b), count = together(names, ours.table, theirs.table)
    counts = [np.bincount(codes, minlength=count) for codes in (a, b)]
    both = (counts[0] > 0) & (counts[1] > 0)  # others may have been suppressed
    moved = np.abs(counts[0] - counts[1])[both]
    people = int(moved.sum())
    if not people or people > FEW * max(len(a), len(b)):
        return
    commonest = float(counts[1].max() / max(1, counts[1].sum()))
    sentence = (
        f"{ours.name} and {theirs.name} differ by {people:,} people in {int((moved > 0).sum()):,} tuples of {', '.join(names)} that both count exactly: "
        "all these values of theirs are told"
    )
    yield Finding(NAME, 1.0, commonest, 1.0, 1.0, sentence, "linkability", _says(ours), exposed=1.0, advice=ADVICE)


ADVICE = "publish the second table with noise on its counts, or together with enough other changes"


def _exact_columns(publication: Publication) -> dict[str, dict[str, float]]:
    """Columns whose values are published as often as they occur, by value."""
    if publication.form == "buckets":
        buckets = AnatomyBuckets.of(publication)
        words = map(str, buckets.values.to_pylist())
        return {buckets.name: dict(zip(words, buckets.counts.sum(axis=0).tolist(), strict=True))}
    if publication.traits.permuted and publication.manifest is not None:
        domains = publication.manifest.domains
        return {
            name: dict(
                zip(
                    map(str, domains[name].values.to_pylist()),
                    np.bincount(publication.codes(name), minlength=domains[name].size).tolist(),
                    strict=True,
                )
            )
            for name in publication.sensitive
        }
    return {}


def _values(ours: Publication, theirs: Publication) -> Iterator[Finding]:
    first, second = _exact_columns(ours), _exact_columns(theirs)
    for name in first.keys() & second.keys():
        words = sorted(first[name].keys() | second[name].keys())
        counts = np.array([[table.get(word, 0) for word in words] for table in (first[name], second[name])])
        more: Numbers = np.maximum(counts[0] - counts[1], 0)
        less: Numbers = np.maximum(counts[1] - counts[0], 0)
        moved = max(more.sum(), less.sum())
        if 0 < moved <= FEW * counts.sum(axis=1).max():
            told = more if more.sum() >= less.sum() else less
            success, commonest = float(told.max() / told.sum()), float(counts[1].max() / counts[1].sum())
            sentence = (
                f"{name}: {ours.name} and {theirs.name} have the very values of the table, and differ by {moved:,.0f} of them; "
                f"who came or left is guessed right for {success:.0%} by the value that did most often"
            )
            yield Finding(
                NAME,
                success,
                commonest,
                success,
                success,
                sentence,
                "linkability",
                _says(ours),
                exposed=success,
                advice=ADVICE,
            )


def _changed(ours: Publication, theirs: Publication) -> Iterator[Finding]:
    """With coins by key, who is published otherwise has changed."""
    a, b = (
        {s.column: s.commitment for s in p.manifest.randomness.streams or []} if p.manifest is not None else {}
        for p in (ours, theirs)
    )
    quasi = [name for name in ours.quasi if name in theirs.quasi]
    for name in (name for name in ours.sensitive if a.get(name) and a.get(name) == b.get(name)):
        column = ours.manifest.column(name) if ours.manifest is not None else None
        if column is None or any(record.stages for record in column.records):
            continue
        (rows, others), _ = linked(quasi, [ours.table, theirs.table], None)
        if len(rows):
            changed = int((ours.codes(name)[rows] != theirs.codes(name)[others]).sum())
            sentence = f"{name}: of {len(rows):,} people linked by public columns {changed:,} are published with another value by the same coins: their values changed, for certain"
            yield Finding.of_facts(NAME, changed, len(rows), sentence, "linkability", ours.says("keyed_coins"))
