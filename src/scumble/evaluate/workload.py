"""Questions to measure a release with: pools of random counts as in the papers, marginals, or the user's own.

A pool is drawn like the papers': a condition on one to three public columns, a value of a sensitive one, and a floor below which a count is
too small to ask for. Up to twenty values that pass the floor under one condition are questions, so that one GROUP BY answers them together.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import is_number
from scumble.core.draws import below
from scumble.core.entropy import Entropy, Stream
from scumble.core.errors import ParameterError
from scumble.core.parameters import number
from scumble.engines.engine import TABLE
from scumble.engines.sql import listed, quoted
from scumble.truth import Truth

MOST_PARTS = 100
"""Different numbers of a column, above which it is asked by ranges."""

RANGES = 10
"""Ranges that such a column is cut into, of about as many rows each."""

TRIALS = 50
"""Conditions that are drawn, at most, for each question that is wanted."""

VALUES = 20
"""Values that are asked for under one condition, at most: so that a pool has many conditions."""

MOST_LINES = 50_000
"""Lines of a marginal, at most."""


@dataclass(frozen=True)
class Question:
    """One question, over the table `release`."""

    sql: str
    together: str | None = None
    """A question that answers this one and others like it at once, where there is one ..."""
    value: Any = None
    """... in the line of this value."""


@dataclass(frozen=True)
class Workload:
    """Questions, in an order that means nothing."""

    questions: Sequence[Question]

    def __len__(self) -> int:
        return len(self.questions)

    def __add__(self, other: "Workload") -> "Workload":
        return Workload([*self.questions, *other.questions])

    @classmethod
    def sql(cls, questions: Sequence[str]) -> "Workload":
        """The user's own questions."""
        return cls([Question(text) for text in questions])

    @classmethod
    def counts(
        cls,
        raw: Any,
        against: Any = None,
        *,
        size: int = 200,
        dimensions: Sequence[int] = (1, 2, 3),
        floor: Any = 0.001,
        seed: int = 0,
    ) -> "Workload":
        """A random pool of counts.

        raw, against  the raw table, and the spec or the release that says which columns are sensitive
        size          how many questions
        dimensions    on how many public columns a condition may be; each number is equally likely
        floor         the least share of the rows that a count may have
        """
        truth = Truth.of(raw, against)
        least = number(floor, "floor") * truth.rows
        if size < 1 or not 0 < least <= truth.rows:
            raise ParameterError(
                "a pool has at least one question, and a floor is a share of the rows above 0, up to 1"
            )
        pool = Pool.of(truth, dimensions)
        counts = list(itertools.islice(pool.questions(Entropy.seeded(seed).stream("workload"), least, size), size))
        if not counts:
            raise ParameterError(
                f"no count of a condition and a sensitive value reaches {least:,.0f} rows; lower the floor, or coarsen the public columns"
            )
        return cls(counts)

    @classmethod
    def marginals(cls, raw: Any, against: Any = None, *, ways: Sequence[int] = (1, 2)) -> "Workload":
        """The counts of every sensitive column, alone (1) and with each other published column (2)."""
        truth = Truth.of(raw, against)
        sets: list[tuple[str, ...]] = [(name,) for name in truth.sensitive] if 1 in ways else []
        if 2 in ways:
            names = [*truth.public, *truth.sensitive]
            pairs = [(a, b) for b in truth.sensitive for a in names[: names.index(b)]]
            sizes = {name: len(truth.table.column(name).unique()) for name in names}
            sets += [(a, b) for a, b in pairs if sizes[a] * sizes[b] <= MOST_LINES]
        asked = map(listed, sets)
        return cls.sql([f"SELECT {names}, COUNT(*) AS n FROM {TABLE} GROUP BY {names}" for names in asked])


@dataclass(frozen=True, eq=False)
class Parts:
    """A column cut into parts, each a predicate: its values, or ranges where it has too many."""

    name: str
    codes: npt.NDArray[np.int64]
    predicates: Sequence[str]
    values: Sequence[Any] | None
    """The value of each part, where parts are values."""

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray) -> "Parts | None":
        """The parts of a column; None where its values cannot be written in a question."""
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        values = coded.dictionary.to_pylist()
        codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        if len(values) > MOST_PARTS and is_number(column.type):
            return cls._ranges(name, column)
        predicates = [_equal(name, value) for value in values]
        known = [predicate for predicate in predicates if predicate is not None]
        return cls(name, codes, known, values) if len(known) == len(predicates) else None

    @classmethod
    def _ranges(cls, name: str, column: pa.ChunkedArray) -> "Parts | None":
        numbers = pc.fill_null(column.cast(pa.float64()), np.nan).to_numpy()
        if np.isnan(numbers).any():
            return None
        ends = np.unique(np.quantile(numbers, np.linspace(0, 1, RANGES + 1)[1:-1]))
        starts, stops = [None, *ends.tolist()], [*ends.tolist(), None]
        predicates = [
            " AND ".join([f"{quoted(name)} >= {a!r}"] * (a is not None) + [f"{quoted(name)} < {b!r}"] * (b is not None))
            for a, b in zip(starts, stops, strict=True)
        ]
        return cls(name, np.searchsorted(ends, numbers, side="right"), predicates, None)


@dataclass(frozen=True, eq=False)
class Pool:
    """Columns to draw conditions on, and sensitive columns to count values of."""

    public: Sequence[Parts]
    sensitive: Sequence[Parts]
    dimensions: Sequence[int]

    @classmethod
    def of(cls, truth: Truth, dimensions: Sequence[int]) -> "Pool":
        """The pool of a table."""
        public, sensitive = (
            [parts for name in names if (parts := Parts.of(name, truth.table.column(name)))]
            for names in (truth.public, truth.sensitive)
        )
        able = [d for d in dimensions if 0 <= d <= len(public)]
        if not able or not sensitive:
            raise ParameterError(
                f"a pool needs a sensitive column and {min(dimensions, default=1)} public one(s) to put conditions on; ask your own questions instead"
            )
        return cls(public, sensitive, able)

    def questions(self, stream: Stream, least: float, wanted: int) -> Iterator[Question]:
        """Random questions, each once; fewer than wanted where hardly any condition passes."""
        asked: set[tuple[str, str]] = set()
        for _ in range(TRIALS * wanted):
            chosen, rows = self.condition(stream)
            target = self.sensitive[_draw(stream, len(self.sensitive))]
            where = " AND ".join(column.predicates[part] for column, part in chosen)
            if (where, target.name) in asked or len(rows) < least:
                continue
            asked.add((where, target.name))
            counts = np.bincount(target.codes[rows], minlength=len(target.predicates))
            passing = np.flatnonzero(counts >= least)
            for part in passing[stream.permutation(len(passing))[:VALUES]].tolist():
                yield _question(where, target, part)

    def condition(self, stream: Stream) -> tuple[list[tuple[Parts, int]], npt.NDArray[np.intp]]:
        """A random part of each of some random columns, and the rows that are in them all."""
        width = self.dimensions[_draw(stream, len(self.dimensions))]
        columns = [self.public[i] for i in sorted(stream.permutation(len(self.public))[:width].tolist())]
        chosen = [(column, _draw(stream, len(column.predicates))) for column in columns]
        inside = np.ones(len([*self.public, *self.sensitive][0].codes), dtype=bool)
        for column, part in chosen:
            inside &= column.codes == part
        return chosen, np.flatnonzero(inside)


def _question(where: str, target: Parts, part: int) -> Question:
    both = " AND ".join(filter(None, [where, target.predicates[part]]))
    sql = f"SELECT COUNT(*) AS n FROM {TABLE} WHERE {both}"
    if target.values is None:
        return Question(sql)
    name = quoted(target.name)
    together = f"SELECT {name}, COUNT(*) AS n FROM {TABLE}{f' WHERE {where}' if where else ''} GROUP BY {name}"
    return Question(sql, together, target.values[part])


def _draw(stream: Stream, count: int) -> int:
    return int(below(stream, np.array([count]))[0])


def _equal(name: str, value: Any) -> str | None:
    """The condition that a column has a value, in SQL."""
    if value is None:
        return f"{quoted(name)} IS NULL"
    if isinstance(value, bool):
        return f"{quoted(name)} = {str(value).upper()}"
    if isinstance(value, int | float | Decimal):
        return f"{quoted(name)} = {value!s}" if np.isfinite(float(value)) else None
    if isinstance(value, datetime):
        return f"{quoted(name)} = TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"{quoted(name)} = DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return f"{quoted(name)} = '{value.replace(chr(39), chr(39) * 2)}'"
    return None
