"""Tuples counted by the codes of Parquet files: what the engine's GROUP BY counts, or nothing."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scumble.engines.duckdb import coded, counting
from scumble.engines.duckdb.coded import coded_tuples
from scumble.engines.duckdb.counting import COUNT, count_tuples


def written(folder: Path, *tables: pa.Table, rows: int = 100) -> list[Path]:
    files = [folder / f"{place}.parquet" for place in range(len(tables))]
    for file, table in zip(files, tables, strict=True):
        pq.write_table(table, file, row_group_size=rows)
    return files


def by_hand(tables: list[pa.Table], names: list[str], least: int) -> dict[tuple[Any, ...], int]:
    counts = Counter(t for table in tables for t in zip(*(table[n].to_pylist() for n in names), strict=True))
    return {t: n for t, n in counts.items() if n >= least}


def mixed(seed: int, shift: int, words: list[str | None]) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "n": pa.array(draw.integers(-100, 101, 700), pa.int8()),
            "m": pa.array(draw.integers(0, 3, 700) + shift, pa.int64()),
            "w": pa.array([words[i] for i in draw.integers(0, len(words), 700)], pa.string()),
            "b": pa.array([[True, False, None][i] for i in draw.integers(0, 3, 700)]),
            "unused": draw.random(700),
        }
    )


@pytest.mark.parametrize("least", [1, 2, 5])
@pytest.mark.parametrize("names", [["n"], ["m", "w"], ["w", "b", "n"], ["b", "m"]])
def test_counts_are_those_of_the_rows(
    names: list[str], least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several files of several row groups, counted by several threads; words, and numbers on both sides, that come late; nothing is a value."""
    monkeypatch.setattr(coded, "AT_ONCE", 500)
    tables = [mixed(1, 0, ["x", "y"]), mixed(2, -50, ["z", None, "x"]), mixed(3, 40, ["", "NULL", "y"])]
    found = coded_tuples(written(tmp_path, *tables), names, least)
    assert found is not None
    tuples, counts = found
    assert tuples.schema.types == [tables[0].schema.field(name).type for name in names]
    rows = zip(*(tuples[n].to_pylist() for n in names), strict=True)
    assert dict(zip(rows, counts.tolist(), strict=True)) == by_hand(tables, names, least)


def test_the_engine_counts_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, names = written(tmp_path, mixed(1, 0, ["x", None]), mixed(2, 1, ["y"])), ["w", "n", "b"]
    order = [(name, "ascending") for name in [*names, COUNT]]
    ours = count_tuples(files, names, 2).sort_by(order)
    monkeypatch.setattr(counting, "coded_tuples", lambda *_: None)
    assert ours.to_pylist() == count_tuples(files, names, 2).sort_by(order).to_pylist()


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None] * 50),
        pa.array([1.5] * 100),
        pa.array(np.arange(100) * 10**6),
        pa.array([2**63] * 100, pa.uint64()),
        pa.array(["a"] * 100).dictionary_encode(),
        pa.array(np.arange(100, dtype=np.int32)).cast(pa.date32()),
    ],
    ids=["missing numbers", "fractions", "far numbers", "huge numbers", "categories", "dates"],
)
def test_what_has_no_codes_is_left_to_the_engine(column: pa.Array, tmp_path: Path) -> None:
    files = written(tmp_path, pa.table({"x": column, "w": ["a", "b"] * 50}))
    assert coded_tuples(files, ["x", "w"], 1) is None
    assert sum(count_tuples(files, ["x", "w"], 1)[COUNT].to_pylist()) == 100


def test_too_many_combinations_are_left_to_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the first row groups had few."""
    files = written(
        tmp_path, pa.table({"x": [1] * 500 + list(range(500)), "w": ["a"] * 900 + [str(i) for i in range(100)]})
    )
    assert coded_tuples(files, ["x", "w"], 1) is not None
    monkeypatch.setattr(coded, "MOST_CELLS", 1000)
    assert coded_tuples(files, ["x", "w"], 1) is None
    monkeypatch.setattr(coded, "MOST_CELLS", 1 << 20)
    monkeypatch.setattr(coded, "MOST_WORDS", 50)
    assert coded_tuples(files, ["x", "w"], 1) is None
    monkeypatch.setattr(coded, "MOST_WORDS", 5000)
    monkeypatch.setattr(coded, "LARGEST", 150)
    assert coded_tuples(files, ["x"], 1) is not None
    assert coded_tuples(files, ["x", "w"], 1) is None, "a row group of 200 values is not read whole"


def test_empty_and_broken_files_are_left_to_the_engine(tmp_path: Path) -> None:
    empty = written(tmp_path, pa.table({"x": pa.array([], pa.int64())}))
    assert coded_tuples(empty, ["x"], 1) is None
    assert len(count_tuples(empty, ["x"], 1)) == 0
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing PAR1")
    assert coded_tuples([tmp_path / "broken.parquet"], ["x"], 1) is None
