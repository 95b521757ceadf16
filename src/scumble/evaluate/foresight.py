"""Standard errors of questions under any plan of one table. The table is asked once; every further plan costs milliseconds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.errors import NotEstimable
from scumble.engines import open_engine
from scumble.engines.engine import TABLE, Axis, Predicates
from scumble.evaluate.counts_to_come import CountsToCome
from scumble.evaluate.forecast import expected, shares_of
from scumble.evaluate.measured import labels
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.plan import Plan
from scumble.query.ask import ask
from scumble.query.compile import Published
from scumble.query.estimates import Estimates
from scumble.query.gated import gated
from scumble.query.rewrites import Recoding
from scumble.truth import Truth


class Remembered:
    """An engine over a table in memory that is asked each statement once."""

    def __init__(self, raw: pa.Table) -> None:
        self._engine = open_engine({TABLE: raw})
        self.dialect = self._engine.dialect
        self._runs: dict[exp.Query, pa.Table] = {}

    def run(self, statement: exp.Query) -> pa.Table:
        """The result of a statement as Arrow."""
        if statement not in self._runs:
            self._runs[statement] = self._engine.run(statement)
        return self._runs[statement]

    def register(self, name: str, table: pa.Table, *, everywhere: bool = False) -> None:
        """Makes a table known; what was remembered may have been about another of that name."""
        self._runs.clear()
        self._engine.register(name, table, everywhere=everywhere)

    def unregister(self, name: str) -> None:
        """Forgets it."""
        self._engine.unregister(name)

    def truths(self, asked: Predicates) -> list[npt.NDArray[np.int8]]:
        """The truth values of predicates, each on the values of a column."""
        return self._engine.truths(asked)

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """By the statement, which is remembered."""
        return None


@dataclass(frozen=True)
class Foreseen:
    """The error that the answer to a question will have: that of its worst line."""

    sql: str
    answer: Estimates | None
    """The truth with the standard errors to come; None where the plan leaves it without an answer."""
    error: float
    """The largest standard error of a line, over its truth or (absolute) as it is; lines whose truth is 0, or is the average of nobody, have none."""
    line: str
    """Which line that is."""
    truth: float


def foreseen(sql: str, answer: Estimates | None, absolute: bool) -> Foreseen:
    """The worst line of an answer."""
    if answer is None:
        return Foreseen(sql, None, math.inf, "", math.nan)
    worst = Foreseen(sql, answer, 0.0, "", math.nan)
    for i, names in enumerate(labels(answer)):
        for name, estimate in zip(names, answer.estimates, strict=True):
            value, se = float(estimate.value[i]), float(estimate.se[i])
            error = se if absolute else (se / abs(value) if value else 0.0)
            if math.isnan(value):  # the average of no rows
                continue
            error = math.inf if math.isnan(error) else error
            if error > worst.error:
                worst = Foreseen(sql, answer, error, name, value)
    return worst


class Foresight:
    """Questions about one table, and the errors that plans will give them."""

    def __init__(self, truth: Truth, questions: Sequence[str], level: float = 0.95) -> None:
        self.questions = list(questions)
        self._truth, self._level = truth, level
        self._engine = Remembered(truth.table)
        self._counts = {name: truth.counts(name) for name in truth.sensitive}

    def under(self, plan: Plan, absolute: bool = False) -> list[Foreseen]:
        """The error of each question under a plan."""
        if find_mechanism(plan.mechanism).expected is not None:
            counts = CountsToCome(self._truth, plan, self._level)
            return [foreseen(sql, _unless_refused(counts.to, sql), absolute) for sql in self.questions]
        published = Published(self._truth.table.column_names, dict(self._truth.domains), plan.channels, values=True)
        shares = shares_of(plan, self._counts)
        return [foreseen(sql, self._answer(sql, published, shares), absolute) for sql in self.questions]

    def _answer(self, sql: str, published: Published, shares: Any) -> Estimates | None:
        answer = partial(expected, published=published, shares=shares, engine=self._engine, level=self._level)
        types = self._truth.types
        recoding = Recoding(self._truth.coarse, parts=self._truth.parts)
        asked = partial(ask, recoding=recoding, columns=list(types), answer=answer)
        return _unless_refused(lambda text: gated(text, {TABLE: types}, partial(asked, text)), sql)


def _unless_refused(answer: Callable[[str], Estimates], sql: str) -> Estimates | None:
    try:
        return answer(sql)
    except NotEstimable:
        return None
