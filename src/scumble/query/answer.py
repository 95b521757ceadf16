"""Sums over published rows into estimates with intervals (query/intervals.py)."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import is_number
from scumble.core.errors import ParameterError, QueryError, did_you_mean
from scumble.core.parameters import confidence
from scumble.engines.engine import Engine
from scumble.query.aggregates.aggregation import LINEAR
from scumble.query.ask import Answer, Lines
from scumble.query.cells import Cells
from scumble.query.compile import Published, Question, compile_query, perturbed_column
from scumble.query.estimates import Estimate, Estimates
from scumble.query.model import Group, Query
from scumble.query.on_domains import hidden
from scumble.query.possible import Limits, limits_of
from scumble.query.reconstruct import Whole

FEW = 10
"""Published rows below which an interval may cover less than it says, unless it is that of a count whose law is known (query/few.py, query/law.py)."""

ROUNDING = 1e-6
"""Rows that a count of them may be off by the arithmetic."""

METHODS = ("unbiased", "likelihood")


def answer_rows(query: Query, published: Published, engine: Engine, level: Any, method: str = "unbiased") -> Answer:
    """The answer of published rows to a question."""
    if method not in METHODS:
        raise ParameterError(f"there is no method {method!r}{did_you_mean(method, METHODS)}")
    share = confidence(level)
    if not is_plain(query, published):
        _demand_unbiased(method)
        from scumble.query.of_totals import answer_totals

        return answer_totals(query, published, engine, share)
    question = compile_query(query, published, engine, by_value=method == "likelihood")
    return answer(question, Whole(question, Cells.fetched(question, engine)), share, method)


def _demand_unbiased(method: str) -> None:
    if method != "unbiased":
        raise QueryError(
            "the likelihood answers COUNT, SUM and AVG of columns as they are, by columns as they are; ask with method unbiased"
        )


def is_plain(query: Query, published: Published) -> bool:
    """Whether perturbed columns are grouped by, summed and averaged as they are, and aggregates are shown as they are."""
    domains = published.domains
    values = [g.expression for g in query.groups] + [a.value for a in query.aggregates if a.value is not None]
    functions = [v for v in values if hidden(v, domains) and not perturbed_column(v, domains)]
    summed = [a.value for a in query.aggregates if a.value is not None and a.kind != "count"]
    names = [name for value in summed if (name := perturbed_column(value, domains))]
    linear = all(a.kind in LINEAR for a in query.aggregates)
    return query.derived is None and linear and not functions and all(is_number(domains[n].type) for n in names)


def answer(question: Question, whole: Whole, level: float, method: str = "unbiased") -> Answer:
    """Estimates from sums."""
    if not len(whole.cells.groups):
        return _no_groups(question, whole, level, method)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    estimates = [a.how.of_rows(a, question, whole, z) for a in question.query.aggregates]
    how: list[str] = []
    if method == "likelihood" and not question.exact:
        from scumble.query.likely import likely

        estimates, how = likely(question, whole, estimates, level)
    names = [output.name for output in question.query.outputs]
    every = Estimates(names, _group_columns(question, whole), estimates, level, [])
    possible = np.flatnonzero(_possible(whole)) if question.query.groups else np.arange(len(every))
    lines = every.take(possible)

    def notes(shown: Lines) -> list[str]:
        shown_estimates = lines.take(shown).estimates
        return [*_notes(question, whole, possible[shown], shown_estimates), *how, *_unbounded(shown_estimates)]

    def limits() -> Limits:
        return {n: (least[possible], most[possible]) for n, (least, most) in limits_of(question, whole).items()}

    return Answer(lines, notes, None, lambda other: answer(question, whole, other, method), limits)


def _no_groups(question: Question, whole: Whole, level: float, method: str) -> Answer:
    """GROUP BY over no rows: an answer without lines."""
    names, none = [output.name for output in question.query.outputs], np.zeros(0)
    way = "exact" if question.exact else method
    estimates = [Estimate(a.name, none, none, none, none, way) for a in question.query.aggregates]
    lines = Estimates(names, _group_columns(question, whole), estimates, level, [])
    return Answer(lines, lambda shown: list(question.conditions.notes))


def _unbounded(estimates: Sequence[Estimate]) -> list[str]:
    if not any(np.any(np.isinf(e.low)) for e in estimates):
        return []
    return ["an average is unbounded where its group may be empty: the release cannot tell its size from 0"]


def _group_columns(question: Question, whole: Whole) -> pa.Table:
    groups, width = whole.cells.groups, whole.cells.width
    columns: dict[str, pa.ChunkedArray] = {}
    for output in question.query.outputs:
        if isinstance(output, Group):
            columns[output.name] = _group_column(output, question, groups, width, whole.cells.lines)
    return pa.table(columns)


def _group_column(output: Group, question: Question, groups: pa.Table, width: int, shape: tuple[int, ...]) -> pa.Array:
    for i, group in enumerate(question.publics):
        if group.expression == output.expression:
            return groups.column(f"g{i}").take(pa.array(np.repeat(np.arange(len(groups)), width)))
    place = next(i for i, axis in enumerate(question.grouped) if axis.name == output.expression.name)
    codes = np.unravel_index(np.arange(width), shape)[place]
    return question.grouped[place].domain.values.take(pa.array(np.tile(codes, len(groups))))


def _notes(question: Question, whole: Whole, shown: npt.NDArray[np.intp], estimates: Sequence[Estimate]) -> list[str]:
    """What to know of the question, and of the lines that are shown, with their estimates."""
    notes = list(question.conditions.notes)
    if question.exact:
        return notes
    counted = all(aggregate.kind == "count" for aggregate in question.query.aggregates)
    if counted and whole.drawn:
        return notes
    uncertain = np.any([(e.se != 0) & ~np.isnan(e.value) for e in estimates], axis=0)
    carrying = [rows for a in question.query.aggregates if (rows := whole.carrying(a)) is not None]
    matching = whole.matching().reshape(-1)[shown]
    few = uncertain & (np.min([matching, *(rows[shown] for rows in carrying)], axis=0) < FEW - ROUNDING)
    if few.any():
        where = f"in {few.sum()} of {len(shown)} rows" if len(shown) > 1 else "here"
        or_carry = " or carry most of a sum" if np.any(matching[few] >= FEW - ROUNDING) else ""
        notes.append(f"fewer than {FEW} published rows match{or_carry} {where}; read the interval as a rough one")
    return notes


def _possible(whole: Whole) -> npt.NDArray[np.bool_]:
    """The lines that the WHERE leaves possible: a group by the values that it excludes is no part of the answer."""
    shape = whole.cells.lines
    truth = whole.parts[0].truth.reshape(*shape, -1).any(axis=-1)
    return np.tile(truth.reshape(-1), len(whole.cells.groups))
