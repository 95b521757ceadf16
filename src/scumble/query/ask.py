"""The road of a question: parse -> RULES -> a form's answer -> what the rules do to it -> order, limit, notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
from scumble.query.rewrites import Recoding, rewritten
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


def ask(
    sql: str,
    columns: Sequence[str],
    recoding: Recoding,
    answer: Callable[[Query], Answer],
    beside: Sequence[str] = BESIDE,
    name: str = TABLE,
    tables: Tables | None = None,
) -> Estimates:
    """The answer to a question.

    columns   that it may name
    recoding  what became of their values before publishing
    answer    what answers it, once it is put in published values
    beside    what the names of the columns that an answer has beside each aggregate end in
    name      what the published table is called besides `release`
    tables    code lists that it may be joined with
    """
    queries, ends = parse_all(sql, columns, beside, name, tables)
    if ends is None and queries[0].sets is None:
        return _answered(queries[0], recoding, answer)
    apart = [part for query in queries for part in groupings(query)]
    whole = stacked(
        [_answered(replace(query, order=(), limit=None, offset=0), recoding, answer) for query in apart], queries[0]
    )
    order, limit, offset = ends or (queries[0].order, queries[0].limit, queries[0].offset)
    return whole.take(_shown(whole, replace(queries[0], order=order, limit=limit, offset=offset)))


def _answered(query: Query, recoding: Recoding, answer: Callable[[Query], Answer]) -> Estimates:
    """The answer to one SELECT."""
    asked = rewritten(query, recoding)
    form = answer(asked.query)
    others = [asked.undo(answer(variant).estimates) for variant in asked.variants]
    whole, notes = hull(asked.undo(form.estimates), others), list(asked.notes)
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
    return Estimates(lines.columns, lines.groups, lines.estimates, lines.level, [*notes, *form.notes(shown)])


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
