"""Dealing: were rows dealt to sub-tables, or to buckets, at random? What is promised of each holds for those who know nothing of which rows lie in it but its true counts.

Needs the raw table, because only among rows of one true value every arrangement is alike likely: sub-tables and buckets hold different values on purpose. Looked at are people whose row is known. Of N rows of a true
value, n in sub-table z and v with some public value, the number of those with both is hypergeometric:

    E = n v / N        V = n v (N - n) (N - v) / (N^2 (N - 1))

over all true values together and in each of the commonest. Of buckets, which are many, their numbers are averaged instead: the sum over the people of a public value is that of a sample without putting back, whose bound is that
of one with (Hoeffding). And along the raw table (`serial`), and along the rows of one true value alone: do the numbers rise or fall, have they a period, do they go with those of another row? Dealt in turn, or one after the other, they do.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from scumble.auditing.evidence.buckets import AnatomyBuckets
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.guessing import true_values
from scumble.auditing.evidence.parts import HitCount, columns_of, frequent
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.evidence.serial import Series
from scumble.auditing.evidence.signs import Sign, finding_of
from scumble.auditing.evidence.tails import bennett
from scumble.auditing.evidence.trials import without_return
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.core.entropy import Entropy

NAME = "dealing"

PLACES = 20
"""Parts of the source that are looked at like the values of a column."""

MOST_VALUES = 20
"""True values, at most, within which a public value is looked at."""

SIGNS = 4
"""Ways to tell sub-tables apart along the raw table."""


def attack(case: Case) -> Finding | None:
    """The rows of which the sub-table or bucket is told best by what is not to tell it."""
    publication = case.publication
    if case.raw is None or publication.release is None:
        return None
    if publication.form == "buckets":
        families = _of_buckets(case)
    elif publication.form == "boxes":
        families = [list(_of_boxes(case))]
    elif len(publication.release.strata) > 1 and len(case.known[0]):
        families = _of_subtables(case)
    else:
        return None
    return finding_of(NAME, families, error_of(NAME), "random dealing")


def _of_subtables(case: Case) -> list[list[Sign]]:
    publication = case.publication
    (name,) = publication.sensitive
    place, rows = _in_order(case)
    x, z = case.truth(name)[place], publication.stratum[rows]
    along_source = case.place[place]
    parts = _by_column(x, z, along_source * PLACES // max(1, case.length), _part_of_source, true_values(case, name))
    for codes, named in columns_of(publication.table, publication.quasi):
        parts += _by_column(x, z, codes[rows], named, true_values(case, name))
    signs = [Sign(part.log_p(), part.hits / part.people, part.expected / part.people, _words(part)) for part in parts]
    along = list[Sign]()
    for k in range(SIGNS):
        sign = Entropy.seeded(0).stream("signs of sub-tables", k).integers(int(z.max()) + 1, 8) % np.uint8(2)
        along += _along(
            sign.astype(np.float64)[z], x, along_source, case.length, "the sub-table of rows of one true value"
        )
    return [signs, along]


def _of_boxes(case: Case) -> Iterator[Sign]:
    """The value of a box is that of any of its people, drawn at random: how often is it that of the first, or of the last, of the source?"""
    publication = case.publication
    assert publication.release is not None
    (name,), (stratum,) = publication.sensitive, publication.release.strata
    channel, truth, box, seen = stratum[name], case.truth(name), case.boxes, publication.codes(name)
    inside = np.flatnonzero(box >= 0)
    counts = np.zeros((len(seen), channel.size))
    np.add.at(counts, (box[inside], truth[inside]), 1)
    held, share = counts.sum(axis=1) > 0, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for which, order in (("first", inside[::-1]), ("last", inside)):
        person = np.zeros(len(seen), dtype=np.int64)
        person[box[order]] = order  # the one that is written at last stays
        value = truth[person]
        likely = np.stack([channel.likelihood(value, np.full(len(value), x)) for x in range(channel.size)], axis=1)
        hits = float((seen == value)[held].sum())
        part = HitCount.of_chances(hits, (share * likely).sum(axis=1)[held], f"the value of their {which} person")
        words = f"{hits:,.0f} of {part.people:,} boxes have {part.of} in the source, where {part.expected:,.1f} are expected"
        yield Sign(part.log_p(), hits / max(1, part.people), part.expected / max(1, part.people), words)


def _part_of_source(code: int) -> str:
    return f"place in the source = part {code + 1} of {PLACES}"


def _words(part: HitCount) -> str:
    return f"{part.hits:,.0f} of the {part.people:,.0f} {part.of}, where {part.expected:,.1f} are expected"


def _in_order(case: Case) -> tuple[Codes, Codes]:
    """Known people in the order of the raw table, and their rows."""
    place, rows = case.known
    order = np.argsort(place, kind="stable")
    return place[order], rows[order]


def _along(score: Numbers, kind: Codes, place: Codes, length: int, of: str) -> Iterator[Sign]:
    value, variance = without_return(score, kind)
    if variance.any():
        series = Series(value, variance, place, length)
        for sign in (*series.by_place(), series.by_distance()):
            yield replace(sign, of=f"{of} {sign.of}, a correlation of {sign.seen:.3f}")
        order = np.lexsort((place, kind))  # one true value after the other: dealt in turn within each, it shows there
        sign = Series(value[order], variance[order], np.arange(len(order)), len(order)).by_distance()
        yield replace(sign, of=f"{of}, counting these rows alone, {sign.of}, a correlation of {sign.seen:.3f}")


def _of_buckets(case: Case) -> list[list[Sign]]:
    """The numbers of buckets, and who was left out."""
    buckets = AnatomyBuckets.of(case.publication)
    assert case.raw is not None
    truth = buckets.codes(case.raw.column(buckets.name))
    place, rows = _in_order(case)
    groups = case.groups
    alone = np.flatnonzero((groups.people[groups.raw] == 1) & (groups.rows[groups.raw] <= 1))
    number = buckets.of_row[rows] / max(1, len(buckets.counts) - 1)
    there = groups.rows[groups.raw[alone]].astype(np.float64)
    looks = [
        (place, truth[place], number, "the number of the bucket of rows of one true value"),
        (alone, truth[alone], there, "whether rows of one true value were published"),
    ]
    along = [sign for at, x, score, of in looks for sign in _along(score, x, case.place[at], case.length, of)]
    parts = [sign for at, x, score, of in looks for sign in _means(case, at, x, score, of)]
    return [along, parts]


def _means(case: Case, place: Codes, x: Codes, score: Numbers, of: str) -> Iterator[Sign]:
    """Of each public value the mean of the scores of its people, against that of all people of their true values."""
    count = np.maximum(np.bincount(x), 1)
    mean = (np.bincount(x, weights=score) / count)[x]
    spread = np.maximum(np.bincount(x, weights=score**2) / count - (np.bincount(x, weights=score) / count) ** 2, 0)[x]
    assert case.raw is not None
    for codes, named in columns_of(case.raw, case.publication.quasi):
        mine = codes[place]
        sums, variances, rows = (np.bincount(mine, weights=w) for w in (score - mean, spread, np.ones(len(mine))))
        for k in frequent(rows):
            log_p = float(bennett(abs(sums[k]), variances[k])) + np.log(2)
            expected = float(np.bincount(mine, weights=mean)[k] / rows[k])
            seen = expected + float(sums[k] / rows[k])
            words = f"{of}, among {rows[k]:,.0f} people with {named(k)}, is {seen:.3f} in the mean, where {expected:.3f} is expected"
            yield Sign(min(0.0, log_p), seen, expected, words)


def _by_column(
    x: Codes, z: Codes, codes: Codes, named: Callable[[int], str], true: Callable[[int], str]
) -> list[HitCount]:
    """Each frequent value of a column against each sub-table, over all true values together and in each of the commonest."""
    looked = frequent(np.bincount(codes).astype(np.float64))
    number = np.full(int(codes.max(initial=0)) + 1, len(looked))
    number[looked] = np.arange(len(looked))
    shape = (len(looked) + 1, int(x.max(initial=0)) + 1, int(z.max(initial=0)) + 1)
    cell = np.ravel_multi_index((number[codes], x, z), shape)
    both = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    in_table, with_it = both.sum(axis=0), both.sum(axis=2, keepdims=True)
    size = in_table.sum(axis=1, keepdims=True)
    mean = in_table * with_it / np.maximum(size, 1)
    variance = mean * (size - in_table) * (size - with_it) / np.maximum(size * (size - 1), 1)
    parts = []
    for k, code in enumerate(looked):
        rows = with_it[k, :, 0]
        within = [(np.array([value]), f"{named(code)} and {true(value)}") for value in frequent(rows)[:MOST_VALUES]]
        for table in range(shape[2]):
            for chosen, words in [(np.flatnonzero(in_table[:, table]), named(code)), *within]:
                sums = [float(moment[k, chosen, table].sum()) for moment in (both, mean, variance)]
                if sums[2] > 0:
                    sentence = f"rows with {words} lie in sub-table {table}"
                    parts.append(HitCount(sums[0], sums[1], sums[2], float(rows[chosen].sum()), of=sentence))
    return parts
