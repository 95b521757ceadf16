"""Public columns that tell a sensitive one are found before anything is published."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.domain import Categories
from scumble.core.errors import SchemaError
from scumble.publishing.dependence import SAMPLE, dependence_of
from scumble.sources.source import read
from scumble.spec.spec import ColumnSpec, Spec

DOMAIN = ["a", "b", "c", "d"]
ROWS = 2000


def table(**more: Any) -> pa.Table:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 4, ROWS)
    free = {"sex": rng.choice(["m", "f"], ROWS), "age": rng.integers(0, 90, ROWS), "row": np.arange(ROWS)}
    made = {name: make(values, rng) for name, make in more.items()}
    return pa.table({**free, **made, "d": np.array(DOMAIN)[values]})


def told(given: pa.Table, mechanism: str = "uniform") -> list[Any]:
    roles = {name: "sensitive" if name == "d" else "public" for name in given.column_names}
    columns = {name: ColumnSpec.model_validate({"role": role}) for name, role in roles.items()}
    return dependence_of(
        read(given), Spec(columns=columns, mechanism=mechanism), {"d": Categories(DOMAIN, pa.string())}
    )


CODED = {"code": lambda v, rng: np.array(["x1", "y7", "q2", "z"])[v]}
SPLIT = {"left": lambda v, rng: (v + np.arange(ROWS)) % 4, "right": lambda v, rng: np.arange(ROWS) % 4}
NEARLY = {"code": lambda v, rng: np.where(rng.random(ROWS) < 0.97, v, rng.integers(0, 4, ROWS))}
NUMBER = {"cost": lambda v, rng: v * 1000 + rng.random(ROWS) * 900}


def test_independent_columns_tell_nothing_not_even_one_with_a_value_for_each_row() -> None:
    (one,) = told(table())
    assert not one.determined
    assert one.right < one.without + 0.05 < 0.35


@pytest.mark.parametrize(("made", "by"), [(CODED, {"code"}), (SPLIT, {"left", "right"}), (NUMBER, {"cost"})])
def test_a_copy_a_function_of_two_and_a_number_that_tells_it_are_found(made: dict[str, Any], by: set[str]) -> None:
    (one,) = told(table(**made))
    assert one.determined or one.right > 0.97
    assert set(one.by) == by


def test_nearly_is_told_with_its_share_and_not_refused() -> None:
    (one,) = told(table(**NEARLY))
    assert one.by == ("code",)
    assert not one.determined
    assert 0.95 < one.right < 0.995
    scumble.publish(
        table(**NEARLY), sensitive="d", public=["sex", "age", "row", "code"], domains={"d": DOMAIN}, gamma=3
    )


def test_a_function_is_refused_unless_it_is_accepted() -> None:
    how: dict[str, Any] = {
        "sensitive": "d",
        "domains": {"d": DOMAIN},
        "gamma": 3,
        "public": ["sex", "code"],
        "rest": "drop",
    }
    with pytest.raises(SchemaError, match=r"'d' is determined by the public column 'code'.*found in the data"):
        scumble.publish(table(**CODED), **how)
    accepted = scumble.publish(table(**CODED), **how, determined="d")
    assert "determined" not in accepted.manifest.text(), "what was found is not published"
    with pytest.raises(SchemaError, match="which is not sensitive"):
        scumble.publish(table(**CODED), **how, determined="sex")
    plan = repr(scumble.plan(table(**CODED), **how))
    assert "code DETERMINES it" in plan
    assert "publishing will be refused: public columns determine d" in plan


@pytest.mark.slow
def test_nothing_is_looked_at_where_all_columns_are_protected_alike() -> None:
    """No output of a mechanism that promises differential privacy may depend on it, not even a refusal."""
    assert told(table(**CODED), "noisy_counts") == []
    release = scumble.publish(
        table(**CODED), sensitive="d", public="code", rest="drop", mechanism="noisy_counts", epsilon=1,
        settings={"k": 5, "delta": 1e-5}, domains={"d": DOMAIN},
    )  # fmt: skip
    assert release.manifest.rows > 0


def test_few_rows_and_chance_are_not_called_a_function() -> None:
    """Of 12 rows with two values, some column tells them apart by chance."""
    rng = np.random.default_rng(5)
    given = pa.table({**{f"p{i}": rng.integers(0, 2, 12) for i in range(40)}, "d": ["a", "b"] * 6})
    assert not told(given)[0].determined


def test_the_screen_of_publish_says_it(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table(**NEARLY), tmp_path / "t.parquet")
    words = ["publish", str(tmp_path / "t.parquet"), "--sensitive", "d", "--public", "sex,code", "--rest", "drop"]
    words += ["--domain", "d=a,b,c,d", "--gamma", "3", "-o", str(tmp_path / "r")]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "d: code tells it, right for 9" in " ".join(shown.output.split())


def test_a_large_table_is_sampled() -> None:
    rows = SAMPLE + 5000
    given = pa.table({"p": np.arange(rows) % 7, "d": np.array(DOMAIN)[np.arange(rows) % 4]})
    assert told(given)[0].rows == SAMPLE // 2
