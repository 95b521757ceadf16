"""What one scan tells of a column."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, is_text, published_type
from scumble.core.progress import Progress
from scumble.sources.source import Source

LISTED = 500
"""Values of a column that are counted and listed, at most."""

EXAMPLES = 3


@dataclass
class Seen:
    """What one scan tells of a column."""

    name: str
    kind: pa.DataType
    values: set[Any] = field(default_factory=set)
    examples: list[Any] = field(default_factory=list)
    missing: int = 0
    rows: int = 0
    low: Any = None
    high: Any = None
    first: int = 0
    """Different values in the first batch, which has `first_rows` rows."""
    first_rows: int = 0

    def add(self, column: pa.Array) -> None:
        """One more batch."""
        plain = decoded(column)
        self.missing += plain.null_count
        if pa.types.is_nested(plain.type):
            plain = pa.array([str(value) for value in plain.to_pylist()])
        different = plain.unique().drop_null()
        if self.rows == 0:
            self.first, self.first_rows = len(different), len(plain)
            self.examples = different.slice(0, EXAMPLES).to_pylist()
        self.rows += len(plain)
        if len(self.values) <= LISTED:
            self.values.update(different.slice(0, LISTED + 1).to_pylist())
        if numeric(self.kind) and len(different):
            ends = pc.min_max(different).as_py()
            self.low = ends["min"] if self.low is None else min(self.low, ends["min"])
            self.high = ends["max"] if self.high is None else max(self.high, ends["max"])

    @property
    def few(self) -> bool:
        """Whether all values could be listed."""
        return len(self.values) <= LISTED

    @property
    def share(self) -> float:
        """Different values for each row, in the first batch."""
        return self.first / max(1, self.first_rows)

    def counted(self) -> str:
        """How many values there are, in words."""
        known = self.few or self.rows == self.first_rows
        number = len(self.values) if self.few else max(self.first, LISTED)
        return f"{'' if known else 'over '}{number:,} {'' if number == 1 else 'different '}{self._noun(number)}"

    def _noun(self, number: int) -> str:
        names = {
            "text": is_text(self.kind),
            "whole number": pa.types.is_integer(self.kind),
            "number": pa.types.is_floating(self.kind),
            "date": pa.types.is_date(self.kind),
            "moment": pa.types.is_timestamp(self.kind),
        }
        return next((name for name, fits in names.items() if fits), "value") + "s" * (number != 1)


def numeric(kind: pa.DataType) -> bool:
    """Whether a column of that type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def dated(kind: pa.DataType) -> bool:
    """Whether a column of that type holds days or moments."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def first_look(table: Source, names: list[str], *, by_values: bool = True) -> list[Seen]:
    """What the first rows tell of some columns; of a stream that runs once, or where values are not to be looked at, their types alone."""
    columns = [Seen(name, published_type(table.schema.field(name).type)) for name in names]
    if table.stable and by_values:
        batches = table.batches(names)
        for batch in itertools.islice(batches, 1):
            for seen in columns:
                seen.add(batch.column(seen.name))
        batches.close()
    return columns


def scan(table: Source, progress: Progress) -> list[Seen]:
    """One pass over the table."""
    columns = [Seen(f.name, published_type(f.type)) for f in table.schema]
    rows = 0
    for batch in table.batches(table.schema.names):
        for seen in columns:
            seen.add(batch.column(seen.name))
        rows += batch.num_rows
        progress(rows, table.rows)
    return columns
