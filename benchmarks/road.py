"""The road: perturbing, publishing, asking, memory."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np

import scumble
from benchmarks.measure import Figure, peak_memory, seconds
from scumble.core.coins import Coins
from scumble.core.entropy import Entropy

PUBLIC = ["age", "sex", "region", "ward", "cost"]
DISEASES = [f"disease number {i}" for i in range(50)]
QUESTION = "SELECT sex, disease, COUNT(*) AS patients, AVG(cost) AS cost FROM {} WHERE age BETWEEN 30 AND 45 GROUP BY sex, disease"


def table(path: Path, rows: int) -> Path:
    """Six columns: two numbers, three texts to publish, one to perturb."""
    duckdb.connect().execute(
        f"""COPY (SELECT (hash(i) % 91)::INT AS age, ['F', 'M'][1 + (hash(i + 1) % 2)::INT] AS sex, 'region-' || (hash(i + 2) % 16) AS region,
        'ward ' || (hash(i + 3) % 30) AS ward, 'disease number ' || (hash(i + 4) % 50) AS disease, round((hash(i + 5) % 1000000) / 100.0, 2)::DOUBLE AS cost
        FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"""
    )
    return path


def publish(source: Path, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    scumble.publish(source, out, sensitive=["disease"], public=PUBLIC, domains={"disease": DISEASES}, epsilon=1.6)


def perturbing() -> Figure:
    """Against the peer's client on its own million (it is too slow for ten), as rates."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    coins = Coins.of(scumble.Channel.from_epsilon(50, np.log(5)))
    codes = np.random.default_rng(1).integers(0, 50, 10_000_000).astype(np.uint8)
    some = codes[:200_000].tolist()
    entropy = Entropy.system()
    ours, peer = seconds(
        lambda: coins.flip(codes, entropy.stream("bench")),
        lambda: [GRR_Client(v, 50, np.log(5)) for v in some],
        repeat=5,
    )
    ratio = (len(codes) / ours) / (len(some) / peer)
    detail = f"{len(codes) / ours / 1e6:.0f} against {len(some) / peer / 1e6:.2f} million records a second"
    return Figure("perturbing a column (m = 50) against multi-freq-ldpy's client", ratio, 200, True, detail=detail)


def figures() -> Iterator[Figure]:
    yield perturbing()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = table(folder / "t.parquet", 10_000_000)
        connection = duckdb.connect()
        ours, copy = seconds(
            lambda: publish(source, folder / "r"),
            lambda: connection.execute(f"COPY (FROM '{source}') TO '{folder / 'copy.parquet'}' (FORMAT parquet)"),
        )
        yield Figure(
            "publishing 10M x 6 Parquet against DuckDB's copy",
            ours / copy,
            1.4,
            detail=f"{ours:.2f} s against {copy:.2f} s",
        )
        release = scumble.open(folder / "r")
        asked, exact = seconds(
            lambda: release.query(QUESTION.format("release")),
            lambda: connection.sql(QUESTION.format(f"'{source}'")).fetchall(),
            repeat=9,
        )
        detail = f"{1000 * asked:.0f} ms against {1000 * exact:.0f} ms"
        yield Figure("GROUP BY with intervals, 10M rows, against the exact query", asked / exact, 1.5, detail=detail)
        large = table(folder / "large.parquet", 50_000_000)
        code = f"import scumble; scumble.publish({str(large)!r}, {str(folder / 'large')!r}, sensitive=['disease'], public={PUBLIC!r}, domains={{'disease': {DISEASES!r}}}, epsilon=1.6)"
        yield Figure("peak memory publishing 50M rows", peak_memory(code), 1024, unit="MiB")
