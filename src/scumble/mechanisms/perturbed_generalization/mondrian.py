"""Groups of k rows or more that are alike in their public columns (Mondrian; LeFevre, DeWitt and Ramakrishnan, ICDE 2006).

A group is halved at the median of the column in which it spans the largest part of the table's own span, or of the next one, as long as both halves
have k rows. All groups of a level are halved together, by one sort.
"""

import numpy as np
import numpy.typing as npt

Ranks = npt.NDArray[np.integer]
"""Rows by columns: the place of each value among the sorted different ones of its column."""
Places = npt.NDArray[np.intp]


def grouped(ranks: Ranks, k: int) -> tuple[Places, Places]:
    """The rows, group after group, and how many each group has.

    >>> rows, sizes = grouped(np.array([[1], [9], [2], [8]]), 2)
    >>> rows.tolist(), sizes.tolist()
    ([0, 2, 1, 3], [2, 2])
    """
    extent = np.maximum(np.ptp(ranks, axis=0), 1)
    rows, sizes = np.arange(len(ranks)), np.array([len(ranks)])
    whole: list[tuple[Places, Places]] = []
    while len(sizes):
        right, halved = _cut(ranks, rows, sizes, extent, k)
        group = np.repeat(np.arange(len(sizes)), sizes)
        open_rows = halved[group]
        whole.append((rows[~open_rows], sizes[~halved]))
        half = 2 * group[open_rows] + right[open_rows]
        rows = rows[open_rows][np.argsort(half, kind="stable")]
        counts = np.bincount(half)
        sizes = counts[counts > 0]
    return np.concatenate([low for low, _ in whole]), np.concatenate([high for _, high in whole])


def _cut(
    ranks: Ranks, rows: Places, sizes: Places, extent: npt.NDArray[np.integer], k: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which rows go to the upper half of their group, and which groups are halved at all."""
    begin = np.cumsum(sizes) - sizes
    part = ranks[rows]
    spans = (np.maximum.reduceat(part, begin, axis=0) - np.minimum.reduceat(part, begin, axis=0)) / extent
    widest_first = np.argsort(-spans, axis=1, kind="stable")
    right, halved = np.zeros(len(rows), dtype=np.bool_), np.zeros(len(sizes), dtype=np.bool_)
    for column in widest_first.T:
        groups = np.flatnonzero(~halved & (sizes >= 2 * k))
        if len(groups) == 0:
            break
        own = np.isin(np.repeat(np.arange(len(sizes)), sizes), groups)
        group = np.repeat(np.arange(len(groups)), sizes[groups])
        values = part[own, column[groups][group]]
        upper = values > _medians(values, group, sizes[groups])[group]
        above = np.bincount(group, weights=upper, minlength=len(groups))
        works = (above >= k) & (sizes[groups] - above >= k)
        right[own] |= upper & works[group]
        halved[groups[works]] = True
    return right, halved


def _medians(values: Ranks, group: Places, sizes: Places) -> Ranks:
    """The lower median of each group, or where that is its largest value the place before it: something has to lie above."""
    base = int(values.max()) + 1
    ordered = np.sort(group * base + values)
    ends = np.cumsum(sizes)
    median, top = (ordered[at] % base for at in (ends - sizes + (sizes - 1) // 2, ends - 1))
    return np.where(median == top, top - 1, median)
