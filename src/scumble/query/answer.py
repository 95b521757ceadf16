"""Sums over published rows into estimates with intervals (query/intervals.py)."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.errors import ParameterError, did_you_mean
from scumble.core.parameters import confidence
from scumble.engines.engine import Engine
from scumble.query.ask import Answer, Lines
from scumble.query.cells import Cells
from scumble.query.compile import Published, Question, compile_query, perturbed_column
from scumble.query.estimates import Estimate, Estimates
from scumble.query.intervals import of_average, of_sum
from scumble.query.moments import Moments
from scumble.query.parse import Aggregate, Group, Query
from scumble.query.reconstruct import Whole

FEW = 10
"""Published rows below which an interval may cover less than it says, unless it is that of a count whose law is known (query/few.py, query/law.py)."""

METHODS = ("unbiased", "likelihood")


def answer_rows(query: Query, published: Published, engine: Engine, level: Any, method: str = "unbiased") -> Answer:
    """The answer of published rows to a question."""
    if method not in METHODS:
        raise ParameterError(f"there is no method {method!r}{did_you_mean(method, METHODS)}")
    share = confidence(level)
    question = compile_query(query, published, engine, by_value=method == "likelihood")
    return answer(question, Whole(question, Cells.fetched(question, engine)), share, method)


def answer(question: Question, found: Whole, level: float, method: str = "unbiased") -> Answer:
    """Estimates from sums."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    estimates = [_estimate(a, question, found, z) for a in question.query.aggregates]
    how: list[str] = []
    if method == "likelihood" and not question.exact:
        from scumble.query.likely import likely

        estimates, how = likely(question, found, estimates, level)
    names = [output.name for output in question.query.outputs]
    every = Estimates(names, _group_columns(question, found), estimates, level, [])
    possible = np.flatnonzero(_possible(found)) if question.query.groups else np.arange(len(every))
    lines = every.take(possible)

    def notes(shown: Lines) -> list[str]:
        told = lines.take(shown).estimates
        return [*_notes(question, found, possible[shown], told), *how, *_unbounded(told)]

    return Answer(lines, notes)


def _unbounded(estimates: Sequence[Estimate]) -> list[str]:
    if not any(np.any(np.isinf(e.low)) for e in estimates):
        return []
    return ["an average is unbounded where its group may be empty: the release cannot tell its size from 0"]


def _estimate(aggregate: Aggregate, question: Question, found: Whole, z: float) -> Estimate:
    if aggregate.kind == "count":
        which = _counted(aggregate, question)
        count, weighted = found.count(*which), question.published.weighted
        if aggregate.value is None and question.exact and weighted:  # people are whole, sums of weights n/s nearly so
            count = Moments(np.rint(count.value), count.variance)
        return of_sum(aggregate.name, count, question.exact, z, alike=not weighted, draws=found.draws(*which))
    ratio = found.sum(aggregate)
    if aggregate.kind == "sum":
        draws = found.draws_of_sum(aggregate)
        return _empty_sums(of_sum(aggregate.name, ratio.numerator, question.exact, z, draws=draws), ratio.denominator)
    return of_average(aggregate.name, ratio, question.exact, z, found.even(aggregate, ratio))


def _counted(aggregate: Aggregate, question: Question) -> tuple[int | None, str | None]:
    """The public value, or the perturbed column, that is not missing in the rows that are counted."""
    if aggregate.value is None:
        return None, None
    column = perturbed_column(aggregate.value, {a.name: a.domain for a in [*question.grouped, *question.others]})
    return (question.place(aggregate.value), None) if column is None else (None, column)


def _empty_sums(estimate: Estimate, count: Moments) -> Estimate:
    """SUM over no rows is null in SQL, where that is known for certain."""
    if not estimate.exact:
        return estimate
    unless = np.where(count.value.reshape(-1) == 0, np.nan, 0.0)
    e = estimate
    return Estimate(e.name, e.value + unless, e.se + unless, e.low + unless, e.high + unless, "exact")


def _group_columns(question: Question, found: Whole) -> pa.Table:
    groups, width = found.cells.groups, found.cells.width
    columns: dict[str, pa.ChunkedArray] = {}
    for output in question.query.outputs:
        if isinstance(output, Group):
            columns[output.name] = _group_column(output, question, groups, width, found.cells.shape)
    return pa.table(columns)


def _group_column(output: Group, question: Question, groups: pa.Table, width: int, shape: tuple[int, ...]) -> pa.Array:
    for i, group in enumerate(question.publics):
        if group.expression == output.expression:
            return groups.column(f"g{i}").take(pa.array(np.repeat(np.arange(len(groups)), width)))
    place = next(i for i, axis in enumerate(question.grouped) if axis.name == output.expression.name)
    codes = np.unravel_index(np.arange(width), shape)[place]
    return question.grouped[place].domain.values.take(pa.array(np.tile(codes, len(groups))))


def _notes(question: Question, found: Whole, shown: npt.NDArray[np.intp], estimates: Sequence[Estimate]) -> list[str]:
    """What to know of the question, and of the lines that are shown, with their estimates."""
    notes = list(question.conditions.notes)
    if question.exact:
        return notes
    counted = all(aggregate.kind == "count" for aggregate in question.query.aggregates)
    if counted and found.drawn:
        return notes
    uncertain = np.any([estimate.se != 0 for estimate in estimates], axis=0)
    carrying = [rows for a in question.query.aggregates if (rows := found.carrying(a)) is not None]
    matching = found.matching().reshape(-1)[shown]
    few = uncertain & (np.min([matching, *(rows[shown] for rows in carrying)], axis=0) < FEW)
    if few.any():
        where = f"in {few.sum()} of {len(shown)} rows" if len(shown) > 1 else "here"
        or_carry = " or carry most of a sum" if np.any(matching[few] >= FEW) else ""
        notes.append(f"fewer than {FEW} published rows match{or_carry} {where}; read the interval as a rough one")
    return notes


def _possible(found: Whole) -> npt.NDArray[np.bool_]:
    """The lines that the WHERE leaves possible: a group by the values that it excludes is no part of the answer."""
    shape = found.cells.shape
    truth = found.parts[0].truth.reshape(*shape, -1).any(axis=-1)
    return np.tile(truth.reshape(-1), len(found.cells.groups))
