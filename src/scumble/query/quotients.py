"""What a quotient of counts and sums can be: a form that knows its rows says it (query/limits.py); of others, that no part is more than the whole."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from scumble.query.estimates import Estimates
from scumble.query.figures import Figure, Reading
from scumble.query.middle import ENDS
from scumble.query.model import Column, Query, Window
from scumble.query.possible import Ends, Numbers, hull_of
from scumble.query.statistics.spelt import SPREAD

if TYPE_CHECKING:
    from scumble.query.form_answer import Answer

ROUNDING = 1e-9
"""A part of a number that is the arithmetic's."""

Combination = dict[str, float]
"""How often each aggregate, and each sum of one over lines, is taken."""


@dataclass(frozen=True)
class Quotients:
    """The quotients of a question that a form answered."""

    query: Query
    leaves: Estimates
    figures: Mapping[str, Figure]
    answer: "Answer"

    def ends(self, top: exp.Expression, bottom: exp.Expression) -> Ends | None:
        """The least and the most of a quotient, for every line; None where nothing is known besides its parts."""
        reading = Reading(self.figures, len(self.leaves))
        above, below = (self._combination(reading.figure(e)) for e in (top, bottom))
        if above is None or not below:
            return None
        told = self.answer.quotient
        parts = [told(version, below, self._windows) if told else None for version in self._versions(above, below)]
        known = [ends for ends in parts if ends is not None]
        return hull_of(known) if known and len(known) == len(parts) else self._of_wholes(above, below)

    def widest_spread(self, column: Column) -> Numbers | None:
        """The most that a variance or a deviation can be: numbers between a and b have a deviation of (b - a) / 2 at most (Popoviciu)."""
        if (meant := column.expression.meta.get(SPREAD)) is None:
            return None
        value, power, sample = meant
        parts = {a.kind: exp.Var(this=a.name) for a in self.query.aggregates if a.value == value}
        ends = self.ends(parts["sum"], parts["count"]) if {"sum", "count"} <= set(parts) else None
        if ends is None:
            return None
        return np.asarray(((ends[1] - ends[0]) * (math.sqrt(0.5) if sample else 0.5)) ** power)

    @property
    def _windows(self) -> Sequence[Window]:
        return self.query.derived.windows if self.query.derived is not None else ()

    def _combination(self, figure: Figure) -> Combination | None:
        """What a figure is put together from; None where it is more than that."""
        if not figure.linear or not figure.gradient.size:
            return None
        counts = figure.gradient[:, 0]
        values = np.nan_to_num([known.value for known in self.figures.values()])
        rest = np.nan_to_num(figure.value) - counts @ values
        if np.any(np.abs(rest) > ROUNDING * (1 + np.abs(counts) @ np.abs(values))):
            return None
        return {name: float(count) for name, count in zip(self.figures, counts, strict=True) if count}

    def _versions(self, top: Combination, bottom: Combination) -> list[Combination]:
        """The dividend with numbers in steps at the middles and at both ends of these; none, where it is not known how far they reach."""
        kinds = {a.name: a.kind for a in self.query.aggregates}
        stepped = {e.name for e in self.leaves.estimates if e.spread and kinds[e.name] != "count"}
        stepped |= {window.name for window in self._windows if window.of in stepped}
        moved = stepped & set(top)
        if not stepped & {*top, *bottom}:
            return [top]
        asked = {e.name for e in self.answer.estimates.estimates}
        names = [
            {o.name: end.format(i) for i, o in enumerate(self.query.outputs) if end.format(i) in asked} for end in ENDS
        ]
        if stepped & set(bottom) or not all(moved <= set(renamed) for renamed in names):
            return []
        return [top, *({renamed.get(name, name): count for name, count in top.items()} for renamed in names)]

    def _of_wholes(self, top: Combination, bottom: Combination) -> Ends | None:
        """Counts over the number of all rows of the same line, or of several lines."""
        over, known = {w.name: w.of for w in self._windows}, {a.name: a for a in self.query.aggregates}
        parts, wholes = ([known[over.get(name, name)] for name in part] for part in (top, bottom))
        beyond = any(name in over and name not in bottom for name in top)
        if any(a.kind != "count" for a in [*parts, *wholes]) or len(bottom) != 1 or wholes[0].value or beyond:
            return None
        (divisor,), one = bottom.values(), np.ones(len(self.leaves))
        shares = [count / divisor for count in top.values()]
        return one * sum(min(share, 0.0) for share in shares), one * sum(max(share, 0.0) for share in shares)
