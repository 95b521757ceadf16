"""Quantiles of perturbed numbers: where the estimated distribution crosses q, and the values at which a score test does not reject that it does.

With S(t) the estimate of the rows of at most t less q times that of all rows, and V(t) its variance,

    low  = the least t with S(t) >= -z sqrt V(t)          (below it, less than a share of q is surely too little)
    high = the least t with S(t) > z sqrt V(t) from t on  (above it, more than q is surely below)

S is a total like any other: of 1[x <= t] - q. The estimated distribution is put in order (rearranged) before it is read off.
"""

from collections.abc import Sequence

import numpy as np

from scumble.core.errors import QueryError
from scumble.query.aggregates.order import interpolated, share_of
from scumble.query.estimates import Estimate
from scumble.query.factors import Total
from scumble.query.model import written
from scumble.query.small import by_key
from scumble.query.stratum import Stratum
from scumble.query.terms import ONE, Tensor
from scumble.query.totals import Totals

BLOCK = 1 << 22
"""Numbers of a table that are weighed at once."""

ROUNDING = 1e-6
"""A share of the rows that is the arithmetic's."""


def quantile(total: Total, totals: Totals, parts: Sequence[Stratum], z: float) -> Estimate:
    """A quantile with its interval, for every line."""
    function = total.aggregate.function
    assert function is not None
    if set(total.number) - {ONE} or set(total.present) - {ONE}:
        raise QueryError(
            f"{written(function)} mixes public numbers with perturbed columns; ask for the quantile of one column, or for COUNT(*) in ranges"
        )
    values, there = total.number.get(ONE, np.zeros(())), total.present.get(ONE, np.zeros(()))
    points = np.unique(np.broadcast_to(values, np.broadcast_shapes(values.shape, there.shape))[there > 0])
    if not len(points):
        points = np.zeros(1)
    q = share_of(function)
    estimates = []
    for key in range(totals.width):
        base = totals.of_key(there, key)[..., None]
        some = max(1, BLOCK // max(base.size, 1))
        blocks = []
        for at in range(0, len(points), some):
            tables = base * ((values[..., None] <= points[at : at + some]) - q)
            moments = [_moments(part, base, tables) for part in parts]
            blocks.append([np.sum([m[i] for m in moments], axis=0) for i in range(3)])
        score, variance = (np.concatenate([block[i] for block in blocks], axis=1) for i in (1, 2))
        value, low, high = _crossings(blocks[0][0], score, variance, points, q, z, interpolated(function))
        se = np.where(np.isnan(value), np.nan, np.where(high > low, (high - low) / (2 * z), 0.0))
        estimates.append(Estimate(total.aggregate.name, value, se, low, high, "unbiased"))
    return by_key(estimates)


def _moments(part: Stratum, base: Tensor, tables: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The rows of each line, and S with its variance at every point."""
    lines = len(part.cells.groups) * part.cells.width
    rows, score, variance = (
        np.zeros((lines, 1)),
        np.zeros((lines, tables.shape[-1])),
        np.zeros((lines, tables.shape[-1])),
    )
    for members, (own, f) in part.classes(base, tables):
        chosen = np.tile(members.reshape(-1), len(part.cells.groups))
        weights, squares = part.weights(f), part.weights(f**2)
        spread = part.solve(part.gather(weights**2, "n", 2), squares=True) - part.solve(part.gather(squares, "n", 2))
        if part.cells.sampled is not None:
            spread = spread + part.solve(part.gather(squares, "n", 2, sampled=True))
        found = (part.solve(part.gather(part.weights(own), "n")), part.solve(part.gather(weights, "n")), spread)
        for into, numbers in zip((rows, score, variance), found, strict=True):
            into[chosen] = numbers.reshape(into.shape)[chosen]
    return rows, score, variance


def _crossings(
    rows: Tensor, score: Tensor, variance: Tensor, points: Tensor, q: float, z: float, between: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Value, low and high for each line."""
    reach = z * np.sqrt(np.maximum(variance, 0)) + ROUNDING * np.maximum(rows, 1)
    low = points[np.argmax(score >= -reach, axis=1)]
    surely = np.logical_and.accumulate((score > reach)[:, ::-1], axis=1)[:, ::-1]
    high = points[np.where(surely.any(axis=1), np.argmax(surely, axis=1), len(points) - 1)]
    value = _read_off(np.sort(score + q * rows, axis=1), rows[:, 0], points, q, between)
    nobody = rows[:, 0] < 0.5
    low, high = np.where(nobody, points[0], np.fmin(low, value)), np.where(nobody, points[-1], np.fmax(high, value))
    return np.where(nobody, np.nan, value), low, high


def _read_off(counts: Tensor, rows: Tensor, points: Tensor, q: float, between: bool) -> Tensor:
    """The quantile of so many rows at or below each point, as SQL has it: between two values, or the first that reaches the share."""

    def at(place: Tensor) -> Tensor:
        reached = counts >= (place + 1 - ROUNDING * np.maximum(rows, 1))[:, None]
        return np.asarray(points[np.where(reached.any(axis=1), np.argmax(reached, axis=1), len(points) - 1)])

    if not between:
        return at(np.maximum(np.ceil(q * rows - ROUNDING * np.maximum(rows, 1)) - 1, 0))
    place = np.maximum(q * (rows - 1), 0)
    below = np.floor(place + ROUNDING)
    first, part = at(below), np.clip(place - below, 0, 1)
    return np.asarray(first + np.where(part > ROUNDING, part, 0) * (at(below + 1) - first))
