"""Public columns made coarser on the way, so that fewer rows are alone."""

import csv
import itertools
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded
from scumble.core.errors import SchemaError
from scumble.core.parameters import number
from scumble.spec.recoding import Recoding, groups, hierarchy
from scumble.spec.spec import Coarsen


def coarsen(column: pa.Array, how: Coarsen, name: str) -> pa.Array:
    """The column as it is published.

    >>> coarsen(pa.array([31, 38, 45]), Coarsen(bins=10), "age").to_pylist()
    [30, 30, 40]
    >>> coarsen(pa.array([3, 20, 70]), Coarsen(edges=[18, 65]), "age").to_pylist()
    ['<18', '[18, 65)', '>=65']
    >>> coarsen(pa.array(["90210"]), Coarsen(prefix=3), "zip").to_pylist()
    ['902']
    >>> coarsen(pa.array(["flu"]), Coarsen(groups={"airways": ["flu", "asthma"]}), "disease").to_pylist()
    ['airways']
    """
    if how.groups is not None:
        return groups(how.groups).recode(column, name)
    if how.hierarchy is not None:
        return read_hierarchy(how.hierarchy, _level(how)).recode(column, name)
    try:
        if how.bins is not None:
            return _bins(column, number(how.bins, "bins"))
        if how.edges is not None:
            return _edges(column, how.edges)
        if how.prefix is not None:
            return pc.utf8_slice_codeunits(decoded(column).cast(pa.string()), 0, how.prefix)
        return pc.floor_temporal(column, unit=how.date)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        sentence = ", ".join(f"{k} = {v}" for k, v in how.model_dump(exclude_none=True).items())
        instead = "; a date takes date = year, quarter, month, week or day" if pa.types.is_temporal(column.type) else ""
        raise SchemaError(f"column {name!r} of type {column.type} cannot be coarsened by {sentence}{instead}") from None


def has_place(column: pa.Array, how: Coarsen) -> pa.Array:
    """Which values the rule has a place for; a missing one has, and stays missing.

    >>> has_place(pa.array(["flu", "gout", None]), Coarsen(groups={"airways": ["flu", "asthma"]})).to_pylist()
    [True, False, True]
    """
    plain = decoded(column)
    if how.groups is not None:
        return groups(how.groups).has(plain)
    if how.hierarchy is not None:
        return read_hierarchy(how.hierarchy, _level(how)).has(plain)
    if pa.types.is_integer(plain.type):
        doubles = (
            pc.and_(pc.greater_equal(plain, -WHOLE), pc.less_equal(plain, WHOLE))
            if plain.type.bit_width == 64
            else None
        )
        return pa.repeat(True, len(plain)) if doubles is None else doubles.fill_null(True)
    return pa.repeat(True, len(plain))


WHOLE = 2**53
"""Whole numbers up to which doubles tell all of them apart."""


def resolved(how: Coarsen) -> Coarsen:
    """The rule itself, as it may be published: a hierarchy as the groups that it makes at its level, without its path."""
    if how.hierarchy is None:
        return how
    recoding = read_hierarchy(how.hierarchy, _level(how))
    members: dict[str, list[str]] = {}
    for value, label in zip(recoding.values, recoding.labels, strict=True):
        members.setdefault(label, []).append(value)
    return Coarsen.model_validate({"groups": members})


def _level(how: Coarsen) -> int:
    return 1 if how.level is None else how.level


@lru_cache(maxsize=8)
def read_hierarchy(path: str, level: int) -> Recoding:
    """The recoding that a CSV file (separated by commas or semicolons) gives at a level."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        raise SchemaError(f"there is no hierarchy that can be read at {path!r}; it is a CSV file in UTF-8") from None
    first = text.partition("\n")[0]
    rows = [row for row in csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count)) if row]
    return hierarchy(rows, level)


def _bins(column: pa.Array, width: float) -> pa.Array:
    low = pc.multiply(pc.floor(pc.divide(column.cast(pa.float64()), width)), width)
    return low.cast(column.type) if pa.types.is_integer(column.type) and width.is_integer() else low


def _edges(column: pa.Array, edges: list[float]) -> pa.Array:
    numbers = column.cast(pa.float64())
    above = pc.cast(pc.greater_equal(numbers, edges[0]), pa.int32())
    for edge in edges[1:]:
        above = pc.add(above, pc.cast(pc.greater_equal(numbers, edge), pa.int32()))
    labels = [_edge(edge) for edge in edges]
    between = [f"[{low}, {high})" for low, high in itertools.pairwise(labels)]
    return pa.array([f"<{labels[0]}", *between, f">={labels[-1]}"]).take(above)


def _edge(edge: float) -> str:
    """A number as a label has it: with all its digits, and without a power of ten as long as people would write it so."""
    short = f"{edge:g}"
    return short if float(short) == edge and "e+" not in short else f"{edge:.15g}"
