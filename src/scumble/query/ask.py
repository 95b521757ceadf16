"""The road of a question: parse -> RULES -> a form's answer -> what the rules do to it -> what is made of it -> lines, order, limit, notes."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from scumble.core.errors import QueryError
from scumble.engines.engine import TABLE
from scumble.query.borrowing import Borrower, Borrowing
from scumble.query.code_lists import Tables
from scumble.query.estimates import Estimates
from scumble.query.form_answer import Answer
from scumble.query.listing import Branch, Listing
from scumble.query.model import BESIDE, Query
from scumble.query.parse import parse_all
from scumble.query.rewrites import Recoding
from scumble.query.stacked import groupings


def ask(
    sql: str,
    columns: Sequence[str],
    recoding: Recoding,
    answer: Callable[[Query], Answer],
    beside: Sequence[str] = BESIDE,
    name: str = TABLE,
    tables: Tables | None = None,
    simultaneous: bool = False,
    cut: bool = False,
    borrowing: Borrowing | None = None,
) -> Estimates:
    """The answer to a question.

    columns   that it may name
    recoding  what became of their values before publishing
    answer    what answers it, once it is put in published values
    beside    what the names of the columns that an answer has beside each aggregate end in
    name      what the published table is called besides `release`
    tables    code lists that it may be joined with
    simultaneous   whether the intervals of all lines are to hold together
    cut            whether estimates too are cut to what is possible, as intervals always are
    borrowing      how public groups borrow strength from each other, where they do
    """
    queries, ends = parse_all(sql, columns, beside, name, tables)
    first = queries[0]
    if ends is not None:
        first = replace(first, order=ends[0], limit=ends[1], offset=ends[2])
    if borrowing is not None:
        borrowing.demand(first, ends is not None, simultaneous)
    parts = [Branch.of(part, recoding, answer) for query in queries for part in groupings(query)]
    if borrowing is not None:
        parts = [Borrower.over(part, borrowing) for part in parts]
    return Listing(parts, first, ends is not None or first.sets is not None, simultaneous, cut).answer()


def demand_text(sql: object) -> None:
    """Refuses what is no text."""
    if not isinstance(sql, str):
        raise QueryError(
            f'a question is a text, "SELECT ... FROM {TABLE} ...", not {type(sql).__name__}; ask one question at a time'
        )
