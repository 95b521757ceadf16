"""Lines that are chosen by their estimates: whoever ranks L lines sees the luckiest of them, so their intervals are to hold for all L together.

By Bonferroni's inequality L intervals of level 1 - alpha / L hold all at once with probability 1 - alpha or more, whatever they have in common; so do
those of the lines that are shown, by whatever rule they were chosen. L is the number of lines that there were to choose from.
"""

from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING

from sqlglot import exp

from scumble.query.estimates import Estimates
from scumble.query.model import Query

if TYPE_CHECKING:
    from scumble.query.ask import Answer


def chosen_by_estimates(query: Query, lines: Estimates, count: int) -> str:
    """By what clause lines were chosen that are estimates; nothing where none was left out, or only groups decided."""
    estimated = {e.name for e in lines.estimates if not e.exact}
    names = {aggregate.name for aggregate in query.aggregates}
    if len(lines) == count:
        return ""
    if query.limit is not None and query.order and _is_estimate(query.order[0].name, query, estimated):
        return "ORDER BY and LIMIT"
    if query.derived is not None:
        for clause, part in (("HAVING", query.derived.having), ("QUALIFY", query.derived.qualify)):
            if part is not None and any(leaf.name in names for leaf in part.find_all(exp.Var)):
                return clause
    return ""


def _is_estimate(name: str, query: Query, estimated: set[str]) -> bool:
    groups = {column for column, grouped in query.shown if grouped}
    return name in estimated or (name not in groups and name not in {column for column, _ in query.shown})


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


def note_of(chosen: str, count: int, level: float, wider: float) -> str:
    """What to know of intervals that hold together."""
    why = (
        f"lines were chosen by {chosen} from {count:,}, the luckiest first"
        if chosen
        else f"asked for all {count:,} lines together"
    )
    return f"{why}: the intervals of each column hold together with {100 * level:g}%, each with {100 * wider:.7g}%"
