"""What a statement tells apart does not depend on how it does so."""

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble

LISTS = ["w03", "w04", "w05", "w11", "w17"]


def words_release() -> scumble.Release:
    draw = np.random.default_rng(3)
    words = [f"w{i:02d}" for i in range(20)]
    first = [None if i == 20 else words[i] for i in draw.integers(0, 21, 4000)]
    table = pa.table(
        {
            "first": first,
            "second": draw.choice(words, 4000),
            "score": draw.integers(0, 40, 4000),
            "sex": ["F", "M"] * 2000,
        }
    )
    domains = {"first": [*words, None], "second": words, "score": {"low": 0, "high": 39}}
    return publish_openly(table, sensitive=list(domains), domains=domains, retain=0.6, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "condition",
    [
        f"first IN {tuple(LISTS)}",
        f"first NOT IN {tuple(LISTS)}",
        f"first IN {tuple(LISTS)} AND second IN {tuple(LISTS)}",
        f"(first IS NULL OR first > 'w06') AND second NOT IN {tuple(LISTS)}",
        "score BETWEEN 10 AND 30",
        f"score BETWEEN 10 AND 30 AND second IN {tuple(LISTS)}",
    ],
)
def test_cells_are_the_same_however_the_statement_tells_them_apart(
    condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked up in lists, grouped by the published value, or compared: the same rows are in the same cells."""
    release = words_release()
    monkeypatch.setattr("scumble.engines.duckdb.engine.DuckDB.tally", lambda self, axes: None)
    for by in ("", " GROUP BY sex"):
        sql = f"SELECT COUNT(*) AS n, AVG(score) AS s FROM release WHERE {condition}{by}"
        quick = release.query(sql).to_arrow()
        with monkeypatch.context() as plain:
            plain.setattr("scumble.query.packing.MANY_WORDS", 1000)
            plain.setattr("scumble.query.packing.MANY_VALUES", 0)
            compared = release.query(sql).to_arrow()
        for name in quick.schema.names:
            np.testing.assert_allclose(quick.column(name).to_numpy(), compared.column(name).to_numpy(), rtol=1e-12)


LONG = {
    "number": pa.array([7 * i - 900 for i in range(700)] + [None]),
    "day": pa.array([*range(10_000, 10_600, 1)], pa.date32()),
    "word": pa.array([f"w{i:04d}" for i in range(800)]),
}


@pytest.fixture(scope="module")
def listed() -> scumble.Release:
    """Columns with hundreds of listed values."""
    draw = np.random.default_rng(4)
    columns = {name: values.take(pa.array(draw.integers(0, len(values), 3000))) for name, values in LONG.items()}
    domains = {
        name: draw.permutation(np.array(values.to_pylist(), dtype=object)).tolist() for name, values in LONG.items()
    }
    return publish_openly(
        pa.table({**columns, "sex": ["F", "M"] * 1500}), sensitive=list(LONG), domains=domains, retain=0.7, seed=3
    )


@pytest.mark.parametrize(
    "condition",
    [
        "number BETWEEN -100 AND 2000",
        "number > 50 OR number IS NULL",
        "number % 2 = 0",
        "number % 3 = 0 AND sex = 'F'",
        "day >= DATE '1998-01-01' AND number < 1000",
        "day < DATE '1998-01-01' OR sex = 'F' AND number IS NOT NULL",
        "word BETWEEN 'w0100' AND 'w0700'",
        "word > 'w0300' AND number > 100 AND sex = 'M'",
    ],
)
def test_long_lists_are_asked_by_ranges_or_put_into_cells_afterwards(
    condition: str, listed: scumble.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = f"SELECT COUNT(*) AS n FROM release WHERE {condition}"
    short = listed.query(sql).to_list()
    monkeypatch.setattr("scumble.query.packing.LONG_LIST", 10**9)
    monkeypatch.setattr("scumble.query.packing.MANY_WORDS", 10**9)
    assert listed.query(sql).to_list() == [pytest.approx(short[0], rel=1e-9)]
