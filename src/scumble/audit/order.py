"""Order: does the place of a row tell where it stood in the source, or which rows belong together?

With the raw table each row has a score, the mean place of its public values there; and another one, how many people with these public values have its
sensitive value, which is higher where values were kept. In a shuffled release scores come in random order, so both their correlation with the
place and that of neighbours with each other have mean 0 and variance 1/(n - 1). Without the raw table, neighbours must not have the same value more often than in random order. A table that is sorted by what it publishes tells nothing by that; there only the
order within equal rows of the columns it is sorted by is looked at.

The success is the share of pairs of rows whose order in the source is told right, 1/2 + asin(r)/pi; 1/2 is a coin. Both signs and all
statistics are looked at, and the interval is wide enough for that.
"""

import math

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.stats import norm

from scumble.audit.case import Case
from scumble.audit.cells import Cells
from scumble.audit.exhibit import Codes, together
from scumble.audit.finding import LEVEL, Finding

NAME = "order"

Numbers = npt.NDArray[np.float64]


def attack(case: Case) -> Finding | None:
    """The strongest sign of an order that is not random."""
    if case.exhibit.manifest is not None and case.exhibit.manifest.order == "sorted" and _by_value(case):
        told = "rows are in the order of their values, copies side by side, which tells nothing that they do not"
        return Finding(NAME, 0.5, 0.5, 0.5, 0.5, told, "integrity")
    found = [each for table in case.exhibit.tables if table.num_rows > 2 for each in _signs(table)]
    if len(case.exhibit.tables) == 1 and case.scored and case.exhibit.table.num_rows > 2:
        found += _against_raw(case)
    if not found:
        return None
    score, correlation, told = max(found)
    quantile = float(norm.isf((1 - LEVEL) / (2 * len(found))))
    deviation = correlation / score if score > 0 else 0.0
    ends = (_share(max(0.0, correlation - quantile * deviation)), _share(correlation + quantile * deviation))
    detail = f"{told}: {score:.1f} standard deviations from random order, {quantile:.1f} are taken for chance ({len(found)} looked at)"
    return Finding(NAME, _share(correlation), 0.5, *ends, detail, "integrity")


def _by_value(case: Case) -> bool:
    """Whether equal rows lie together in every table, as where tuples are written one after the other."""
    for table in case.exhibit.tables:
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
    groups, exhibit, raw = case.groups, case.exhibit, case.raw
    if _sorted_by(exhibit.table):
        return []
    mean = np.bincount(groups.raw, weights=np.arange(len(groups.raw)), minlength=groups.count) / np.maximum(
        groups.people, 1
    )
    found = _of_scores(mean[groups.published][groups.people[groups.published] > 0], "the place in the raw table")
    for name in exhibit.sensitive if exhibit.perturbed else []:
        assert raw is not None
        assert exhibit.manifest is not None
        cells = Cells(groups.raw, exhibit.codes(name, raw), exhibit.manifest.domains[name].size)
        kept = cells.at(groups.published, exhibit.codes(name)) / groups.people[groups.published]
        found += _of_scores(kept, f"which {name} were kept")
    return found


def _of_scores(score: Numbers, told: str) -> list[Sign]:
    if len(score) < 3 or np.ptp(score) == 0:
        return []
    return [
        _sign(_correlation(np.arange(len(score), dtype=float), score), len(score), told),
        _sign(_correlation(score[:-1], score[1:]), len(score), f"{told}, of neighbours"),
    ]


def _correlation(a: Numbers, b: Numbers) -> float:
    spread = float(np.std(a) * np.std(b))
    return float(np.mean((a - a.mean()) * (b - b.mean()))) / spread if spread > 0 else 0.0


def _sign(correlation: float, rows: int, told: str) -> Sign:
    return abs(correlation) * math.sqrt(rows - 1), abs(correlation), told


def _signs(table: pa.Table) -> list[Sign]:
    """For each column, whether neighbours have the same value more often than by chance, within what the table is sorted by."""
    sorted_by = _sorted_by(table)
    (block,), _ = together(sorted_by, table)
    edges = np.flatnonzero(np.diff(block, prepend=block[0] - 1))
    size = np.diff(np.append(edges, len(block)))
    run = np.repeat(np.arange(len(size)), size)
    found = []
    for name in table.column_names:
        if name not in sorted_by:
            (codes,), count = together([name], table)
            sign = _neighbours(codes, count, run, size, name)
            found += [sign] if sign is not None else []
    return found


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
    if variance < 5:
        return None
    same = int(((codes[1:] == codes[:-1]) & (run[1:] == run[:-1])).sum())
    score = max(0.0, same - expected) / math.sqrt(variance)
    return (
        score,
        min(1.0, max(0.0, same - expected) / max(1.0, float((size[long] - 1).sum()) - expected)),
        f"neighbours with the same {name}",
    )


def _sorted_by(table: pa.Table) -> list[str]:
    """The columns by which the rows are sorted, first, second, and so on; rising or falling."""
    found: list[str] = []
    same = np.ones(table.num_rows - 1, dtype=np.bool_)
    while same.any():
        for name in table.column_names:
            if name in found:
                continue
            (codes,), count = together([name], table)
            step = np.diff(codes)[same]
            if count > 1 and (np.all(step >= 0) or np.all(step <= 0)) and step.any():
                found.append(name)
                same &= np.diff(codes) == 0
                break
        else:
            break
    return found
