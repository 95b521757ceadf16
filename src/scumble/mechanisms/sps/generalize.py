"""Values of a public attribute that the sensitive attribute does not tell apart become one value.

Otherwise an attacker who knows that favourite colours do not matter adds up the groups that differ in colour alone, and
estimates from all of them. For two values with sensitive counts o and o' (totals N and N') the statistic of homogeneity

    chi^2 = sum_j (sqrt(N'/N) o_j - sqrt(N/N') o'_j)^2 / (o_j + o'_j),        over the bins j with o_j + o'_j > 0

has, when both come from one distribution, as many degrees of freedom as such bins, less one. Values whose test does not
reject are linked; what is connected merges. The test sees the data, so the map that comes out of it tells something
about them. A rare value is told apart from few, so that it may be the bridge between values that differ plainly: in Adult
14 members of the armed forces join clerks (14% above 50K) with executives (48%). Agglomerative merging has no bridges: again and
again the two groups merge that the test tells apart least, and count as one from then on, until it tells all apart.

where o = a row of `counts`.
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from scumble.core.errors import ParameterError
from scumble.core.parameters import number

Value = TypeVar("Value", bound=Hashable)
Labels = npt.NDArray[np.int64]
Links = npt.NDArray[np.bool_]

MERGING = ("connected", "agglomerative")
"""How values that the test does not tell apart become groups."""


def generalize(
    values: Sequence[Value],
    counts: Any,
    *,
    ordered: bool = False,
    significance: Any = 0.05,
    freedom: int | None = None,
    merging: str = "connected",
) -> dict[Value, tuple[Value, ...]]:
    """The map from each value to its group, written as the values of the group. The arguments are those of `merge`.

    >>> generalize(["red", "blue", "grey"], [[50, 50], [49, 51], [5, 95]])
    {'red': ('red', 'blue'), 'blue': ('red', 'blue'), 'grey': ('grey',)}
    """
    groups = merge(counts, ordered=ordered, significance=significance, freedom=freedom, merging=merging)
    if len(values) != len(groups):
        raise ParameterError(f"there are {len(values)} values and {len(groups)} rows of counts; one row for each value")
    members: dict[int, list[Value]] = {}
    for value, group in zip(values, groups.tolist(), strict=True):
        members.setdefault(group, []).append(value)
    return {value: tuple(members[group]) for value, group in zip(values, groups.tolist(), strict=True)}


def merge(
    counts: Any,
    *,
    ordered: bool = False,
    significance: Any = 0.05,
    freedom: int | None = None,
    merging: str = "connected",
) -> Labels:
    """The group of each row of counts, numbered from 0 in the order of their first rows.

    ordered       only neighbouring rows may merge: bins of a numeric attribute stay intervals
    significance  the probability that two values of one distribution are told apart
    freedom       degrees of freedom of every test; non-empty bins less one when absent
    merging       "connected": values that are linked, directly or by others; "agglomerative": the pair that differs least, as often as one does not differ

    A row without records links nothing: it stays alone, or, among ordered rows, joins the row before it.

    >>> merge([[50, 50], [5, 95], [49, 51], [0, 0]]).tolist()
    [0, 1, 0, 2]
    >>> merge([[50, 50], [5, 95], [49, 51], [0, 0]], ordered=True).tolist()
    [0, 1, 2, 2]
    """
    table = _table(counts)
    level = number(significance, "significance")
    if not 0 < level < 1:
        raise ParameterError(f"significance must lie in (0, 1), not {significance}")
    if freedom is not None and freedom < 1:
        raise ParameterError(f"freedom must be at least 1, not {freedom}")
    if merging not in MERGING:
        raise ParameterError(f"merging is one of {', '.join(MERGING)}, not {merging!r}")
    if merging == "agglomerative":
        return _agglomerated(table, level, freedom, ordered=ordered)
    if ordered:
        return _runs(table, level, freedom)
    links = np.stack([_alike(row, table, level, freedom) for row in table])
    return _numbered(connected_components(csr_array(links), directed=False)[1])


def homogeneity(row: Any, rows: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The statistics of one row of counts against each of others, and the numbers of non-empty bins.

    >>> statistic, bins = homogeneity([10, 20, 0], [[10, 20, 0], [20, 10, 0]])
    >>> statistic.round(4).tolist(), bins.tolist()
    ([0.0, 6.6667], [2, 2])
    """
    one, many = np.asarray(row, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    both = one + many
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(many.sum(axis=1, keepdims=True) / one.sum())
        terms = np.where(both > 0, (ratio * one - many / ratio) ** 2 / both, 0.0)
    return terms.sum(axis=1), (both > 0).sum(axis=1)


def _alike(row: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], level: float, freedom: int | None) -> Links:
    """Which rows the test does not tell apart from one; a row without records is like none."""
    return np.asarray(_chances(row, rows, freedom) >= level)


def _chances(row: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], freedom: int | None) -> npt.NDArray[np.float64]:
    """How likely a row of counts differs so much from each of others, or more, where both come from one distribution; -1 without records."""
    statistic, bins = homogeneity(row, rows)
    degrees = np.maximum(bins - 1, 0) if freedom is None else np.full(len(rows), freedom)
    chance = np.where(degrees > 0, special.chdtrc(degrees, statistic), 1.0)  # one bin: nothing can differ
    return np.asarray(np.where((rows.sum(axis=1) > 0) & (row.sum() > 0), chance, -1.0))


def _agglomerated(table: npt.NDArray[np.int64], level: float, freedom: int | None, *, ordered: bool) -> Labels:
    """Groups from merging the pair that differs least; of ordered rows, the pair of neighbours. Ties go to the first pair."""
    filled = np.flatnonzero(table.sum(axis=1))
    groups = [[int(row)] for row in filled]
    sums = table[filled].copy()
    near = _neighbours(sums, freedom) if ordered else _pairs(sums, freedom)
    while len(groups) > 1 and near.max() >= level:
        one, other = divmod(int(near.argmax()), len(groups))
        groups[one] += groups.pop(other)
        sums[one] += sums[other]
        sums, near = np.delete(sums, other, axis=0), np.delete(np.delete(near, other, axis=0), other, axis=1)
        chances = _chances(sums[one], sums, freedom)
        others = np.arange(len(groups))
        allowed = np.abs(others - one) == 1 if ordered else others != one
        near[one, one:] = np.where(allowed, chances, -1.0)[one:]
        near[:one, one] = np.where(allowed, chances, -1.0)[:one]
    labels = np.arange(len(table), dtype=np.int64)  # a row without records stays alone
    for group in groups:
        labels[group] = min(group)
    if ordered:
        labels = _joined_before(labels, filled)
    return _numbered(labels)


def _pairs(sums: npt.NDArray[np.int64], freedom: int | None) -> npt.NDArray[np.float64]:
    """The chances of all pairs, each once, above the diagonal."""
    return (
        np.triu(np.stack([_chances(row, sums, freedom) for row in sums]) + 1, 1) - 1 if len(sums) else np.zeros((0, 0))
    )


def _neighbours(sums: npt.NDArray[np.int64], freedom: int | None) -> npt.NDArray[np.float64]:
    """The same of neighbours only."""
    near = np.full((len(sums), len(sums)), -1.0)
    for place in range(len(sums) - 1):
        near[place, place + 1] = _chances(sums[place], sums[place + 1 : place + 2], freedom)[0]
    return near


def _joined_before(labels: Labels, filled: npt.NDArray[np.intp]) -> Labels:
    """Rows without records in the group of the row before them; those before all others in the first one."""
    if not len(filled):
        return np.zeros_like(labels)
    last = np.maximum(np.searchsorted(filled, np.arange(len(labels)), side="right") - 1, 0)
    return np.asarray(labels[filled[last]])


def _runs(table: npt.NDArray[np.int64], level: float, freedom: int | None) -> Labels:
    """Groups of neighbours: a new one starts where a row differs from the last row with records before it."""
    filled = np.flatnonzero(table.sum(axis=1))
    starts = np.zeros(len(table), dtype=np.int64)
    for before, after in pairwise(filled):
        starts[after] = not _alike(table[before], table[after : after + 1], level, freedom)[0]
    return np.cumsum(starts)


def _numbered(labels: npt.NDArray[Any]) -> Labels:
    """The same groups, numbered in the order of their first members."""
    _, first, places = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[places], dtype=np.int64)


def _table(counts: Any) -> npt.NDArray[np.int64]:
    table = np.asarray(counts)
    if table.ndim != 2 or not table.size or not np.issubdtype(table.dtype, np.integer) or np.any(table < 0):
        raise ParameterError(
            "counts are a table of values by sensitive values: whole numbers, none negative, not empty"
        )
    return table.astype(np.int64)
