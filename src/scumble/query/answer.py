"""The answer of published rows to a question, by a method."""

from dataclasses import replace
from typing import Any

from scumble.core.errors import ParameterError, QueryError, did_you_mean
from scumble.core.parameters import confidence
from scumble.engines.engine import Engine
from scumble.query.across import across
from scumble.query.borrowing import BORROWING
from scumble.query.cells import Cells
from scumble.query.compile import Published
from scumble.query.form_answer import Answer
from scumble.query.likely import likely
from scumble.query.model import Query
from scumble.query.on_domains import hidden
from scumble.query.orders import DRAWN, exact_orders
from scumble.query.scanned import Scanned
from scumble.query.totals import compile_totals

METHODS = ("unbiased", "likelihood", *BORROWING)
"""How to estimate. Those by which groups borrow strength begin with the unbiased answer."""


def answer_rows(query: Query, published: Published, engine: Engine, level: Any, method: str = "unbiased") -> Answer:
    """The answer of published rows to a question."""
    if method not in METHODS:
        raise ParameterError(f"there is no method {method!r}{did_you_mean(method, METHODS)}")
    share = confidence(level)
    if query.derived is not None and query.derived.distinct:
        demand_public(query, published)
    if published.drawn is not None:
        _demand_sums(query, method)
    totals = compile_totals(query, published, engine)
    cells = Cells.fetched(totals.question, engine)
    asked = Scanned(totals, cells, exact_orders(totals, cells, engine))
    if method == "unbiased" or totals.question.exact:
        return _with_across(asked, query, published, engine, share)
    return likely(asked, engine, share)


def _with_across(asked: Scanned, query: Query, published: Published, engine: Engine, share: float) -> Answer:
    """The unbiased answer, which also says how its lines go together where that is asked for."""
    again: list[Scanned] = []

    def keyed() -> Scanned:
        if not again:
            totals = compile_totals(query, published, engine, keyed=True)
            again.append(Scanned(totals, Cells.fetched(totals.question, engine)))
        return again[0]

    return replace(asked.answer(share), across=lambda lines: across(asked, keyed, lines))


def _demand_sums(query: Query, method: str) -> None:
    """Of rows that were drawn among others, sums are known, and no more."""
    if method != "unbiased":
        raise QueryError(
            "the likelihood is of rows that are all there, and rows of persons were drawn; ask with method unbiased"
        )
    if query.derived is not None and query.derived.distinct:
        raise QueryError(f"SELECT DISTINCT {DRAWN}; ask for COUNT(*) by these columns")


def demand_public(query: Query, published: Published) -> None:
    """Which values of a perturbed column there are is not published."""
    names = [name for group in query.groups for name in hidden(group.expression, published.domains)]
    names += hidden(query.where, published.domains) if query.where is not None else []
    if names:
        raise QueryError(
            f"SELECT DISTINCT cannot be answered where {names[0]!r} is asked about, which is perturbed: which values there are is not published. "
            f"Its possible values are public (scumble show); ask for COUNT(*) by them"
        )
