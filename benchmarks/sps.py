"""Sampling-perturbing-scaling: its cost is that of one GROUP BY, and its memory that of the groups."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

import scumble
from benchmarks.measure import Figure, peak_memory, seconds

ROWS = 20_000_000
VALUES = [f"disease number {i}" for i in range(50)]
PUBLIC = "sex, region, ward"


def table(path: Path, rows: int) -> Path:
    """960 groups (sex, region, ward) and 50 sensitive values."""
    duckdb.connect().execute(
        f"""COPY (SELECT ['F', 'M'][1 + (hash(i + 1) % 2)::INT] AS sex, 'region-' || (hash(i + 2) % 16) AS region, 'ward ' || (hash(i + 3) % 30) AS ward,
        'disease number ' || least(hash(i + 4) % 50, hash(i + 5) % 50) AS disease FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"""
    )
    return path


def publish(source: Path, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    how = {"domains": {"disease": VALUES}, "mechanism": "sps", "retain": 0.5}
    scumble.publish(source, out, sensitive="disease", public=["sex", "region", "ward"], **how)


def _code(source: Path, out: Path) -> str:
    return (
        f"import scumble; scumble.publish({str(source)!r}, {str(out)!r}, sensitive='disease', public=['sex', 'region', 'ward'], "
        f"domains={{'disease': {VALUES!r}}}, mechanism='sps', retain=0.5)"
    )


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, small = table(folder / "t.parquet", ROWS), table(folder / "small.parquet", ROWS // 20)
        connection = duckdb.connect()
        ours, counted = seconds(
            lambda: publish(source, folder / "r"),
            lambda: connection.sql(
                f"SELECT {PUBLIC}, disease, COUNT(*) AS n FROM '{source}' GROUP BY ALL"
            ).to_arrow_table(),
        )
        detail = f"{ours:.2f} s against {counted:.2f} s"
        yield Figure("sps on 20M rows against DuckDB's GROUP BY of the same columns", ours / counted, 2, detail=detail)
        large, little = (peak_memory(_code(path, folder / path.stem)) for path in (source, small))
        detail = f"{large:.0f} MiB against {little:.0f} MiB: the groups are the same 960"
        yield Figure("peak memory of sps on 20M rows against 1M rows", large / little, 2, detail=detail)
