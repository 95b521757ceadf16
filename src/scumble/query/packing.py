"""The cells of a published row as one integer: a few bits for each column, OR-ed together.

Grouping by one small integer is several times faster than by one for each column, and comparisons with numbers of the column's own
type spare a conversion of every row.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from scumble.core.arrow_types import is_text
from scumble.core.domain import Domain, Grid
from scumble.engines.engine import LOOKUP, truth_case
from scumble.query.normalize import Perturbed, PublicAtom

MANY_CELLS = 32
"""From here on a column's published value is grouped by itself, and put into its cell afterwards."""

MANY_VALUES = 4096
"""Up to here that is done for a column that is the only thing to tell apart: engines group a column of codes faster than they compare it."""

MANY_WORDS = 4
"""From here on the cell of a word is looked up in a list, by engines that have one: they compare once for each row otherwise."""

LONG_LIST = 512
"""Beyond this, looking words up one after another is slow even when it is done once."""

MOST_RUNS = 16
"""Ranges that a cell is written by, at most."""


def grouped_raw(axes: Sequence[Perturbed], alone: bool, values: bool = False) -> list[Perturbed]:
    """The axes, with a mark on those whose published value the statement gives instead of its cell: codes always, whose cells have no order."""
    single = alone and len(axes) == 1

    def marked(a: Perturbed) -> Perturbed:
        if a.codes is not None and not values:
            return replace(a, codes=replace(a.codes, raw=a.codes.count > 1))
        return replace(
            a, raw=a.count > MANY_CELLS or (single and a.count > 1 and a.domain.size <= MANY_VALUES) or _long(a)
        )

    return [marked(a) for a in axes]


def _long(axis: Perturbed) -> bool:
    """Whether cells are long lists of values, which an engine takes longer to read than to group by the values."""
    if isinstance(axis.domain, Grid) or axis.domain.size - np.bincount(axis.cells).max() <= LONG_LIST:
        return False
    return _ordered(axis.domain) is None or any(
        len(_sorted_runs(axis.domain, axis.cells == cell)) > MOST_RUNS for cell in range(axis.count)
    )


def _ordered(domain: Domain) -> npt.NDArray[np.int64] | None:
    """The places of listed whole numbers or days, in their order; a missing one is none of them. None for other values."""
    if not (pa.types.is_signed_integer(domain.type) or pa.types.is_date32(domain.type)):
        return None
    order: npt.NDArray[np.int64] = pc.sort_indices(domain.values).to_numpy().astype(np.int64)
    return order[: len(order) - domain.values.null_count]


def _sorted_runs(domain: Domain, members: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The places of the first and last of neighbours, in the order of the values."""
    order = _ordered(domain)
    assert order is not None
    return [(int(order[first]), int(order[last])) for first, last in _runs(members[order])]


def fields(others: Sequence[Perturbed], atoms: int) -> list[tuple[int, int]]:
    """First bit and number of bits of each axis, and then of each public condition; no bits where none are needed."""
    widths = [0 if axis.raw else (axis.count - 1).bit_length() for axis in others] + [2] * atoms
    starts = np.concatenate([[0], np.cumsum(widths)])
    return [(int(start), width) for start, width in zip(starts, widths, strict=False)]


def packed(others: Sequence[Perturbed], atoms: Sequence[PublicAtom]) -> exp.Expression | None:
    """The expression of that integer; None where there is nothing to tell apart."""
    parts: list[exp.Expression] = []
    items: list[Perturbed | PublicAtom] = [*others, *atoms]
    for item, (start, width) in zip(items, fields(others, len(atoms)), strict=True):
        if width:
            unit = 1 << start
            parts.append(truth_case(item.condition, unit) if isinstance(item, PublicAtom) else _cell_case(item, unit))
    whole = parts[0] if parts else None
    for part in parts[1:]:
        whole = exp.BitwiseOr(
            this=exp.Paren(this=whole) if isinstance(whole, exp.Case) else whole, expression=exp.Paren(this=part)
        )
    return whole


def unpacked(numbers: npt.NDArray[Any], start: int, width: int) -> npt.NDArray[np.intp]:
    """The field of each integer."""
    return (numbers.astype(np.int64) >> start & ((1 << width) - 1)).astype(np.intp)


def _cell_case(axis: Perturbed, unit: int) -> exp.Expression:
    """The number of the cell that a published value lies in, times the unit; the one that is longest to say is the default."""
    column = exp.column(axis.name, quoted=True)
    lengths = [len(_runs(axis.cells == cell)) if isinstance(axis.domain, Grid) else 0 for cell in range(axis.count)]
    default = int(np.lexsort((np.bincount(axis.cells, minlength=axis.count), np.array(lengths)))[-1])
    if is_text(axis.domain.type) and int((axis.cells != default).sum()) >= MANY_WORDS and axis.domain.size <= LONG_LIST:
        return _looked_up(column, axis, unit)
    ifs = [
        exp.If(this=_membership(column, axis.domain, axis.cells == cell), true=exp.Literal.number(cell * unit))
        for cell in range(axis.count)
        if cell != default
    ]
    return exp.Case(ifs=ifs, default=exp.Literal.number(default * unit))


def _looked_up(column: exp.Column, axis: Perturbed, unit: int) -> exp.Expression:
    """The same word by word, with the hint that an engine may look them up in a list."""
    cells = list(zip(axis.domain.values.to_pylist(), axis.cells.tolist(), strict=True))
    ifs = [exp.If(this=exp.convert(v), true=exp.Literal.number(cell * unit)) for v, cell in cells if v is not None]
    missing = [exp.Literal.number(cell * unit) for v, cell in cells if v is None]
    case = exp.Case(this=column, ifs=ifs, default=missing[0] if missing else None)
    case.meta[LOOKUP] = True
    return case


def _membership(column: exp.Column, domain: Domain, members: npt.NDArray[np.bool_]) -> exp.Expression:
    if isinstance(domain, Grid):
        return exp.or_(*[_run(column, domain, first, last) for first, last in _runs(members)])
    if domain.size > LONG_LIST and _ordered(domain) is not None:
        return _in_runs(column, domain, members)
    values = domain.values.filter(members).to_pylist()
    known = [exp.convert(v) for v in values if v is not None]
    parts: list[exp.Expression] = [exp.In(this=column.copy(), expressions=known)] if known else []
    if None in values:
        parts.append(exp.Is(this=column.copy(), expression=exp.Null()))
    return exp.or_(*parts)


def _in_runs(column: exp.Column, domain: Domain, members: npt.NDArray[np.bool_]) -> exp.Expression:
    """The same for long lists of whole numbers or days, between the ends of neighbours: no other values are published."""
    parts: list[exp.Expression] = []
    for first, last in _sorted_runs(domain, members):
        low, high = (exp.convert(domain.values[place].as_py()) for place in (first, last))
        parts.append(exp.Between(this=column.copy(), low=low, high=high))
    if (missing := domain.values.is_null().to_numpy(zero_copy_only=False)).any() and members[missing].any():
        parts.append(exp.Is(this=column.copy(), expression=exp.Null()))
    return exp.or_(*parts)


def _run(column: exp.Column, grid: Grid, first: int, last: int) -> exp.Expression:
    """Neighbouring points of a grid; between fractions the ends lie halfway where a number is there, so that no two of them need be equal."""
    whole = pa.types.is_integer(grid.type)
    half = float(grid.step) / 2 if not whole and grid.roomy else 0.0
    numbers = grid.numbers if half or whole else np.asarray(grid.values.cast(pa.float64(), safe=False))
    low, high = (exp.convert(int(x) if whole else float(x)) for x in (numbers[first] - half, numbers[last] + half))
    if first == 0 and last == grid.size - 1:
        return exp.true()
    if first == 0:
        return exp.LTE(this=column.copy(), expression=high)
    if last == grid.size - 1:
        return exp.GTE(this=column.copy(), expression=low)
    return exp.Between(this=column.copy(), low=low, high=high)


def _runs(members: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], members.astype(np.int8), [0]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
