"""The tables of Privacy Preserving OLAP, section 7: Adult with its four columns and predicates, and Zipf columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ADULT = Path(__file__).parents[2] / "shared" / "data" / "adult.parquet"
COLUMNS = {"age": (17, 90), "fnlwgt": (10_000, 1_500_000), "hours_per_week": (1, 100), "education_num": (1, 16)}
"""The paper's ranges."""
RANGES = {"age": (25, 45), "fnlwgt": (100_000, 1_000_000), "hours_per_week": (30, 60), "education_num": (5, 10)}
"""The paper's predicates."""

Bits = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]


def split(path: Path, which: str) -> pa.Table:
    """The rows of Adult for training or for testing."""
    table = pq.read_table(path)
    return table.filter(pc.equal(table.column("split"), which))


def adult(table: pa.Table) -> tuple[Bits, list[float], dict[str, Numbers]]:
    """Which rows satisfy each of the four predicates, the replacement probabilities of these, and the columns."""
    columns = {name: table.column(name).to_numpy() for name in COLUMNS}
    shares = [(RANGES[c][1] - RANGES[c][0] + 1) / (high - low + 1) for c, (low, high) in COLUMNS.items()]
    return satisfied(columns, list(RANGES)), shares, columns


def satisfied(columns: dict[str, Any], names: Sequence[str]) -> Bits:
    """Row by predicate: whether it holds."""
    return np.stack([(columns[c] >= RANGES[c][0]) & (columns[c] <= RANGES[c][1]) for c in names], axis=1)


def zipf(rows: int, draw: np.random.Generator) -> npt.NDArray[np.int64]:
    """A shuffled column in which the value of rank i occurs 5 sqrt(V / i) times, V = rows / 10; values are in no order of rank."""
    distinct = rows // 10
    often = np.rint(5 * np.sqrt(distinct / np.arange(1, distinct + 1))).astype(np.int64)
    column = np.resize(np.repeat(draw.permutation(distinct), often), rows)
    return draw.permutation(column)


def zipf_bits(rows: int, k: int, draw: np.random.Generator) -> Bits:
    """k uncorrelated Zipf columns, each asked for half of its values."""
    return np.stack([zipf(rows, draw) < rows // 20 for _ in range(k)], axis=1)
