"""Predicates that fit one row of a published table: a rare value, an extreme, or several columns of a row together. Whoever states one of a table has singled somebody out where it fits one person."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.evidence.column_law import Numbers
from scumble.core.arrow_types import decoded, is_number
from scumble.core.draws import below
from scumble.core.entropy import Entropy, Stream

Flags = npt.NDArray[np.bool_]
Sign = Literal["is", "is not", "at most", "at least"]


@dataclass(frozen=True)
class Requirement:
    """One column; a missing value is None."""

    column: str
    sign: Sign
    value: Any


Predicate = tuple[Requirement, ...]


class Columns:
    """The columns of a table in a form in which predicates are looked up fast."""

    def __init__(self, table: pa.Table, numbers: set[str]) -> None:
        self.rows = table.num_rows
        self._numbers = {name: _numbers(table.column(name)) for name in table.column_names if name in numbers}
        self._words: dict[str, tuple[dict[Any, int], npt.NDArray[np.int64]]] = {}
        for name in table.column_names:
            if name not in numbers:
                coded = decoded(table.column(name)).combine_chunks().dictionary_encode(null_encoding="encode")
                texts = [None if v is None else str(v) for v in coded.dictionary.to_pylist()]
                self._words[name] = {text: k for k, text in enumerate(texts)}, coded.indices.to_numpy().astype(np.int64)

    def fits(self, predicate: Predicate) -> Flags:
        """Which rows a predicate is true of."""
        return np.asarray(np.logical_and.reduce([self._fits(condition) for condition in predicate]))

    def _fits(self, condition: Requirement) -> Flags:
        if condition.column in self._numbers:
            column = self._numbers[condition.column]
            value = np.nan if condition.value is None else float(condition.value)
            same = np.isnan(column) if condition.value is None else column == value
            ways = {"is": same, "is not": ~same, "at most": column <= value, "at least": column >= value}
            return np.asarray(ways[condition.sign])
        places, codes = self._words[condition.column]
        same = codes == places.get(condition.value, -1)
        return np.asarray(same if condition.sign == "is" else ~same)


def numeric(*tables: pa.Table) -> set[str]:
    """The columns that are numbers in all tables."""
    return {n for n in tables[0].column_names if all(is_number(decoded(t.column(n)).type) for t in tables)}


def rare_values(table: pa.Table, numbers: set[str]) -> list[Predicate]:
    """Values that one row has, and the ends of numbers, in an order by lot."""
    made: list[Predicate] = []
    for name in table.column_names:
        column = decoded(table.column(name)).combine_chunks()
        counts = column.value_counts()
        once = [pair["values"] for pair in counts.to_pylist() if pair["counts"] == 1]
        made += [(Requirement(name, "is", _value(value, name in numbers)),) for value in once]
        if name in numbers:
            known = _numbers(table.column(name))
            known = known[~np.isnan(known)]
            if len(known):
                made += [
                    (Requirement(name, "at most", float(known.min())),),
                    (Requirement(name, "at least", float(known.max())),),
                ]
    order = Entropy.seeded(0).stream("rare values").permutation(len(made))
    return singling([made[place] for place in order.tolist()], table, numbers)


def of_rows(table: pa.Table, numbers: set[str], columns: int, count: int) -> list[Predicate]:
    """So many columns of a row each, by lot: numbers on the side of the median on which the row lies."""
    stream, names = Entropy.seeded(0).stream("rows"), table.column_names
    medians = {n: float(np.nanmedian(_numbers(table.column(n)))) for n in names if n in numbers}
    columns = min(columns, len(names))

    def condition(name: str, row: int) -> Requirement:
        value = _value(table.column(name)[row].as_py(), name in numbers)
        if value is None or name not in numbers:
            return Requirement(name, "is", value)
        return Requirement(name, "at least" if value > medians[name] else "at most", value)

    rows = below(stream, np.full(4 * count, max(1, table.num_rows)))
    made = [tuple(condition(name, row) for name in _chosen(stream, names, columns)) for row in rows.tolist()]
    return singling(list(dict.fromkeys(made)), table, numbers)[:count]


def at_random(table: pa.Table, numbers: set[str], columns: int, count: int) -> list[Predicate]:
    """Conditions that somebody makes up who has not looked at single rows: any value of a column, with any sign."""
    stream, names = Entropy.seeded(0).stream("at random"), table.column_names
    values = {n: decoded(table.column(n)).combine_chunks().unique() for n in names}
    made = []
    for _ in range(count):
        predicate = []
        for name in _chosen(stream, names, min(columns, len(names))):
            signs: Sequence[Sign] = ("is", "is not", "at most", "at least") if name in numbers else ("is", "is not")
            place, sign = below(stream, np.array([len(values[name]), len(signs)])).tolist()
            predicate.append(Requirement(name, signs[sign], _value(values[name][place].as_py(), name in numbers)))
        made.append(tuple(predicate))
    return made


def singling(predicates: Sequence[Predicate], table: pa.Table, numbers: set[str]) -> list[Predicate]:
    """Those that fit one row."""
    columns = Columns(table, numbers)
    return [predicate for predicate in predicates if int(columns.fits(predicate).sum()) == 1]


def _chosen(stream: Stream, names: Sequence[str], count: int) -> Iterator[str]:
    return (names[place] for place in sorted(stream.permutation(len(names))[:count].tolist()))


def _value(value: Any, number: bool) -> Any:
    return None if value is None else float(value) if number else str(value)


def _numbers(column: pa.ChunkedArray) -> Numbers:
    return np.asarray(decoded(column).cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
