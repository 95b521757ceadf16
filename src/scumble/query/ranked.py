"""Lines that are chosen by their estimates: whoever ranks L lines sees the luckiest of them, so their intervals are to hold for all that might have been chosen.

Let c be so large that |S_i - T_i| <= c se_i for all L lines with probability 1 - nu. Then no line is chosen but one of those that are chosen for some S
within c se of T: a set that does not depend on the coins, and that lies in the lines that are chosen for some S within 2 c se of the estimates. Intervals that
hold together for as many lines with probability 1 - alpha + nu hold for those that are shown with 1 - alpha (docs/proofs/totals.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.query.estimates import Estimate, Estimates
from scumble.query.model import HIDDEN, Query
from scumble.query.simultaneous import level_of_each

if TYPE_CHECKING:
    from scumble.query.form_answer import Answer, Lines

SPENT = 0.1
"""The part of alpha that is spent on which lines might have been chosen."""


def clause_of(query: Query, columns: Estimates) -> str:
    """By what clause lines are chosen that are estimates; nothing where groups alone decide."""
    estimated = {e.name for e in columns.estimates if not e.exact}
    names = {aggregate.name for aggregate in query.aggregates}
    if query.limit is not None and any(key.name in estimated for key in query.order):
        return "ORDER BY and LIMIT"
    if query.derived is not None:
        windows = {window.name for window in query.derived.windows}
        for clause, part in (("HAVING", query.derived.having), ("QUALIFY", query.derived.qualify)):
            if part is not None and any(leaf.name in names | windows for leaf in part.find_all(exp.Var)):
                return clause
    return ""


@dataclass(frozen=True)
class Family:
    """The intervals that are to hold together."""

    every: int
    """The lines that there are."""
    lines: int
    """Those that might have been chosen."""
    columns: int
    """The columns that are estimates."""
    each: float
    """The level of a single interval."""

    @classmethod
    def of(
        cls,
        parts: Sequence[tuple[Estimates, npt.NDArray[np.float64] | None]],
        may_be_shown: "Callable[[float], list[Lines]] | None",
        level: float,
    ) -> "Family":
        """For columns with their correlations, in one or several parts.

        may_be_shown   of each part the lines that are shown if estimates are so many standard errors off; None for all of them
        """
        every, columns = sum(len(answer) for answer, _ in parts), max(len(uncertain(answer)) for answer, _ in parts)
        if not columns:
            return cls(every, every, 0, level)
        alpha, chosen, spent = 1 - level, [np.arange(len(answer)) for answer, _ in parts], 0.0
        if may_be_shown is not None:
            spent = SPENT * alpha
            chosen = may_be_shown(2 * NormalDist().inv_cdf(1 - spent / 2 / (every * (columns + 1))))
        lines = max(1, sum(len(some) for some in chosen))
        if lines == every:
            spent = 0.0
        known = [
            None if own is None or len(own) < columns else own[..., some]
            for (_, own), some in zip(parts, chosen, strict=True)
        ]
        together = [own for own in known if own is not None]
        correlations = np.concatenate(together, axis=2) if len(together) == len(known) else None
        return cls(every, lines, columns, level_of_each(alpha - spent, lines, columns, correlations))


def uncertain(answer: Estimates) -> list[Estimate]:
    """The columns that are shown and in which chance has a say."""
    return [e for e in answer.estimates if not e.exact and not e.certain and not e.name.startswith(HIDDEN)]


def may_be_first(
    estimate: Estimate, some: "Lines", surely: "Lines", count: int, reach: float, descending: bool
) -> "Lines":
    """Those of some lines that are among the first so many if estimates are so many standard errors off.

    surely   the lines of which it is sure that they are there to be ranked
    """
    sign = 1 if descending else -1
    middle, far = np.nan_to_num(sign * estimate.value, nan=-np.inf), reach * np.nan_to_num(estimate.se, nan=np.inf)
    with np.errstate(invalid="ignore"):
        low, high = np.nan_to_num(middle - far, nan=-np.inf), np.nan_to_num(middle + far, nan=np.inf, posinf=np.inf)
    ahead = np.sort(low[surely])
    before = len(ahead) - np.searchsorted(ahead, high[some], side="right")
    return some[before < count]


def at_level(form: "Answer", level: float) -> "Answer":
    """What a form says, at another level."""
    if form.at is not None:
        return form.at(level)
    before, after = (NormalDist().inv_cdf(0.5 + share / 2) for share in (form.estimates.level, level))
    wide = [
        replace(e, low=e.value - (e.value - e.low) * after / before, high=e.value + (e.high - e.value) * after / before)
        for e in form.estimates.estimates
    ]
    lines = form.estimates
    return replace(form, estimates=Estimates(lines.columns, lines.groups, wide, level, lines.notes))


def note_of(chosen: str, family: Family, level: float) -> str:
    """What to know of intervals that hold together."""
    why = f"asked for all {family.every:,} lines together"
    if chosen:
        why = f"lines were chosen by {chosen} from {family.every:,}, the luckiest first"
    if family.lines < family.every:
        why += f", and {family.lines:,} might have been chosen"
    return f"{why}: the intervals hold together with {100 * level:g}%, each with {100 * family.each:.7g}%"
