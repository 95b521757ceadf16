"""Order: does the place of a row tell where it stood in the source, or which rows belong together?

With the raw table each row has a score, the mean place of its public values there; and another one, how many people with these
public values have its sensitive value, which is higher where values were kept. In a release whose order is random, scores neither rise nor
fall with the place, and those of neighbours are not alike. Without the raw table, neighbours must not have the same value
more often than in random order. A table that is sorted by what it publishes, as a whole or piece by piece, tells nothing by that:
everything is looked at among rows that are equal in the columns it is sorted by.

The success is the share of pairs of rows whose order in the source is told right, 1/2 + asin(r)/pi; 1/2 is a coin. Both signs and all
statistics are looked at, and the interval is wide enough for that.
"""

import math

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.stats import norm

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import column_law
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.evidence.value_counts import ValueCounts
from scumble.auditing.finding import LEVEL, Finding

NAME = "order"

Numbers = npt.NDArray[np.float64]

PIECE, PIECES = 1 << 17, 16
"""A table may have been written in pieces that are sorted each by itself: so many, or of so many rows at least."""

ROUNDING = 1e-9
"""Differences of scores, as a share of their range, that come from rounding alone."""

LONG = 10
"""Runs of so many rows are long enough for what is said of the scores of neighbours."""


def attack(case: Case) -> Finding | None:
    """The strongest sign of an order that is not random."""
    if case.publication.manifest is not None and case.publication.manifest.order == "sorted" and _by_value(case):
        sentence = "rows are in the order of their values, copies side by side, which tells nothing that they do not"
        return Finding(NAME, 0.5, 0.5, 0.5, 0.5, sentence, "integrity")
    findings = [sign for table in case.publication.tables if table.num_rows > 2 for sign in _signs(table)]
    if len(case.publication.tables) == 1 and case.scored and case.publication.table.num_rows > 2:
        findings += _against_raw(case)
    if not findings:
        return None
    score, correlation, sentence = max(findings)
    quantile = float(norm.isf((1 - LEVEL) / (2 * len(findings))))
    deviation = correlation / score if score > 0 else 0.0
    ends = (_share(max(0.0, correlation - quantile * deviation)), _share(correlation + quantile * deviation))
    detail = f"{sentence}: {score:.1f} standard deviations from random order, {quantile:.1f} are taken for chance ({len(findings)} looked at)"
    return Finding(NAME, _share(correlation), 0.5, *ends, detail, "integrity")


def _by_value(case: Case) -> bool:
    """Whether equal rows lie together in every table, as where tuples are written one after the other."""
    for table in case.publication.tables:
        (number,), count = together(table.column_names, table)
        if int((np.diff(number) != 0).sum()) + 1 > count:
            return False
    return True


def _share(correlation: float) -> float:
    return 0.5 + math.asin(min(1.0, correlation)) / math.pi


Sign = tuple[float, float, str]
"""Standard deviations, correlation, and what was looked at."""


def _against_raw(case: Case) -> list[Sign]:
    """Scores against places, and of neighbours against each other."""
    groups, publication = case.groups, case.publication
    mean = np.bincount(groups.raw, weights=np.arange(len(groups.raw)), minlength=groups.count) / np.maximum(
        groups.people, 1
    )
    known = groups.people[groups.published] > 0
    run = sorted_runs(publication.table)[1]
    signs = _of_scores(mean[groups.published][known], run[known], "the place in the raw table")
    for name in publication.sensitive if publication.coined else []:
        assert publication.manifest is not None
        cells = ValueCounts(groups.raw, case.truth(name), publication.manifest.domains[name].size)
        seen = column_law(publication, name, case.truth(name)).read(publication.codes(name))
        kept = cells.at(groups.published, seen) / groups.people[groups.published]
        signs += _of_scores(kept, run, f"which {name} were kept")
    return signs


def _of_scores(score: Numbers, run: Codes, sentence: str) -> list[Sign]:
    """Scores among the rows of each run: do they rise with the place, and are neighbours alike?

    In a run of s rows with centred scores x and places i, both in any order alike likely, sum i x has mean 0 and variance
    S_ii S_xx / (s - 1), and the sum over neighbours of x x' has mean -S_xx / s, a variance of about S_xx^2 / s and a third moment
    of about S_xxx^2 / s, S the sums of squares and cubes: where few rows have a score that differs, it is far from normal.
    """
    if not len(score) or np.ptp(score) == 0:
        return []
    size, score = np.bincount(run), score / np.ptp(score)
    x = score - (np.bincount(run, weights=score) / np.maximum(size, 1))[run]
    place = np.arange(len(run)) - (np.bincount(run, weights=np.arange(len(run))) / np.maximum(size, 1))[run]
    x[np.abs(x) < ROUNDING] = 0
    squares = np.bincount(run, weights=x * x)
    spread = squares * np.bincount(run, weights=place * place) / np.maximum(size - 1, 1)
    findings = [
        _sign(
            float((place * x).sum()),
            float(spread.sum()),
            float(np.sqrt(squares.sum() * (place * place).sum())),
            sentence,
        )
    ]
    pair = (run[1:] == run[:-1]) & (size[run[1:]] >= LONG)
    long = size >= LONG
    expected = -float((squares[long] / size[long]).sum())
    alike = float((x[1:] * x[:-1])[pair].sum()) - expected
    variance = float((squares[long] ** 2 / size[long]).sum())
    third = float((np.bincount(run, weights=np.abs(x) ** 3)[long] ** 2 / size[long]).sum())
    largest = third / variance if variance > 0 else 0.0
    findings.append(_sign(alike, variance, float(squares[long].sum()), f"{sentence}, of neighbours", largest))
    return [sign for sign in findings if sign is not None]


def _sign(sum: float, variance: float, most: float, sentence: str, largest: float = 0.0) -> Sign | None:
    """A sum that has mean 0 in random order, in standard deviations and as a share of the most that it can be."""
    if variance <= 0 or most <= 0:
        return None
    return _deviations(abs(sum), variance, largest), min(1.0, abs(sum) / most), sentence


def _deviations(above: float, variance: float, largest: float) -> float:
    """The z with above = z sqrt(V) + z^2 L / 6: where few pairs add up, each of size L, far sums are likelier than the normal law says.

    >>> _deviations(6.0, 4.0, 0.0), round(_deviations(6.0, 4.0, 1.0), 3)
    (3.0, 2.485)
    """
    deviation = math.sqrt(variance)
    return 2 * above / (deviation + math.sqrt(variance + 2 / 3 * largest * above))


def _signs(table: pa.Table) -> list[Sign]:
    """For each column, whether neighbours have the same value more often than by chance, within what the table is sorted by."""
    names, run = sorted_runs(table)
    size = np.bincount(run)
    findings = []
    for name in table.column_names:
        if name not in names:
            (codes,), count = together([name], table)
            sign = _neighbours(codes, count, run, size, name)
            findings += [sign] if sign is not None else []
    return findings


def _neighbours(codes: Codes, count: int, run: Codes, size: Codes, name: str) -> Sign | None:
    """Equal neighbours against their number in random order within the runs.

    In a run of s rows with n_j of each value, each pair of neighbours is equal with probability q = sum n_j (n_j - 1) / (s (s - 1)); the
    variance of their number is that of random order, (s - 1) q (1 - q) up to terms that make it smaller.
    """
    cells, times = np.unique(run * count + codes, return_counts=True)
    pairs = np.bincount(cells // count, weights=times * (times - 1.0), minlength=len(size))
    long = size > 1
    q = pairs[long] / (size[long] * (size[long] - 1.0))
    expected, variance = float(((size[long] - 1) * q).sum()), float(((size[long] - 1) * q * (1 - q)).sum())
    if variance <= 0:
        return None
    same = int(((codes[1:] == codes[:-1]) & (run[1:] == run[:-1])).sum())
    return (
        _deviations(max(0.0, same - expected), variance, 1.0),
        min(1.0, max(0.0, same - expected) / max(1.0, float((size[long] - 1).sum()) - expected)),
        f"neighbours with the same {name}",
    )


def _turns_by_chance(codes: Codes, pairs: int) -> float:
    """How many of so many pairs of neighbours fall, in random order."""
    shares = np.bincount(codes) / len(codes)
    return pairs * float(1 - (shares**2).sum()) / 2


def sorted_runs(table: pa.Table) -> tuple[list[str], Codes]:
    """The columns by which the rows are sorted, rising or falling, piece by piece; and the number of each row's run of equal ones.

    >>> names, run = sorted_runs(pa.table({"x": [1, 3, 2, 3], "y": [1, 1, 2, 2]}))
    >>> names, run.tolist()
    (['y', 'x'], [0, 1, 2, 3])
    """
    findings: list[str] = []
    same = np.ones(table.num_rows - 1, dtype=np.bool_)
    pieces = max(PIECES, table.num_rows // PIECE)
    while same.any():
        for name in table.column_names:
            if name in findings:
                continue
            (codes,), count = together([name], table)
            step = np.diff(codes)
            inside = step[same]
            turns = min(int((inside < 0).sum()), int((inside > 0).sum()))
            if count > 1 and inside.any() and turns <= min(pieces, _turns_by_chance(codes, len(inside)) / 5):
                findings.append(name)
                same &= step == 0
                break
        else:
            break
    return findings, np.concatenate([[0], np.cumsum(~same)])
