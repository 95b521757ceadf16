"""Perturbation partitioning, planned from counts alone: disjoint sub-tables, each perturbed within its own values.

Sub-table T_i has m_i values. With N = |T_i| and C_S records of property S, of which c_S have its most frequent value, the
posterior of S, with the sub-table's own frequencies as prior, is at most rho2 exactly when

    gamma_i - 1 <= (rho2 N - C_S) / ((1 - rho2) c_S)

The properties are the protected values (C_S = c_S: this is gamma_i = rho2 (1 - rho1_i) / (rho1_i (1 - rho2)), rho1_i = c_S / N)
and the sets in `together`; the strictest sets gamma_i. Sub-tables are unions of balanced groups that minimise

    error = sum_i |T_i|/|T| a/sqrt(|T_i|) (m_i/(gamma_i - 1) + 1),        a = 2 sqrt(ln(2/delta))

A union with gamma_i <= 1 is not admitted. The proof, and what a sub-table's number tells: docs/proofs/partition.md.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel
from scumble.core.errors import ParameterError
from scumble.core.once import once
from scumble.core.parameters import number
from scumble.mechanisms.partitioned.merge import (
    Counts,
    Mask,
    Merge,
    SubtableRule,
    cuthill_mckee,
    error_of,
    merge_neighbours,
    union,
)
from scumble.mechanisms.partitioned.merge_search import search


@dataclass(frozen=True, eq=False)
class Partition:
    """How many records of each value go to which sub-table, and what each sub-table's channel is.

    >>> plan = partition([12, 8, 6, 5, 4, 3, 1, 1, 1, 1], "1/3", "2/3")
    >>> plan.subtables.tolist()
    [[12, 8, 6, 4, 4, 2, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 1, 1, 1, 1]]
    >>> [round(gamma, 9) for gamma in plan.gamma], round(plan.error, 4), round(plan.reference_error, 4)
    ([4.0, 10.0], 2.0196, 2.0303)
    """

    groups: Counts
    """The balanced groups, a row of counts each."""
    merged: tuple[tuple[int, ...], ...]
    """The groups that make up each sub-table."""
    subtables: Counts
    """The sub-tables, a row of counts each: exactly so many records of a value, drawn at random, go there."""
    protected: Mask
    """The values whose posterior is bounded by rho2."""
    guarded: tuple[tuple[int, ...], ...]
    """The sets of `together` whose posterior is bounded by rho2 too, because they are at most rho1 of the table."""
    gamma: tuple[float, ...]
    """The amplification within each sub-table."""
    error: float
    """The weighted expected reconstruction error."""
    reference_error: float
    """The same for neighbours merged in Reverse Cuthill-McKee order."""
    whole_error: float
    """The same for the table in one piece."""

    @once
    def values(self) -> tuple[npt.NDArray[np.intp], ...]:
        """The indices of the values of each sub-table, in the order of its channel."""
        return tuple(np.flatnonzero(row) for row in self.subtables)

    @once
    def channels(self) -> tuple[Channel, ...]:
        """The channel of each sub-table, over its own values."""
        return tuple(Channel.from_gamma(len(own), gamma) for own, gamma in zip(self.values, self.gamma, strict=True))

    @property
    def rho1(self) -> tuple[float, ...]:
        """The largest relative frequency of a protected value in each sub-table."""
        return tuple(int(row[self.protected].max()) / int(row.sum()) for row in self.subtables)

    @property
    def gain(self) -> float:
        """The part of the reference error that the search saves; negative where a given order is worse."""
        return 1 - self.error / self.reference_error


def partition(
    counts: Any,
    rho1: Any,
    rho2: Any,
    *,
    delta: Any = 0.05,
    order: Sequence[int] | None = None,
    together: Iterable[Iterable[int]] = (),
    protected: Any = None,
    names: Sequence[Any] | None = None,
) -> Partition:
    """The sub-tables of smallest expected error in which no protected value's posterior exceeds rho2.

    counts     the records of each value; a value without records belongs to no sub-table
    order      an arranging order of the groups, counted from 0: only neighbours in it are merged. When absent, all merges
               are searched
    together   sets of values (indices) that say something even where it stays open which of them it is. No sub-table lies inside
               one; and one that is at most rho1 of the table is held to rho2 like a protected value
    protected  a mask of the protected values; when absent, those of relative frequency at most rho1
    names      what the values are called in an error; their indices when absent

    >>> partition([40, 30, 20, 10], 0.4, 0.3)
    Traceback (most recent call last):
    scumble.core.errors.ParameterError: rho2 = 0.3 is not above what the table itself tells: the most frequent protected value, 0, has ...
    """
    table = _whole_numbers(counts)
    low, high = number(rho1, "rho1"), number(rho2, "rho2")
    called = [repr(name) for name in names] if names is not None else [str(index) for index in range(len(table))]
    chosen = _protected(table, low, protected, called)
    _check_feasible(table, chosen, low, high, called)
    sets = [_member(table, named, called) for named in together]
    guarded = [int(table[members].sum()) / int(table.sum()) <= low for members in sets]
    falling = np.lexsort((*sets, chosen, -table))  # groups, and what is found among them, depend on the order of values
    rule = SubtableRule(
        high, chosen[falling], [members[falling] for members in sets], guarded, _scale(delta) / int(table.sum())
    )
    groups = balance(table[falling], rule.protected)
    reference = merge_neighbours(rule, groups, cuthill_mckee(groups))
    merge = (
        search(rule, groups, reference) if order is None else merge_neighbours(rule, groups, _given(order, len(groups)))
    )
    return _in_order(_partition(rule, groups, reference, merge), np.argsort(falling))


def _in_order(parts: Partition, places: npt.NDArray[np.intp]) -> Partition:
    """The same partition with its values at the given places."""
    numbers = np.argsort(places)
    return replace(
        parts,
        groups=parts.groups[:, places],
        subtables=parts.subtables[:, places],
        protected=parts.protected[places],
        guarded=tuple(tuple(sorted(numbers[list(members)].tolist())) for members in parts.guarded),
    )


def _partition(rule: SubtableRule, groups: Counts, reference: Merge, merge: Merge) -> Partition:
    rows = union(groups, sorted(merge))
    return Partition(
        groups=groups,
        merged=tuple(tuple(block) for block in sorted(merge)),
        subtables=rows,
        protected=rule.protected,
        guarded=tuple(tuple(np.flatnonzero(guarded).tolist()) for guarded in compress(rule.sets, rule.guarded)),
        gamma=tuple((1 + rule.excess(rule.measure(rows))).tolist()),
        error=error_of(rule, groups, merge),
        reference_error=error_of(rule, groups, reference),
        whole_error=error_of(rule, groups, [list(range(len(groups)))]),
    )


def balance(counts: Counts, protected: Mask) -> Counts:
    """The balanced groups: in each, a protected value has about the share of the most frequent one in the table, or less.

    Over the protected records, theta = floor(|T'| / f_max); a group takes h records of each of the theta most frequent
    values that are left, h as large as keeps the rest balanced. The other records follow in proportion.

    >>> balance(np.array([3, 2, 2, 1]), np.ones(4, bool)).tolist()
    [[2, 2, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]]
    """
    left = np.where(protected, counts, 0)
    width = int(left.sum()) // int(left.max())
    groups = []
    while left.any():
        most = np.argsort(-left, kind="stable")
        depth = _depth(np.append(left[most], 0), int(left.sum()), width)
        group = np.zeros_like(left) if depth else left.copy()
        group[most[:width]] += depth
        groups.append(group)
        left = left - group
    balanced = np.array(groups)
    return np.asarray(balanced + _proportional(balanced.sum(axis=1), np.where(protected, 0, counts)))


def _depth(most_first: Counts, total: int, width: int) -> int:
    """h: how many records of each of the `width` most frequent values can go while the others stay balanced; in integers.

        h = min(mu_width, floor(total / width) - mu_{width + 1})

    The thesis' rule, whose further case mu_1 - mu_width > mu_{width + 1} gives mu_width too, because width mu_1 <= total.
    """
    return min(int(most_first[width - 1]), total // width - int(most_first[width]))


def _proportional(sizes: Counts, rest: Counts) -> Counts:
    """The unprotected records by group: the most frequent value first, so that few groups get many values."""
    total, most = int(rest.sum()), np.argsort(-rest, kind="stable")
    quotas = [int(size) * total // int(sizes.sum()) for size in sizes]
    quotas[-1] += total - sum(quotas)
    to_group, to_value = np.cumsum(quotas), np.cumsum(rest[most])
    last = np.minimum.outer(to_group, to_value)
    first = np.maximum.outer(to_group - quotas, to_value - rest[most])
    shares = np.zeros_like(last)
    shares[:, most] = np.maximum(last - first, 0)
    return np.asarray(shares)


def _whole_numbers(counts: Any) -> Counts:
    given = np.asarray(counts)
    if given.ndim != 1 or given.dtype.kind not in "iuf" or len(given) == 0:
        raise ParameterError("counts must be a list of whole numbers, the records of each value")
    bad = np.flatnonzero(~((given >= 0) & (given == np.floor(given)) & (given < 2**62)))
    if len(bad):
        raise ParameterError(f"counts must be whole numbers from 0 on; value {bad[0]} has {given[bad[0]]}")
    if not given.any():
        raise ParameterError("counts are all 0: a table without records has nothing to publish")
    return given.astype(np.int64)


def _scale(delta: Any) -> float:
    """a = 2 sqrt(ln(2/delta))."""
    exceeded = number(delta, "delta")
    if not 0 < exceeded < 1:
        raise ParameterError(f"delta is the probability that the error is exceeded and must lie in (0, 1), not {delta}")
    return 2 * math.sqrt(math.log(2 / exceeded))


def _protected(counts: Counts, rho1: float, mask: Any, called: list[str]) -> Mask:
    """The protected values that occur. Quotients of integers are rounded like rho1 itself, so that ties are ties."""
    if mask is None:
        chosen = counts / counts.sum() <= rho1
    else:
        chosen = np.asarray(mask)
        if chosen.shape != counts.shape or chosen.dtype != np.bool_:
            raise ParameterError(f"protected must be a mask of {len(counts)} booleans, one for each value")
    chosen = np.asarray(chosen & (counts > 0))
    if not chosen.any():
        rare = int(np.argmin(np.where(counts > 0, counts, counts.max())))
        if mask is not None:
            raise ParameterError(
                f"none of the protected values occurs in the table; name one that does, {called[rare]} say"
            )
        raise ParameterError(
            f"no value that occurs is protected: rho1 = {rho1:.6g}, and the rarest value, {called[rare]}, has {_share(counts, rare)} of the "
            "table; take rho1 at least as large"
        )
    return chosen


def _check_feasible(counts: Counts, protected: Mask, rho1: float, rho2: float, called: list[str]) -> None:
    """The whole table must qualify; then some merge does."""
    top = int(np.argmax(np.where(protected, counts, 0)))
    way_out = f"the most frequent protected value, {called[top]}, has {_share(counts, top)} of the table, and any rho2 above that is feasible"
    if int(counts[top]) / int(counts.sum()) >= rho2:
        raise ParameterError(f"rho2 = {rho2:.6g} is not above what the table itself tells: {way_out}")
    if not 0 < rho1 < rho2 < 1:
        raise ParameterError(
            f"0 < rho1 < rho2 < 1 must hold, not rho1 = {rho1:.6g}, rho2 = {rho2:.6g}; {way_out} (with a lower rho1)"
        )


def _share(counts: Counts, value: int) -> str:
    return f"{counts[value]}/{counts.sum()} = {counts[value] / counts.sum():.6g}"


def _member(counts: Counts, values: Iterable[int], called: list[str]) -> Mask:
    """A set of `together` as a mask."""
    chosen = sorted(set(values))
    wrong = [place for place in chosen if not 0 <= place < len(counts)]
    if wrong or not chosen:
        problem = f"there is no value {wrong[0]}" if wrong else "one is empty"
        raise ParameterError(f"a set in together holds indices of values from 0 to {len(counts) - 1}; {problem}")
    mask = np.zeros(len(counts), dtype=bool)
    mask[chosen] = True
    if not counts[~mask].any():
        raise ParameterError(
            f"the set [{', '.join(called[place] for place in chosen)}] in together holds every value that occurs, so that each sub-table, and the whole table, lies inside it; "
            "leave at least one value out"
        )
    return mask


def _given(order: Sequence[int], size: int) -> list[int]:
    if sorted(order) != list(range(size)):
        raise ParameterError(f"order must hold each of the {size} groups once, counted from 0, not {list(order)}")
    return [int(place) for place in order]
