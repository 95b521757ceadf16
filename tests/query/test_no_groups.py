"""GROUP BY over a WHERE that no row satisfies: every form of release answers it, without a line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from every_mechanism import on_one_column
from naming import publish_openly
from tables import ILLS
from typer.testing import CliRunner

import scumble
from scumble.cli import app

ONE: dict[str, Any] = {"sensitive": "ill", "domains": {"ill": ILLS}}
TWO: dict[str, Any] = {
    "sensitive": ["ill", "cost"],
    "domains": {"ill": ILLS, "cost": {"low": 0, "high": 5}},
}
MECHANISMS = on_one_column("ill") | {
    "uniform": {**TWO, "retain": 0.5},
    "fine_grain": {**ONE, "rho1": 0.1, "rho2": 0.5},
    "swapped": {**ONE, "retain": 0.5},
    "frapp": {**TWO, "gamma": 10},
}
BY_LIKELIHOOD = ("uniform", "fine_grain", "identity", "swapped", "sps")
CASES = [*((name, "unbiased") for name in MECHANISMS), *((name, "likelihood") for name in BY_LIKELIHOOD)]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw, n = np.random.default_rng(1), 900
    columns: dict[str, list[Any]] = {
        "town": ["Bonn", "Ulm", "Kiel"],
        "ill": ILLS,
        "cost": list(range(6)),
    }
    table = pa.table({name: draw.choice(values, n) for name, values in columns.items()})
    folder = tmp_path_factory.mktemp("releases")
    for name, how in MECHANISMS.items():
        publish_openly(table, folder / name, mechanism=name, seed=1, **how)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "method"), CASES)
@pytest.mark.parametrize("where", ["town = 'Rome'", "town = 'Rome' AND ill = 'flu'"])
def test_an_answer_without_lines(releases: Path, mechanism: str, method: str, where: str) -> None:
    sql = f"SELECT town, COUNT(*) AS n FROM release WHERE {where} GROUP BY town ORDER BY n DESC LIMIT 3"
    answer = scumble.open(releases / mechanism).query(sql, method=method)
    assert len(answer) == 0
    assert answer.to_list() == []
    assert answer.to_arrow().column_names[:2] == ["town", "n"]
    for format in ("text", "json"):
        run = ["query", str(releases / mechanism), sql, "--method", method, "--format", format]
        said = CliRunner().invoke(app, run, catch_exceptions=False)
        assert said.exit_code == 0, said.output
        assert format == "text" or json.loads(said.stdout) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", ["unbiased", "likelihood"])
@pytest.mark.parametrize("asked", ["SUM(cost)", "AVG(cost)", "COUNT(ill)"])
def test_sums_and_averages_without_lines(releases: Path, asked: str, method: str) -> None:
    for mechanism in BY_LIKELIHOOD:
        sql = f"SELECT town, ill, {asked} AS n FROM release WHERE town = 'Rome' AND ill = 'flu' GROUP BY town, ill"
        assert len(scumble.open(releases / mechanism).query(sql, method=method)) == 0
