"""What a model learns from: a release, or raw rows, which are a release that perturbs nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.core.errors import InputError, ParameterError, TableError, did_you_mean
from scumble.engines import open_engine
from scumble.engines.engine import TABLE, Engine
from scumble.query.compile import Published
from scumble.release.release import Release


@dataclass(frozen=True)
class TrainingRows:
    """An engine, and what is known of the rows behind it."""

    published: Published
    engine: Engine
    release: Release | None = None
    """Whose files the engine reads: they are open as long as it is there."""

    def require(self, name: str) -> None:
        """Refuses a column that is not there."""
        if name not in self.published.columns:
            raise InputError(f"there is no column {name!r} to learn from{did_you_mean(name, self.published.columns)}")


def training_rows(data: Any, *, joint: bool = False) -> TrainingRows:
    """A release, or a table of raw rows.

    joint   whether a model understands columns that were perturbed as one
    """
    if isinstance(data, TrainingRows):
        return data
    if isinstance(data, Release):
        if not data.manifest.view.row_by_row:
            raise InputError(
                "a release of counted tuples, buckets or boxes has no perturbed rows to reconstruct from; learn from one that perturbs columns"
            )
        if data.manifest.view.joint and not joint:
            raise InputError(
                f"{', '.join(data.manifest.view.joint)} were perturbed as one, which learning does not know; learn from a release with mechanism uniform"
            )
        return TrainingRows(data.published, data.engine, data)
    table = as_table(data)
    return TrainingRows(Published(table.column_names, {}, [{}]), open_engine({TABLE: table}))


def as_table(rows: Any, names: Sequence[str] | None = None) -> pa.Table:
    """Ordinary rows as Arrow: a data frame, a dictionary of columns, or a matrix whose columns have the given names.

    >>> as_table([[1, 2], [3, 4]], ["a", "b"]).to_pylist()
    [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]
    """
    if isinstance(rows, pa.Table):
        return rows
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if hasattr(rows, "tocsr"):
        raise ParameterError("sparse input is not supported; make it dense: X.toarray()")
    if isinstance(rows, Mapping):
        return pa.table({str(name): _column(values) for name, values in rows.items()})
    if isinstance(rows, str | bytes) or not (isinstance(rows, Sequence) or hasattr(rows, "__array__")):
        raise TableError(
            f"rows are a release, a data frame, a dictionary of columns or a matrix, not {type(rows).__name__}"
        )
    return _matrix(np.asarray(rows), names)


def _matrix(matrix: np.ndarray[Any, Any], names: Sequence[str] | None) -> pa.Table:
    if matrix.ndim != 2:
        raise ParameterError(f"expected 2D array, got {matrix.ndim}D. Reshape your data: one row is x.reshape(1, -1)")
    if 0 in matrix.shape:
        what = "sample" if matrix.shape[0] == 0 else "feature"
        raise ParameterError(f"0 {what}(s) (shape={matrix.shape}) while a minimum of 1 is required.")
    columns = names or [f"x{i}" for i in range(matrix.shape[1])]
    if len(columns) != matrix.shape[1]:
        wanted = f"it is expecting {len(columns)} features as input: {', '.join(columns)}"
        raise ParameterError(f"X has {matrix.shape[1]} features, but {wanted}")
    return pa.table({name: _column(matrix[:, i]) for i, name in enumerate(columns)})


def _column(values: Any) -> pa.Array:
    array = np.asarray(values)
    try:
        return pa.array(array.tolist() if array.dtype.kind in "OU" else np.ascontiguousarray(array), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        what = (
            "Complex data not supported"
            if array.dtype.kind == "c"
            else f"values of type {array.dtype} are not understood"
        )
        raise ParameterError(f"{what}: a column holds numbers, texts or truth values") from None
