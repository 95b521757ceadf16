"""The road of a question: parse -> RULES -> a form's answer -> what the rules do to it -> order, limit, notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.errors import QueryError
from scumble.engines.engine import TABLE
from scumble.query.estimates import Estimates
from scumble.query.parse import BESIDE, Query, parse
from scumble.query.rewrites import Recoding, rewritten

Lines = npt.NDArray[np.intp]
"""Places of lines of an answer."""


@dataclass(frozen=True)
class Answer:
    """What a form says: every line, in the order of the groups, and what to know of those that are shown."""

    estimates: Estimates
    notes: Callable[[Lines], list[str]] = lambda shown: []


def ask(
    sql: str,
    columns: Sequence[str],
    recoding: Recoding,
    answer: Callable[[Query], Answer],
    beside: Sequence[str] = BESIDE,
) -> Estimates:
    """The answer to a question.

    columns   that it may name
    recoding  what became of their values before publishing
    answer    what answers it, once it is put in published values
    beside    what the names of the columns that an answer has beside each aggregate end in
    """
    query = parse(sql, columns, beside)
    asked = rewritten(query, recoding)
    estimates = answer(asked.query)
    shown = _shown(estimates.estimates, query)
    lines = asked.undo(estimates.estimates).take(shown)
    return Estimates(lines.columns, lines.groups, lines.estimates, lines.level, [*asked.notes, *estimates.notes(shown)])


def demand_text(sql: object) -> None:
    """Refuses what is no text."""
    if not isinstance(sql, str):
        raise QueryError(
            f'a question is a text, "SELECT ... FROM {TABLE} ...", not {type(sql).__name__}; ask one question at a time'
        )


def _shown(answer: Estimates, query: Query) -> Lines:
    """ORDER BY, OFFSET and LIMIT: the lines that are shown, in the order in which they are."""
    order = np.arange(len(answer))
    if query.order:
        table = answer.to_arrow()
        keys = pa.table({f"k{i}": table.column(key.name) for i, key in enumerate(query.order)})
        ways = [(f"k{i}", "descending" if key.descending else "ascending") for i, key in enumerate(query.order)]
        order = pc.sort_indices(keys, sort_keys=ways).to_numpy().astype(np.intp)
    end = None if query.limit is None else query.offset + query.limit
    return order[query.offset : end]
