"""Every interval lies among what is possible, holds the truth where the interval did, and is never a single point."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.query.estimates import Estimate, Estimates
from scumble.query.possible import beyond, cut_to

GROUPS = "SELECT age // 4 AS a, {} AS x FROM release {} GROUP BY a ORDER BY a"
"""Groups of about 120 people, of which some have few of what is asked for."""

LIMITS: dict[str, tuple[float, float]] = {
    "COUNT_IF(disease = 'hiv' AND smoker)": (0, 200),
    "AVG(visits)": (0, 10),
    "AVG(visits * 2 + 1)": (1, 21),
    "SUM(visits)": (0, 2000),
    "AVG(cost)": (0, 4000),
    "SUM(cost)": (0, 400_000),
    "SUM(-cost)": (-400_000, 0),
    "AVG(CASE WHEN smoker THEN 1.0 ELSE 0 END)": (0, 1),
    "COUNT_IF(smoker) * 1.0 / COUNT(*)": (0, 1),
    "100.0 * COUNT_IF(disease = 'hiv' AND smoker) / COUNT_IF(smoker)": (0, 100),
    "ROUND(100.0 * COUNT_IF(disease = 'hiv' AND smoker) / COUNT(*), 1)": (0, 100),
    "1 - COUNT_IF(disease = 'hiv') / COUNT(*)": (0, 1),
    "COUNT_IF(disease = 'flu') / COUNT(*) - COUNT_IF(disease = 'hiv') / COUNT(*)": (-1, 1),
    "SUM(visits) / COUNT(*)": (0, 10),
    "AVG(cost) FILTER (WHERE smoker) - AVG(cost) FILTER (WHERE NOT smoker)": (-4000, 4000),
    "VAR_POP(visits)": (0, 100),
    "STDDEV(cost)": (0, np.inf),
    "CORR(visits, cost)": (-1, 1),
    "REGR_R2(cost, visits)": (0, 1),
    "REGR_AVGX(cost, visits)": (0, 10),
    "MEDIAN(visits)": (0, 10),
    "QUANTILE_CONT(visits, 0.9)": (0, 10),
}


def told(table: pa.Table, sql: str) -> list[dict[str, Any]]:
    """What the table itself says."""
    connection = duckdb.connect()
    connection.register("release", table)
    return connection.sql(sql).to_arrow_table().to_pylist()


@pytest.mark.parametrize("where", ["", "WHERE disease IN ('hiv', 'diabetes')"], ids=["all", "few"])
@pytest.mark.parametrize("asked", LIMITS)
def test_no_interval_reaches_beyond_what_is_possible(asked: str, where: str, release: scumble.Release) -> None:
    e = release.query(GROUPS.format(asked, where))["x"]
    least, most = LIMITS[asked]
    some = np.isfinite(e.low)
    assert some.sum() >= 20, "an average of nobody has no interval; nothing else is without one"
    assert np.all((e.low[some] >= least - 1e-9) & (e.high[some] <= most + 1e-9))
    assert e.exact or asked.startswith(("MEDIAN", "QUANTILE")) or np.all(e.low[some] < e.high[some])


@pytest.mark.parametrize("asked", LIMITS)
def test_an_interval_that_is_all_that_is_possible_holds_the_truth(
    asked: str, release: scumble.Release, patients: pa.Table
) -> None:
    """At a level of 1 - 1e-12 nothing but what is possible limits most intervals, so that a limit which is none would show."""
    sql = GROUPS.format(asked, "WHERE disease IN ('hiv', 'diabetes')")
    true = {line["a"]: float(line["x"]) for line in told(patients, sql) if line["x"] is not None}
    for line in release.query(sql, level=1 - 1e-12):
        if np.isfinite(true.get(line["a"], np.nan)) and line["x_low"] is not None:
            assert line["x_low"] - 1e-6 <= true[line["a"]] <= line["x_high"] + 1e-6


def test_an_average_of_public_numbers_lies_among_those_of_its_group(
    release: scumble.Release, patients: pa.Table
) -> None:
    sql = "SELECT age // 4 AS a, MIN(cost) AS low, MAX(cost) AS high FROM release GROUP BY a ORDER BY a"
    ends = told(patients, sql)
    answer = release.query(GROUPS.format("AVG(cost)", "WHERE disease = 'hiv' AND smoker"))
    assert any(line["x_low"] == pytest.approx(end["low"]) for line, end in zip(answer, ends, strict=True))
    for line, end in zip(answer, ends, strict=True):
        assert end["low"] - 1e-6 <= line["x_low"] < line["x_high"] <= end["high"] + 1e-6


def test_rows_that_count_whatever_is_perturbed_are_the_least() -> None:
    """Of OR with a public condition some rows are sure."""
    table = pa.table({"sex": ["F"] * 40 + ["M"] * 60, "disease": ["flu"] * 100})
    release = publish_openly(
        table, sensitive="disease", domains={"disease": ["flu", "cold", "hiv"]}, retain=0.1, seed=2
    )
    for asked in (
        "COUNT(*) AS n FROM release WHERE sex = 'F' OR disease = 'hiv'",
        "COUNT_IF(sex = 'F' OR disease = 'hiv') AS n FROM release",
    ):
        (line,) = release.query(f"SELECT {asked}", level=1 - 1e-9)
        assert 40 <= line["n_low"] <= line["n_high"] <= 100 or "WHERE" in asked
        assert line["n_high"] <= 100


def test_an_impossible_estimate_stays_and_has_its_bound_beside_it(release: scumble.Release) -> None:
    sql = "SELECT age // 4 AS a, disease, COUNT(*) AS n FROM release WHERE smoker GROUP BY a, disease"
    free, cut = release.query(sql), release.query(sql, cut=True)
    below = free["n"].value < 0
    assert below.any()
    assert np.all(free["n"].low[below] == 0)
    assert np.all(cut["n"].value[below] == 0)
    assert np.array_equal(cut["n"].value[~below], np.minimum(free["n"].value, free["n"].high)[~below])
    assert np.array_equal(cut["n"].low, free["n"].low)
    assert "(at least 0" in str(free)
    assert "(at least 0" not in str(cut)
    assert any("the nearest bound stands beside it" in note for note in free.notes)


def test_what_lies_beyond_a_bound_has_an_interval_of_a_standard_error_at_least() -> None:
    value, low, high = np.array([-30.0, 130.0, -15.0]), np.array([-50.0, 110.0, -35.0]), np.array([-10.0, 150.0, 5.0])
    far = Estimate("n", value, np.full(3, 10.0), low, high, "unbiased")
    answer = Estimates(["n"], pa.table({}), [far], 0.95, [])
    (e,) = cut_to(answer, {"n": (np.zeros(3), np.full(3, 100.0))}).estimates
    assert e.value.tolist() == value.tolist()
    assert (e.low.tolist(), e.high.tolist()) == ([0, 90, 0], [10, 100, 10])


def test_what_the_arithmetic_leaves_is_not_beyond_a_bound() -> None:
    """An average of one public number is that number, though its two sums are rounded."""
    table = pa.table({"town": ["a", "b", "c"] * 20, "age": [20] * 60, "disease": ["flu", "cold"] * 30})
    release = publish_openly(
        table, sensitive="disease", domains={"disease": ["flu", "cold", "hiv"]}, retain=0.5, seed=1
    )
    answer = release.query("SELECT town, disease, AVG(age) AS a FROM release GROUP BY town, disease")
    free = release.query("SELECT town, disease, SUM(age) AS s, COUNT(*) AS n FROM release GROUP BY town, disease")
    assert np.any(free["s"].value / free["n"].value != 20), "the sums themselves are rounded"
    assert answer["a"].value.tolist() == [20.0] * 9
    assert "(at" not in str(answer)
    assert not any("out of what is possible" in note for note in answer.notes)


def test_an_estimate_that_is_printed_as_its_bound_is_not_beyond_it() -> None:
    value, ends = np.array([-0.3, -12.0, 5.0, 112.0]), (np.zeros(4), np.full(4, 100.0))
    e = Estimate("n", value, np.full(4, 20.0), *ends, "unbiased")
    lines = Estimates(["n"], pa.table({}), [e], 0.95, [])
    assert [row[0] for row in lines.grid().rows] == ["0", "-12 (at least 0)", "5", "112 (at most 100)"]
    assert beyond(lines)[0].startswith("in 2 of 4 rows")


FORMS: dict[str, dict[str, Any]] = {
    "frapp": {"mechanism": "frapp", "gamma": 3, "sensitive": ["disease", "smoker"]},
    "anatomy": {"mechanism": "anatomy", "settings": {"l": 2}},
    "perturbed_generalization": {"mechanism": "perturbed_generalization", "retain": 0.3, "settings": {"k": 4}},
    "partitioned": {"mechanism": "partitioned", "rho1": 0.45, "rho2": 0.6},
    "sps": {"mechanism": "sps", "retain": 0.3, "settings": {"lambda": 0.3, "delta": 0.1}},
    "swapped": {"mechanism": "swapped", "retain": 0.2},
    "noisy_counts": {"mechanism": "noisy_counts", "sensitive": None, "epsilon": 1, "settings": {"k": 3, "delta": 1e-3}},
}


@pytest.mark.parametrize("form", FORMS)
def test_counts_of_every_form_lie_between_nobody_and_all(form: str, patients: pa.Table) -> None:
    how = {"sensitive": ["disease"], "seed": 3, **FORMS[form]}
    domains = {"disease": DISEASES, "smoker": [False, True]}
    how["domains"] = {name: domains[name] for name in how["sensitive"] or ()} or None
    table = patients.select(["sex", "disease", "smoker"])
    release = publish_openly(table, **{key: value for key, value in how.items() if value is not None})
    for condition in ("disease = 'hiv' AND smoker", "disease = 'hiv' AND NOT smoker", "disease <> 'hiv'"):
        e = release.query(f"SELECT sex, COUNT(*) AS n FROM release WHERE {condition} GROUP BY sex", level=0.9999)["n"]
        assert np.all((e.low >= 0) & (e.high <= 3000) & (e.low < e.high))
