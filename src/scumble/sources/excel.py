"""A sheet of a workbook (.xlsx, .xlsm, .xls, .xlsb, .ods): book.xlsx, or book.xlsx?sheet=Patients.

The first row holds the names. A cell has a type of its own in such files; a column has one here, and a cell that differs is refused
by its place. Sheets are small (1,048,576 rows at most), so that one is held whole.
"""

import os
from collections.abc import Generator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.core.errors import TableError, did_you_mean
from scumble.core.extras import need
from scumble.sources import source
from scumble.sources.address import behind, option_of
from scumble.sources.problems import demand_names

ENDINGS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")

KINDS: dict[type, pa.DataType] = {
    bool: pa.bool_(),
    float: pa.float64(),
    str: pa.string(),
    date: pa.date32(),
    datetime: pa.timestamp("us"),
    time: pa.time64("us"),
    timedelta: pa.duration("us"),
}


class ExcelSource:
    """One sheet: the only one, or the one that the address names."""

    stable = True
    guesses = "types"

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the path of a workbook that there is."""
        if not isinstance(thing, str | os.PathLike):
            return False
        path, _ = behind(thing)
        return path.suffix.lower() in ENDINGS and path.is_file()

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        path, asked = behind(thing)
        self.name, self.files = path.name, [path]
        rows = _rows(path, option_of(asked, "sheet", path.name))
        names = _names(rows, self.name)
        for name in text:
            if name not in names:
                raise TableError(f"column {name!r} is not in {self.name}{did_you_mean(name, names)}")
        columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * len(names)
        self._table = pa.table(
            {name: _array(name, list(v), name in text, path) for name, v in zip(names, columns, strict=True)}
        )
        self.schema: pa.Schema = self._table.schema
        self.rows: int | None = self._table.num_rows

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns."""
        yield from self._table.select(list(columns)).to_batches(source.BATCH)


def _rows(path: Path, sheet: str | None) -> list[list[Any]]:
    calamine = need("python_calamine", "excel")
    try:
        book = calamine.CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if sheet is None and len(names) != 1:
            raise TableError(f"{path.name} has the sheets {', '.join(names)}; name one: {path.name}?sheet={names[0]}")
        if sheet is not None and sheet not in names:
            raise TableError(f"{path.name} has no sheet {sheet!r}{did_you_mean(sheet, names)}")
        rows: list[list[Any]] = book.get_sheet_by_name(sheet or names[0]).to_python()
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise TableError(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None
    return rows


def _names(rows: list[list[Any]], name: str) -> list[str]:
    if not rows:
        raise TableError(f"{name} is empty; a sheet has a row of column names and rows below it")
    names = [str(cell).strip() for cell in rows[0]]
    demand_names(names, name)
    return names


def _array(name: str, values: list[Any], as_text: bool, path: Path) -> pa.Array:
    """One type a column; an empty cell is a missing value, and a number without fraction is a whole one."""
    cells = [None if value == "" else value for value in values]
    if as_text:
        return pa.array([None if cell is None else _text(cell) for cell in cells], pa.string())
    kinds = {type(cell) for cell in cells if cell is not None}
    kinds = {float} if kinds and kinds <= {int, float} else kinds
    if len(kinds) > 1:
        first = next(cell for cell in cells if cell is not None)
        line, other = next((i, c) for i, c in enumerate(cells) if c is not None and not isinstance(c, type(first)))
        raise TableError(
            f"{path.name}, row {line + 2}: column {name!r} has {other!r} where the rows above have values like {first!r}; "
            f"clean it, or read the column as text (--text {name})"
        )
    if kinds == {float} and all(cell is None or float(cell).is_integer() for cell in cells):
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    return pa.array(cells, KINDS.get(next(iter(kinds), str), pa.string()))


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
