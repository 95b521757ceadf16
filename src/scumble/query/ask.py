"""The road of a question: parse -> RULES -> a form's answer -> what the rules do to it -> order, limit, notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.errors import QueryError
from scumble.engines.engine import TABLE
from scumble.query.code_lists import Tables
from scumble.query.estimates import Estimates
from scumble.query.model import BESIDE, Query, Window
from scumble.query.parse import parse_all
from scumble.query.possible import Limits, cut_to
from scumble.query.ranked import at_level, chosen_by_estimates, note_of
from scumble.query.rewrites import Recoding, Rewritten, rewritten
from scumble.query.rounding import hull
from scumble.query.stacked import groupings, stacked

Lines = npt.NDArray[np.intp]
"""Places of lines of an answer."""


@dataclass(frozen=True)
class Answer:
    """What a form says: every line, in the order of the groups, and what to know of those that are shown."""

    estimates: Estimates
    notes: Callable[[Lines], list[str]] = lambda shown: []
    covariance: Callable[[Sequence[Window]], npt.NDArray[np.float64]] | None = None
    """That of all aggregates with each other, and then of sums of them over lines, for every line; None where it is not known."""
    at: "Callable[[float], Answer] | None" = None
    """The same at another level, without asking the table again; None where intervals are so many standard errors wide."""
    limits: Callable[[], Limits] = dict
    """The least and the most that aggregates can be, where that is public."""


def ask(
    sql: str,
    columns: Sequence[str],
    recoding: Recoding,
    answer: Callable[[Query], Answer],
    beside: Sequence[str] = BESIDE,
    name: str = TABLE,
    tables: Tables | None = None,
    simultaneous: bool = False,
    possible: bool = False,
) -> Estimates:
    """The answer to a question.

    columns   that it may name
    recoding  what became of their values before publishing
    answer    what answers it, once it is put in published values
    beside    what the names of the columns that an answer has beside each aggregate end in
    name      what the published table is called besides `release`
    tables    code lists that it may be joined with
    simultaneous   whether the intervals of all lines are to hold together
    possible       whether estimates and intervals are to be cut to what is possible
    """
    queries, ends = parse_all(sql, columns, beside, name, tables)
    if possible:
        answer = partial(_possible, answer)
    if ends is None and queries[0].sets is None:
        return _answered(queries[0], recoding, answer, simultaneous)
    apart = [part for query in queries for part in groupings(query)]
    whole = stacked([_answered(_unordered(query), recoding, answer, simultaneous) for query in apart], queries[0])
    order, limit, offset = ends or (queries[0].order, queries[0].limit, queries[0].offset)
    return whole.take(_shown(whole, replace(queries[0], order=order, limit=limit, offset=offset)))


def _possible(answer: Callable[[Query], Answer], query: Query) -> Answer:
    """The answer of a form, cut to what is possible, at whatever level."""
    return _cut(answer(query))


def _cut(form: Answer) -> Answer:
    again = form.at
    at = (lambda level: _cut(again(level))) if again is not None else None
    return replace(form, estimates=cut_to(form.estimates, form.limits()), at=at)


def _unordered(query: Query) -> Query:
    return replace(query, order=(), limit=None, offset=0)


def _answered(
    query: Query, recoding: Recoding, answer: Callable[[Query], Answer], simultaneous: bool = False
) -> Estimates:
    """The answer to one SELECT; where lines are chosen by their estimates, its intervals hold for all that were chosen from."""
    asked = rewritten(query, recoding)
    forms = [answer(asked.query), *(answer(variant) for variant in asked.variants)]
    level = forms[0].estimates.level
    lines, count = _lines(query, asked, forms)
    chosen = chosen_by_estimates(query, lines, count)
    if count < 2 or not (simultaneous or chosen) or all(e.exact for e in lines.estimates):
        return lines
    wider = 1 - (1 - level) / count
    lines, _ = _lines(query, asked, [at_level(form, wider) for form in forms])
    note = note_of(chosen, count, level, wider)
    return Estimates(lines.columns, lines.groups, lines.estimates, level, [*lines.notes, note])


def _lines(query: Query, asked: Rewritten, forms: Sequence[Answer]) -> tuple[Estimates, int]:
    """The lines that are shown, and from how many they were chosen."""
    form, others = forms[0], [asked.undo(other.estimates) for other in forms[1:]]
    whole, notes = hull(asked.undo(form.estimates), others), list(asked.notes)
    count = len(whole)
    if query.derived is not None:
        from scumble.query.derive import derive, without_hidden
        from scumble.query.lines import kept

        made = derive(query, whole, form)
        shown = _shown(made, query, kept(query.derived, whole))
        notes += made.notes
        whole = without_hidden(made)
    else:
        shown = _shown(form.estimates, query)
    lines = whole.take(shown)
    below = [*notes, *form.notes(shown)]
    return Estimates(lines.columns, lines.groups, lines.estimates, lines.level, below), count


def demand_text(sql: object) -> None:
    """Refuses what is no text."""
    if not isinstance(sql, str):
        raise QueryError(
            f'a question is a text, "SELECT ... FROM {TABLE} ...", not {type(sql).__name__}; ask one question at a time'
        )


def _shown(answer: Estimates, query: Query, kept: Lines | None = None) -> Lines:
    """ORDER BY, OFFSET and LIMIT: the lines that are shown, in the order in which they are."""
    order = np.arange(len(answer)) if kept is None else kept
    if query.order:
        table = answer.to_arrow().take(pa.array(order))
        keys = pa.table({f"k{i}": table.column(key.name) for i, key in enumerate(query.order)})
        ways = [(f"k{i}", "descending" if key.descending else "ascending") for i, key in enumerate(query.order)]
        order = order[pc.sort_indices(keys, sort_keys=ways).to_numpy().astype(np.intp)]
    end = None if query.limit is None else query.offset + query.limit
    return order[query.offset : end]
