"""Numbers that were rounded to a grid: every interval that this touches holds the table's own answer."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import forged
from naming import publish_openly
from sqlglot import parse_one

import scumble
from scumble.core.domain import Grid
from scumble.core.errors import ReleaseError, SchemaError
from scumble.engines import open_engine
from scumble.engines.engine import TABLE
from scumble.query.middle import slope as slope_of
from scumble.query.parse import parse
from scumble.query.plain import plain
from scumble.query.rounding import around
from scumble.query.settled import variants
from scumble.release.gate import demand_recoding

ROWS = 4000
GRID = {"low": 0, "high": 100_000, "step": 2000}
CONDITIONS = [
    "salary > 20500",
    "20500 < salary",
    "salary >= 20000 AND salary < 31000",
    "salary BETWEEN 19100 AND 40900",
    "NOT salary < 30000",
    "salary / 12 > 2500",
    "100000 - salary <= 70500",
    "salary = 20000",
    "salary <> 20000",
    "salary IN (2000, 20000)",
    "sex = 'f' OR salary > 35500",
    "NOT (salary > 20500 AND NOT salary > 44444)",
]


def salaries() -> pa.Table:
    rng = np.random.default_rng(11)
    salary = np.round(rng.gamma(4, 9000, ROWS)).clip(0, 99_000)
    return pa.table({"sex": rng.choice(["m", "f"], ROWS), "salary": salary})


def truth(table: pa.Table, sql: str) -> list[dict[str, Any]]:
    return open_engine({TABLE: table}).run(plain(parse(sql, table.column_names))).to_pylist()


@pytest.fixture(scope="module")
def release() -> scumble.Release:
    """Hardly perturbed, so that the rounding is far larger than the noise: half of these counts would be missed without it."""
    return publish_openly(salaries(), sensitive="salary", domains={"salary": GRID}, retain=0.999, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_interval_holds_the_count_of_the_table_wherever_bounds_fall(
    release: scumble.Release, condition: str
) -> None:
    """One draw with a retention of 0.999, level 1 - 1e-9; the counts are off by hundreds where the rounding is not counted."""
    sql = f"SELECT COUNT(*) AS n FROM release WHERE {condition}"
    answer, true = release.query(sql, level=1 - 1e-9), truth(salaries(), sql)[0]["c0"]
    assert answer["n"].low[0] <= true <= answer["n"].high[0]
    assert any("salary was rounded, by up to 1000 either way" in note for note in answer.notes)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_that_surely_hold_and_that_may_enclose_the_true_rows(condition: str) -> None:
    """Row by row: of the rounded table the sure rows are among the true ones, and these among those that may be."""
    table = salaries()
    points = np.rint(table.column("salary").to_numpy() / 2000) * 2000
    rounded = table.set_column(1, "salary", pa.array(points))
    query = parse(f"SELECT COUNT(*) FROM release WHERE {condition}", table.column_names)
    sure, may = (_rows(rounded, one.where) for one in variants(query, {"salary": around(1000.0)}))
    true = _rows(table, query.where)
    assert sure <= true <= may
    assert sure < may, "a reach of nothing would leave them alike"


def _rows(table: pa.Table, where: Any) -> set[int]:
    numbered = table.append_column("row", pa.array(range(len(table))))
    chosen = open_engine({TABLE: numbered}).run(parse_one('SELECT "row" FROM release').where(where))
    return set(chosen.column("row").to_pylist())


@pytest.mark.slow
def test_sums_and_averages_reach_as_far_as_values_may_lie_from_their_points() -> None:
    """All values lie 900 above their points, where the estimate alone is off by 900 a row."""
    points = np.tile(np.arange(10, 40) * 2000.0, 100)
    table = pa.table({"sex": ["m", "f"] * 1500, "salary": points + 900})
    release = publish_openly(table, sensitive="salary", domains={"salary": GRID}, retain=0.9999, seed=3)
    sql = "SELECT sex, SUM(salary) AS s, AVG(salary) AS a, COUNT(*) AS n FROM release WHERE salary > 40500 GROUP BY sex"
    answer = release.query(sql, level=1 - 1e-9)
    true = {line["c0"]: line for line in truth(table, sql)}
    assert answer.columns == ["sex", "s", "a", "n"]
    for place, sex in enumerate(answer.groups.column("sex").to_pylist()):
        for name, column in (("s", "c1"), ("a", "c2"), ("n", "c3")):
            estimate = answer[name]
            assert estimate.low[place] <= true[sex][column] <= estimate.high[place]
        assert abs(answer["a"].value[place] - true[sex]["c2"]) > 500, "the points alone miss it"


@pytest.mark.slow
def test_groups_that_a_bound_makes_and_shares_and_medians_reach_too(release: scumble.Release) -> None:
    table = salaries()
    rich = "SELECT salary > 20500 AS rich, COUNT(*) AS n FROM release GROUP BY salary > 20500"
    true = {line["c0"]: line["c1"] for line in truth(table, rich)}
    for line in release.query(rich, level=1 - 1e-9):
        assert line["n_low"] <= true[line["rich"]] <= line["n_high"]
    share = "SELECT 100.0 * SUM(CASE WHEN salary > 20500 THEN 1 ELSE 0 END) / COUNT(*) AS p FROM release"
    counted = table.column("salary").to_numpy()
    (line,) = release.query(share, level=1 - 1e-9)
    assert line["p_low"] <= 100 * (counted > 20500).mean() <= line["p_high"]
    (middle,) = release.query("SELECT MEDIAN(salary) AS m FROM release", level=1 - 1e-9)
    assert middle["m_low"] <= np.median(counted) <= middle["m_high"]
    notes = release.query("SELECT CORR(salary, salary * 2) AS v FROM release").notes
    assert any("DOES NOT COUNT IT" in note for note in notes)


def test_deviations_reach_as_far_as_values_may_lie_from_their_points(release: scumble.Release) -> None:
    """Values 990 above and below their points in turn, whose deviation is that of the points and about 28 more."""
    points = np.tile(np.arange(10, 40) * 2000.0, 100)
    table = pa.table({"sex": ["m", "f"] * 1500, "salary": points + np.where(points > 48_000, 990, -990)})
    close = publish_openly(table, sensitive="salary", domains={"salary": GRID}, retain=0.9999, seed=3)
    true = table.column("salary").to_numpy()
    for asked, value in (("STDDEV_POP", true.std()), ("VAR_SAMP", true.var(ddof=1))):
        (line,) = close.query(f"SELECT {asked}(salary) AS v FROM release", level=0.999)
        assert line["v_low"] <= value <= line["v_high"]
        assert line["v"] < value - 3 * line["v_se"], "the points alone miss it"


@pytest.mark.parametrize(
    ("sql", "slope"), [("x", 1), ("2 * x", 2), ("x / 4", 0.25), ("3 - x", 1), ("-(x * 5)", 5), ("(x + 1) * -2", 2)]
)
def test_the_slope_of_a_line(sql: str, slope: float) -> None:
    assert abs(slope_of(parse_one(sql))) == slope


@pytest.mark.slow
def test_plan_prints_the_truth_of_the_table_and_not_of_rounded_numbers() -> None:
    table = salaries()
    sql = "SELECT sex, COUNT(*) AS n, AVG(salary) AS a FROM release WHERE salary > 20500 GROUP BY sex"
    plan = scumble.plan(table, sql, sensitive="salary", public="sex", domains={"salary": GRID}, gamma=50)
    ((_, answer),) = plan.answers
    true = {line["c0"]: line for line in truth(table, sql)}
    for line in answer.to_list():
        assert (line["n"], line["a"]) == (true[line["sex"]]["c1"], pytest.approx(true[line["sex"]]["c2"]))
    assert any("rounded" in note for note in answer.notes)


def test_it_is_told_and_follows_from_type_and_step_alone(release: scumble.Release) -> None:
    column = release.manifest.column("salary")
    assert column is not None
    assert column.rounded == "1000"
    assert "rounded to its grid before, by up to 1000 either way" in str(release)
    assert "up to 1000 either way" in (release.path / "README.md").read_text()
    points = {"salary": [0.0, 2000.0, 4000.0] * 20}
    on_points = publish_openly(pa.table(points), sensitive="salary", domains={"salary": GRID}, retain=0.5, seed=3)
    again = on_points.manifest.column("salary")
    assert again is not None
    assert again.rounded == "1000", "else it would tell that no value lies between two points"


def test_the_reach_by_type() -> None:
    whole = [Grid("0", "100", step, pa.int64()).reach for step in ("1", "2", "5")]
    money = Grid("0", "100", "0.01", pa.decimal128(9, 2)).reach
    assert ([float(r) for r in whole], float(money)) == ([0, 1, 2], 0)
    assert float(Grid("0", "1", "0.5", pa.float64()).reach) == 0.25


def test_on_grid_refuses_what_lies_between_and_rounds_nothing() -> None:
    exact = {"salary": {**GRID, "on_grid": True}}
    with pytest.raises(SchemaError, match="between the points of its grid"):
        publish_openly(salaries(), sensitive="salary", domains=exact, retain=0.5)
    table = pa.table({"salary": [0.0, 2000.0, 4000.0] * 20})
    release = publish_openly(table, sensitive="salary", domains=exact, retain=0.5, seed=3)
    column = release.manifest.column("salary")
    assert column is not None
    assert column.rounded is None
    assert release.query("SELECT COUNT(*) AS n FROM release WHERE salary > 1500").notes == []


def test_a_manifest_that_claims_less_is_refused(release: scumble.Release) -> None:
    columns = [c.model_copy(update={"rounded": "1"}) if c.rounded else c for c in release.manifest.columns]
    with pytest.raises(ReleaseError, match="which its grid does not do"):
        demand_recoding(forged(release, columns=columns).manifest)
