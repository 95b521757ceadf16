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
