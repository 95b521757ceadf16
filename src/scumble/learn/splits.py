"""The best split of a box, from reconstructed counts, and whether it is more than noise.

With x[d, c] the unbiased count of rows of the box in bin d and class c, a split is a set S of bins and the counts are

    left_c = sum_{d in S} x[d, c],    right_c = sum_{d not in S} x[d, c]

They may be negative; impurity sees their projection onto the non-negative tables of the same total. The split is significant if
the classes are distributed differently on its two sides: with q the class shares of the box and s the share of S,

    D_c = sum over rows of ([bin in S] - s) ([class = c] - q_c),    z^2 = max_c D_c^2 / Var(D_c)

which is Pearson's chi-square where nothing is perturbed. The variance is that of drawing the rows and of the coins. The level
accounts for the search: Bonferroni over thresholds, Scheffe over the subsets of categories, Bonferroni over features.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from scumble.core.channel_base import BaseChannel
from scumble.learn.axis import Axis
from scumble.learn.counts import Mask, NodeSums, Tensor


@dataclass(frozen=True)
class Split:
    """A feature, the bins that go left, and what is known of the two sides."""

    feature: int
    left: Mask
    right: Mask
    gain: float
    """By how much impurity falls, times the size of the box."""
    counts: Tensor
    """Non-negative counts: side x class."""
    strength: float
    """z: how many standard errors the two sides differ by."""


@dataclass(frozen=True)
class Rules:
    """What a split must fulfil."""

    impurity: Callable[[Tensor], Tensor]
    least: float
    """Rows on each side."""
    significance: float
    """How often a split may be found where there is nothing, in one box."""


def gini(counts: Tensor) -> Tensor:
    """n (1 - sum_c q_c^2), along the last axis.

    >>> gini(np.array([[50.0, 50.0], [10.0, 0.0]])).tolist()
    [50.0, 0.0]
    """
    n = counts.sum(axis=-1)
    return np.asarray(n - (counts**2).sum(axis=-1) / np.maximum(n, 1e-300))


def entropy(counts: Tensor) -> Tensor:
    """-n sum_c q_c log2 q_c, along the last axis.

    >>> entropy(np.array([[50.0, 50.0], [10.0, 0.0]])).tolist()
    [100.0, 0.0]
    """
    q = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1e-300)
    return np.asarray((counts * np.log2(1 / np.where(q > 0, q, 1))).sum(axis=-1))


def project(tables: Tensor) -> Tensor:
    """The nearest tables without negative entries and with the same totals; one table for each entry of the first axis.

        max(0, x - l),  l chosen so that the total stays          (a total that is not positive leaves nothing)

    >>> project(np.array([[60.0, 50.0, -10.0], [1.0, 2.0, 3.0]])).tolist()
    [[55.0, 45.0, 0.0], [1.0, 2.0, 3.0]]
    """
    flat = tables.reshape(len(tables), -1)
    total = np.maximum(flat.sum(axis=1), 0)
    down = -np.sort(-flat, axis=1)
    level = (np.cumsum(down, axis=1) - total[:, None]) / np.arange(1, flat.shape[1] + 1)
    active = np.maximum((down > level).sum(axis=1), 1)
    out = np.maximum(flat - level[np.arange(len(flat)), active - 1][:, None], 0)
    possible = np.where(total[:, None] > 0, out, 0.0)
    return np.asarray(np.where(flat.min(axis=1, keepdims=True) >= 0, flat, possible).reshape(tables.shape))


def best_split(
    axes: Sequence[Axis], target: Axis, sums_of_axes: Sequence[NodeSums], inside: Sequence[Mask], rules: Rules
) -> Split | None:
    """The significant split of the largest gain over all features, if there is one."""
    splits = [
        _best_of(place, axis, target, sums, members, rules, len(axes))
        for place, (axis, sums, members) in enumerate(zip(axes, sums_of_axes, inside, strict=True))
    ]
    return max((split for split in splits if split is not None), key=lambda split: split.gain, default=None)


def _best_of(
    place: int, axis: Axis, target: Axis, sums: NodeSums, members: Mask, rules: Rules, features: int
) -> Split | None:
    x = _counts(axis, target, sums)[members]
    total = project(x.sum(axis=0)[None])[0]
    if members.sum() < 2 or total.sum() < 2 * rules.least or (total > 0).sum() < 2:
        return None
    sides = _candidates(axis, x, total, members)
    left = sides[:, members] @ x
    tables = project(np.stack([left, x.sum(axis=0) - left], axis=1))
    gain = rules.impurity(total) - rules.impurity(tables).sum(axis=1)
    allowed = _large_enough(axis, sums, sides, members, tables, rules.least) & (gain > 1e-9 * total.sum())
    squares = _squares(axis, target, sums, sides, members, left, total)
    allowed &= _surprise(axis, squares, len(sides), int(members.sum()), target.size) < np.log(
        rules.significance / features
    )
    if not allowed.any():
        return None
    k = int(np.argmax(np.where(allowed, gain, -np.inf)))
    chosen = sides[k].astype(np.bool_)
    return Split(place, chosen, members & ~chosen, float(gain[k]), tables[k], float(np.sqrt(squares[k])))


def _counts(axis: Axis, target: Axis, sums: NodeSums) -> Tensor:
    """Unbiased counts: bin x class."""
    return sum(
        (_solve(f, t, y) for f, t, y in zip(axis.channels, target.channels, sums.first, strict=True)), np.zeros(1)
    )


def _solve(feature: BaseChannel, target: BaseChannel, published: Tensor) -> Tensor:
    return target.solve(feature.solve(published).T).T


def _candidates(axis: Axis, x: Tensor, total: Tensor, members: Mask) -> Tensor:
    """Sets of bins to try, as rows of 0 and 1: what lies below a threshold, or the categories with the smallest rates.

    Rates are drawn to that of the box by as much as ten rows would, so that a rare category does not stand at an end by chance.
    More than two classes: categories are ordered by each class in turn, and each is tried alone.
    """
    bins = np.flatnonzero(members)
    if axis.ordered:
        orders = [np.arange(len(bins))]
    else:
        kept, share = np.maximum(x, 0), total / total.sum()
        rates = (kept + 10 * share) / (kept.sum(axis=1, keepdims=True) + 10)
        orders = [np.argsort(rates[:, c], kind="stable") for c in range(1 if len(total) == 2 else len(total))]
    below = np.tri(len(bins) - 1, len(bins))
    sides = np.zeros((len(orders) * (len(bins) - 1), axis.size))
    for i, order in enumerate(orders):
        sides[i * (len(bins) - 1) : (i + 1) * (len(bins) - 1), bins[order]] = below
    if not axis.ordered and len(total) > 2:
        sides = np.concatenate([sides, np.eye(axis.size)[bins]])
    return sides


def _large_enough(axis: Axis, sums: NodeSums, sides: Tensor, members: Mask, tables: Tensor, least: float) -> Mask:
    """Whether both sides have enough rows, and surely some: more than two standard errors."""
    sizes = tables.sum(axis=2)
    spread = [np.sqrt(_variance(axis, sums.second.sum(axis=2), part)) for part in (sides, members - sides)]
    return np.asarray((sizes >= np.maximum(least, 2 * np.stack(spread, axis=1))).all(axis=1))


def standard_errors(
    axis: Axis, target: Axis, sums: NodeSums, members: Mask, counts: Tensor, whole: float
) -> tuple[float, Tensor]:
    """Of the rows of a box, n among `whole`, and of its class shares.

    Var(n) = Q - n^2 / whole,        Var(q_c) = Var(sum of [class = c] - q_c) / n^2
    """
    inside, share = members.astype(np.float64), counts / counts.sum()
    rows = max(0.0, _variance(axis, sums.second.sum(axis=2), inside[None])[0] - counts.sum() ** 2 / whole)
    surplus = np.zeros(len(counts))
    for feature, classes, q in zip(axis.channels, target.channels, sums.second, strict=True):
        surplus += feature.weights(inside) ** 2 @ q @ classes.weights(np.eye(len(counts)) - share) ** 2
    return float(np.sqrt(rows)), np.sqrt(surplus) / counts.sum()


def _variance(axis: Axis, second: Tensor, functions: Tensor) -> Tensor:
    """The variance of sums of functions of the bin, one in each row; `second` is stratum x published bin."""
    return sum(
        (q @ channel.weights(functions.T) ** 2 for channel, q in zip(axis.channels, second, strict=True)), np.zeros(1)
    )


def _squares(
    axis: Axis, target: Axis, sums: NodeSums, sides: Tensor, members: Mask, left: Tensor, total: Tensor
) -> Tensor:
    """z^2 of each candidate."""
    n = total.sum()
    share, rows = total / n, left.sum(axis=1, keepdims=True)
    part = np.clip(rows / n, 0, 1)
    surplus = left - rows * share
    functions, contrasts = sides - part * members, np.eye(len(total)) - share
    variance = np.zeros((len(sides), len(total)))
    for feature, classes, q in zip(axis.channels, target.channels, sums.second, strict=True):
        variance += (feature.weights(functions.T) ** 2).T @ q @ (classes.weights(contrasts) ** 2)
    return np.asarray((surplus**2 / np.maximum(variance, 1e-300)).max(axis=1))


def _surprise(axis: Axis, squares: Tensor, candidates: int, bins: int, classes: int) -> Tensor:
    """The logarithm of the probability to find such a z^2 anywhere in the search, where there is nothing to find."""
    contrasts = classes - 1
    if axis.ordered:
        return np.asarray(chi2.logsf(squares, 1) + np.log(candidates * contrasts))
    return np.asarray(chi2.logsf(squares, (bins - 1) * contrasts))
