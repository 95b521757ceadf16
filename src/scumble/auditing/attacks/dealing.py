"""Sub-tables: were rows dealt to them at random? The promise of each sub-table holds for those who know nothing of which rows lie in it but its true counts.

Needs the raw table, because only among rows of one true value every arrangement is alike likely: sub-tables hold different values on purpose, and published values are
theirs. Looked at are people whose row is known. Of N rows of a true value, n in sub-table z and v with some public value, the number of those with both is hypergeometric:

    E = n v / N        V = n v (N - n) (N - v) / (N^2 (N - 1))

The place in the source is looked at like a public column, in twenty equal parts; and by neighbours among the rows of a value: of N - 1 pairs a share q = sum n (n - 1) / (N (N - 1)) lies
in the same sub-table, with a variance of at most about (N - 1) q (1 - q). Dealt in turn, too few do; dealt one after the other, too many.
"""

from collections.abc import Callable

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.guessing import true_values
from scumble.auditing.evidence.parts import HitCount, columns_of, frequent, worst
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.finding import LEVEL, Finding

NAME = "sub-tables"

PLACES = 20
"""Parts of the source that are looked at."""

MOST_VALUES = 20
"""True values, at most, within which a public value is looked at."""


def attack(case: Case) -> Finding | None:
    """The rows of which the sub-table is told best by what is not to tell it."""
    publication = case.publication
    if case.raw is None or publication.release is None or len(publication.release.strata) < 2:
        return None
    (name,) = publication.sensitive
    place, rows = case.known
    x, z = case.truth(name)[place], publication.stratum[rows]
    if not len(rows):
        return None
    true = true_values(case, name)
    parts = _by_place(x, z, place)
    twentieth = place * PLACES // max(1, case.raw.num_rows)
    parts += _by_column(x, z, twentieth, lambda code: f"place in the source = part {code + 1} of {PLACES}", true)
    for codes, named in columns_of(publication.table, publication.quasi):
        parts += _by_column(x, z, codes[rows], named, true)
    measured = worst(parts[0], parts[1:], (1 - LEVEL) / 2)
    sentence = f"{measured.success:.2%} of the {measured.people:,} {measured.of}, where random dealing gives {measured.expected:.2%} ({len(parts):,} looked at, {len(rows):,} rows are known)"
    return Finding(NAME, measured.success, measured.expected, *measured.ends, sentence, "integrity")


def _by_place(x: Codes, z: Codes, place: Codes) -> list[HitCount]:
    """Neighbours in the source, among the rows of a true value: in the same sub-table, and not."""
    order = np.lexsort((place, x))
    x, z = x[order], z[order]
    pair = x[1:] == x[:-1]
    same = float((pair & (z[1:] == z[:-1])).sum())
    counts = np.zeros((int(x.max(initial=0)) + 1, int(z.max(initial=0)) + 1))
    np.add.at(counts, (x, z), 1)
    size = counts.sum(axis=1)
    q = (counts * (counts - 1)).sum(axis=1) / np.maximum(size * (size - 1), 1)
    pairs = np.maximum(size - 1, 0)
    expected, variance, count = float((pairs * q).sum()), float((pairs * q * (1 - q)).sum()), float(pairs.sum())
    return [
        HitCount(
            hits,
            mean,
            variance,
            count,
            2.0,
            f"pairs of rows next to each other in the source, of one true value, lie in {where}",
        )
        for hits, mean, where in (
            (same, expected, "one sub-table"),
            (count - same, count - expected, "two sub-tables"),
        )
    ]


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
