"""Lines of an answer that belong together."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def together(groups: pa.Table, names: Sequence[str], count: int) -> npt.NDArray[np.intp]:
    """Numbers that are the same for lines with the same values of some columns."""
    codes = [_codes(groups.column(name)) for name in names]
    return alike(codes, count)


def alike(codes: Sequence[npt.NDArray[np.intp]], count: int) -> npt.NDArray[np.intp]:
    """Numbers that are the same where all codes are."""
    if not codes:
        return np.zeros(count, dtype=np.intp)
    return np.asarray(np.unique(np.stack(codes), axis=1, return_inverse=True)[1]).reshape(-1).astype(np.intp)


def _codes(column: pa.ChunkedArray) -> npt.NDArray[np.intp]:
    listed = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.asarray(listed.dictionary_encode(null_encoding="encode").indices.to_numpy()).astype(np.intp)
