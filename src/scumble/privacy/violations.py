"""The test of reconstruction privacy: which personal groups let a value be estimated too well."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.errors import ParameterError
from scumble.privacy.tails import Counts, Tails, chernoff, fails, level_of, parameters, tails, whole_counts


@dataclass(frozen=True, eq=False)
class Violators:
    """Which groups let a value be estimated too well, by one of the tests."""

    violating: npt.NDArray[np.bool_]
    groups: float
    """v_g: their share of the groups."""
    records: float
    """v_r: their share of the records."""


@dataclass(frozen=True)
class Exposure:
    """The most frequent value of a group, and how surely it is estimated."""

    group: int
    value: int
    size: int
    count: int
    exact: Tails
    chernoff: Tails


@dataclass(frozen=True, eq=False)
class Violations:
    """Both verdicts, and the groups where the estimate is surest."""

    exact: Violators
    chernoff: Violators
    worst: list[Exposure]


def violations(counts: Any, p: Any, lam: Any, delta: Any, *, worst: int = 10) -> Violations:
    """Which personal groups are not (lambda, delta)-private under uniform perturbation: a row for each group, a column for
    each of the m values; empty rows are no groups.

    The Chernoff bounds fall with f, so its test looks at the most frequent value alone; a group that fails it fails the
    exact one. Of the others the most frequent value is tried, then every value, because true tails are jagged in c. The
    worst groups are those of the smallest Chernoff bound.

    >>> found = violations([[60, 40], [3, 2], [0, 0]], 0.5, 0.3, 0.1)
    >>> found.exact.violating.tolist(), found.exact.groups, round(found.exact.records, 3), found.chernoff.groups
    ([True, False, False], 0.5, 0.952, 0.0)
    """
    table = whole_counts(counts, "counts")
    if table.ndim != 2 or np.any(table < 0) or not table.any():
        raise ParameterError("counts are a table of groups by values, whole, not negative and not all zero")
    retain, width = parameters(p, table.shape[1], lam, 1.0)
    level, size, most = level_of(delta), table.sum(axis=1), table.max(axis=1)
    some = size > 0
    bound = np.ones(len(table))
    bound[some] = chernoff(size[some], most[some], retain, table.shape[1], width).least
    loose = bound < level
    strict = loose.copy()
    for tried in (table * (table == most[:, np.newaxis]), table):
        strict |= _any_fails(tried, size, some & ~strict, retain, width, level)
    surest = np.argsort(bound, kind="stable")[: min(worst, int(some.sum()))]
    exposures = [_exposure(table, int(g), retain, width) for g in surest]
    return Violations(_verdict(strict, size), _verdict(loose, size), exposures)


def _any_fails(
    table: Counts, size: Counts, asked: npt.NDArray[np.bool_], p: float, lam: float, delta: float
) -> npt.NDArray[np.bool_]:
    """For the groups that are asked about: whether an exact tail of any value in the table is below delta."""
    group, value = np.nonzero((table > 0) & asked[:, np.newaxis])
    failed = fails(size[group], table[group, value], p, table.shape[1], lam, delta)
    return np.bincount(group[failed], minlength=len(table)) > 0


def _verdict(violating: npt.NDArray[np.bool_], size: Counts) -> Violators:
    return Violators(violating, float(violating.sum() / (size > 0).sum()), float(size[violating].sum() / size.sum()))


def _exposure(table: Counts, group: int, p: float, lam: float) -> Exposure:
    value, size = int(table[group].argmax()), int(table[group].sum())
    count = int(table[group, value])
    both = [tails(size, count, p, table.shape[1], lam, tail=tail) for tail in ("exact", "chernoff")]
    return Exposure(group, value, size, count, *(Tails(float(t.upper), float(t.lower)) for t in both))
