"""A table of which some columns are taken as one: their combinations are a column of text, made batch by batch."""

import json
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from scumble.core.combined import part_type, together
from scumble.core.errors import SchemaError, did_you_mean
from scumble.sources.source import Source

PARTS = b"scumble parts"
"""Under which a column that is made has its parts and their types."""


def parts_of(schema: pa.Schema, name: str) -> dict[str, str] | None:
    """The parts of a column and their types, where it is made of some."""
    known = (schema.field(name).metadata or {}).get(PARTS)
    return None if known is None else dict(json.loads(known))


class CombinedSource:
    """The rows of another source, without the parts and with what they make."""

    def __init__(self, inner: Source, made: Mapping[str, Sequence[str]]) -> None:
        self._inner, self._made = inner, made
        self.name, self.rows, self.stable = inner.name, inner.rows, inner.stable
        for name, parts in made.items():
            _demand(inner, name, parts, made)
        taken = {part for parts in made.values() for part in parts}
        kept = [field for field in inner.schema if field.name not in taken]
        self.schema = pa.schema([*kept, *(self._field(name) for name in made)])

    @property
    def files(self) -> Sequence[Path]:
        """Those of the table."""
        return self._inner.files

    @property
    def folder(self) -> Path | None:
        """The folder that is the table, where it is one."""
        return getattr(self._inner, "folder", None)

    def _field(self, name: str) -> pa.Field:
        """A column that is made, and with it what its parts are."""
        types = {part: str(part_type(self._inner.schema.field(part).type, part)) for part in self._made[name]}
        return pa.field(name, pa.string(), metadata={PARTS: json.dumps(types)})

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns, those that are made among them."""
        reading = list(dict.fromkeys(part for name in columns for part in self._made.get(name, [name])))
        for batch in self._inner.batches(reading):
            arrays = [
                together([batch.column(part) for part in self._made[name]], self._made[name])
                if name in self._made
                else batch.column(name)
                for name in columns
            ]
            yield pa.record_batch(arrays, names=list(columns))


def _demand(inner: Source, name: str, parts: Sequence[str], made: Mapping[str, Sequence[str]]) -> None:
    names = inner.schema.names
    for part in parts:
        if part not in names:
            raise SchemaError(
                f"column {name!r} is to be made of {part!r}, which is not in the table{did_you_mean(part, names)}"
            )
        if sum(part in others for others in made.values()) > 1:
            raise SchemaError(f"column {part!r} is a part of two columns; it can be one of one")
        part_type(inner.schema.field(part).type, part)
    if name in names and name not in parts:
        raise SchemaError(f"the table has a column {name!r} already; call what is made of {', '.join(parts)} otherwise")
