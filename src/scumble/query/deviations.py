"""Variances and standard deviations of numbers that may lie some way from what they are taken for.

With v = g + d and |d| <= r for every row, the deviation of v differs from that of g by that of d at most, which is r at most (a triangle of vectors):

    |sd(v) - sd(g)|  <=  sd(d)  <=  r,          times sqrt(n / (n - 1)) where the sample's is asked for
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from sqlglot import exp

from scumble.query.estimates import STEPS, Estimate, Estimates
from scumble.query.model import Column, Query
from scumble.query.settled import moves
from scumble.query.statistics.spelt import SPREAD


def spreads_of(query: Query) -> list[Column]:
    """The columns that are variances or deviations, and nothing more."""
    return [c for c in query.derived.columns if c.expression.meta.get(SPREAD)] if query.derived is not None else []


def stretched(answer: Estimates, query: Query, reaches: Mapping[str, float], leaves: Estimates) -> Estimates:
    """The answer with these reaching as far as their numbers may lie from what they are taken for."""
    changed = {}
    for column in spreads_of(query):
        value, power, _ = column.expression.meta[SPREAD]
        if (reach := moves(value, reaches)) > 0:
            changed[column.name] = _stretched(answer[column.name], reach * _sample(column, query, leaves), power)
    kept = [changed.get(e.name, e) for e in answer.estimates]
    return Estimates(answer.columns, answer.groups, kept, answer.level, answer.notes)


def _sample(column: Column, query: Query, leaves: Estimates) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """sqrt(n / (n - 1)), which holds for the variance of all rows too."""
    counts = {a.name for a in query.aggregates if a.kind == "count"}
    (name,) = {part.name for part in column.expression.find_all(exp.Var)} & counts
    n = np.maximum(leaves[name].value, 2)
    return np.asarray(np.sqrt(n / (n - 1)))


def _stretched(e: Estimate, reach: np.ndarray[tuple[int], np.dtype[np.float64]], power: int) -> Estimate:
    low, high = (np.maximum(end, 0) ** (1 / power) for end in (e.low, e.high))
    low, high = np.maximum(low - reach, 0) ** power, (high + reach) ** power
    se = np.full_like(e.se, np.nan) if e.exact else e.se
    return replace(e, low=low, high=high, se=se, method=STEPS if e.exact else e.method, spread=True)
