"""Answers beside the truth, and what they come to."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.display import Card, Grid, Note, Shown
from scumble.core.errors import InputError
from scumble.core.parameters import plain
from scumble.evaluate.workload import Question, Workload
from scumble.query.estimates import Estimates
from scumble.release.release import Release
from scumble.truth import Key, Truth

Numbers = npt.NDArray[np.float64]

FLOORS = (0.001, 0.005, 0.01)
"""Selectivities at which the papers report errors."""

ROUNDING = 1e-9


@dataclass(frozen=True)
class Line:
    """One answered number."""

    question: str
    line: str
    """Which line and which aggregate of the answer it is."""
    selectivity: float
    """The true share of the rows that the number is about."""
    truth: float
    value: float
    se: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Measured(Shown):
    """Every number that a release answered, beside its truth."""

    lines: Sequence[Line]
    refused: Mapping[str, str] = field(default_factory=dict)
    """Questions that the release does not answer, and why."""

    def to_arrow(self) -> pa.Table:
        """A row for each number: question, line, selectivity, truth, value, se, low, high."""
        return pa.Table.from_pylist([line.__dict__ for line in self.lines], schema=SCHEMA)

    def metrics(self, floor: float = 0.0) -> dict[str, float]:
        """What the errors come to, over the numbers about at least a share `floor` of the rows.

        median_relative_error, mean_relative_error   of |value - truth| / |truth|, where the truth is not 0
        mean_absolute_error                          of |value - truth|
        coverage                                     the share of intervals that hold the truth, where there is an interval
        median_width                                 of the interval, over the truth
        """
        kept = [line for line in self.lines if line.selectivity >= floor]
        truth, value, low, high = (
            np.array([getattr(line, name) for line in kept], dtype=np.float64)
            for name in ("truth", "value", "low", "high")
        )
        off = np.abs(value - truth)
        some = np.isfinite(off) & (truth != 0)
        known = ~(np.isnan(low) | np.isnan(high) | np.isnan(truth))
        slack = ROUNDING * (1 + np.abs(truth))
        held = ((low - slack <= truth) & (truth <= high + slack))[known]
        relative = off[some] / np.abs(truth[some])
        return {
            "numbers": float(len(kept)),
            "refused": float(len(self.refused)),
            "median_relative_error": _middle(relative),
            "mean_relative_error": _mean(relative),
            "mean_absolute_error": _mean(off[np.isfinite(off)]),
            "coverage": _mean(held.astype(np.float64)),
            "median_width": _middle((high - low)[some & known] / np.abs(truth[some & known])),
        }

    def card(self) -> Card:
        """The metrics at the papers' floors of selectivity."""
        by_floor = [
            (f"{floor:.1%} of the rows or more" if floor else "all", self.metrics(floor)) for floor in (0.0, *FLOORS)
        ]
        rows = [
            [
                name,
                f"{m['numbers']:,.0f}",
                percent(m["median_relative_error"]),
                percent(m["mean_relative_error"]),
                plain(m["mean_absolute_error"], 4),
                percent(m["coverage"]),
                percent(m["median_width"]),
            ]
            for name, m in by_floor
            if m["numbers"]
        ]
        headings = [
            "numbers about",
            "how many",
            "median error",
            "mean error",
            "mean error, absolute",
            "coverage",
            "width",
        ]
        notes = [Note(f"not answered: {sql} ({reason})") for sql, reason in self.refused.items()]
        note = Note("errors and widths relative to the truth; coverage: intervals that hold it")
        return Card(f"{len(self.lines):,} numbers beside the truth", [Grid(headings, rows, left=[0]), note, *notes])


SCHEMA = pa.schema(
    [("question", pa.string()), ("line", pa.string())]
    + [(name, pa.float64()) for name in ("selectivity", "truth", "value", "se", "low", "high")]
)


def percent(share: float) -> str:
    """A share for people.

    >>> percent(0.0234), percent(85.123), percent(float("nan"))
    ('2.34%', '8,512%', '-')
    """
    return f"{plain(100 * share, 3)}%" if math.isfinite(share) else "-"


def measure(release: Release, raw: Any, workload: Workload, *, level: Any = 0.95) -> Measured:
    """Asks a release every question of a workload, and puts the truth beside each number.

    raw    the raw table: a path, a data frame, a spec, or a Truth
    level  how often an interval shall hold the truth
    """
    return Truths.of(Truth.of(raw, release), workload).beside(release, level)


@dataclass(frozen=True)
class Truths:
    """The true answers to a workload, found once for many releases."""

    workload: Workload
    rows: int
    answers: Mapping[str, dict[Key, tuple[float, list[float]]]]

    @classmethod
    def of(cls, truth: Truth, workload: Workload) -> "Truths":
        """What the questions, asked together where they can be, truly are."""
        asked = dict.fromkeys(question.together or question.sql for question in workload.questions)
        return cls(workload, truth.rows, {sql: truth.answer(sql) for sql in asked})

    def beside(self, release: Release, level: Any = 0.95) -> Measured:
        """The answers of a release beside them."""
        asking = _Asking(release, level)
        lines: list[Line] = []
        refused: dict[str, str] = {}
        for question in self.workload.questions:
            try:
                lines.extend(self._lines(question, asking))
            except InputError as error:
                refused[question.sql] = str(error)
        return Measured(lines, refused)

    def _lines(self, question: Question, asking: "_Asking") -> Iterator[Line]:
        if question.together is not None:
            known = self.answers[question.together].get((question.value,), (0.0, [0.0]))
            yield self._line(question.sql, "n", known, 0, asking.one(question))
            return
        lines = asking.all(question.sql)
        for i, (key, named) in enumerate(zip(_keys(lines), labels(lines), strict=True)):
            absent = (0.0, [0.0] * len(lines.estimates))
            known = self.answers[question.sql].get(key, absent)
            for place, estimate in enumerate(lines.estimates):
                numbers = tuple(float(n[i]) for n in (estimate.value, estimate.se, estimate.low, estimate.high))
                yield self._line(question.sql, named[place], known, place, numbers)

    def _line(
        self, sql: str, label: str, known: tuple[float, list[float]], place: int, numbers: tuple[float, ...]
    ) -> Line:
        return Line(sql, label, known[0] / self.rows, known[1][place], *numbers)


class _Asking:
    """A release that is asked each question once; counts of one condition are asked together."""

    def __init__(self, release: Release, level: Any) -> None:
        self._release, self._level = release, level
        self._answers: dict[str, Estimates | InputError] = {}
        self._places: dict[str, dict[Key, int]] = {}
        self._nothing: tuple[float, ...] | None = None

    def all(self, sql: str) -> Estimates:
        """The whole answer; a refusal is remembered too."""
        if sql not in self._answers:
            try:
                self._answers[sql] = self._release.query(sql, level=self._level)
            except InputError as error:
                self._answers[sql] = error
        estimates = self._answers[sql]
        if isinstance(estimates, InputError):
            raise estimates
        return estimates

    def one(self, question: Question) -> tuple[float, ...]:
        """Value, standard error and interval of a count, from the answer that it shares."""
        assert question.together is not None
        estimates = self.all(question.together)
        places = self._places.setdefault(question.together, {})
        if not places:
            places |= {key: i for i, key in enumerate(_keys(estimates))}
        place = places.get((question.value,))
        if place is not None:
            (e,) = estimates.estimates
            return tuple(float(n[place]) for n in (e.value, e.se, e.low, e.high))
        if self._nothing is None:  # a tuple that was not published: the answer is the same for all of these
            (e,) = self.all(question.sql).estimates
            self._nothing = tuple(float(n[0]) for n in (e.value, e.se, e.low, e.high))
        return self._nothing


def labels(estimates: Estimates) -> list[list[str]]:
    """What the numbers of an answer are called: for each line, and each aggregate of it."""
    names = [
        ", ".join(f"{n}={v}" for n, v in zip(estimates.groups.column_names, key, strict=True))
        for key in _keys(estimates)
    ]
    return [[f"{name}: {e.name}" if name else e.name for e in estimates.estimates] for name in names]


def _keys(estimates: Estimates) -> list[Key]:
    if not estimates.groups.num_columns:
        return [()] * len(estimates)
    return list(zip(*(column.to_pylist() for column in estimates.groups.columns), strict=True))


def _mean(numbers: Numbers) -> float:
    return float(numbers.mean()) if len(numbers) else math.nan


def _middle(numbers: Numbers) -> float:
    return float(np.median(numbers)) if len(numbers) else math.nan
