"""Totals and statistics: at retention 1 as the table itself says, and over many publications their intervals hold the truth as often as they say."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.errors import QueryError

DOMAINS = {"disease": DISEASES, "smoker": [False, True], "visits": {"low": 0, "high": 10}}

EQUAL = {
    "a square": "SUM(visits * visits) AS a",
    "a product of two perturbed columns": "SUM(visits * smoker::INT) AS a",
    "a product with a public number": "SUM(visits * cost) AS a, AVG(cost * smoker::INT) AS b",
    "a quotient by a public number": "SUM(visits / (age + 1)) AS a",
    "truth values": "SUM(smoker) AS a, AVG(smoker::INT) AS b",
    "a choice by perturbed and public columns": "SUM(CASE WHEN smoker AND age > 30 THEN visits * 2 + cost ELSE -cost END) AS a",
    "a choice without an else": "AVG(CASE WHEN disease = 'flu' THEN visits END) AS a, COUNT(CASE WHEN disease = 'flu' THEN sex END) AS b",
    "patterns": "COUNT(CASE WHEN disease LIKE '%a%' THEN 1 END) AS a",
    "filters": "COUNT(*) FILTER (WHERE disease = 'hiv') AS a, AVG(cost) FILTER (WHERE NOT smoker) AS b, SUM(visits) FILTER (WHERE age > 50) AS c",
    "counted conditions": "COUNT_IF(visits > 5) AS a, COUNT_IF(visits > 5 OR age < 20) AS b",
    "a share": "COUNT(*) FILTER (WHERE disease = 'flu') * 1.0 / COUNT(*) AS a, ROUND(100.0 * COUNT_IF(smoker) / COUNT(*), 2) AS b",
    "a difference": "AVG(cost) FILTER (WHERE smoker) - AVG(cost) FILTER (WHERE NOT smoker) AS a",
    "deviations": "STDDEV(visits) AS a, VAR_POP(visits) AS b, STDDEV_POP(cost) AS c, VARIANCE(visits + cost) AS d",
    "pairs": "CORR(visits, cost) AS a, COVAR_POP(visits, age) AS b, COVAR_SAMP(cost, visits) AS c, REGR_R2(cost, visits) AS d",
    "regression": "REGR_SLOPE(cost, visits) AS a, REGR_INTERCEPT(visits, age) AS b, REGR_COUNT(cost, visits) AS c, REGR_AVGX(cost, visits) AS d",
    "quantiles": "MEDIAN(visits) AS a, QUANTILE_CONT(visits, 0.33) AS b, QUANTILE_DISC(visits, 0.8) AS c, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY visits) AS d",
    "public extremes beside estimates": "MIN(age) AS a, MAX(cost) AS b, COUNT(DISTINCT age) AS c, MEDIAN(cost) AS d, COUNT_IF(smoker) AS e",
    "functions of aggregates": "LN(COUNT(*)) AS a, SQRT(SUM(visits)) AS b, -SUM(cost) / NULLIF(COUNT(*), 0) AS c, POWER(AVG(visits), 2) AS d",
}


def told(table: pa.Table, sql: str) -> list[tuple[Any, ...]]:
    """What the table itself says."""
    connection = duckdb.connect()
    connection.register("release", table)
    return connection.sql(sql).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("asked", EQUAL.values(), ids=EQUAL)
@pytest.mark.parametrize("where", ["", "WHERE disease <> 'cold' AND age > 10"], ids=["all", "some"])
def test_at_retention_1_the_answer_is_that_of_the_table(
    asked: str, where: str, kept: scumble.Release, patients: pa.Table
) -> None:
    if where and "MIN(" in asked:
        where = "WHERE age > 10"
    sql = f"SELECT sex, {asked} FROM release {where} GROUP BY sex ORDER BY sex"
    answer = kept.query(sql)
    for row, line in zip(answer, told(patients, sql), strict=True):
        assert [row[name] for name in answer.columns[1:]] == pytest.approx(line[1:], rel=1e-5, abs=1e-4)


GROUPED = [
    "SELECT CASE WHEN visits < 3 THEN 'few' ELSE 'many' END AS band, COUNT(*) AS n, AVG(cost) AS a FROM release GROUP BY band ORDER BY band",
    "SELECT visits // 3 AS v, UPPER(disease) AS d, COUNT(*) AS n FROM release WHERE visits % 2 = 0 GROUP BY v, d ORDER BY v, d",
    "SELECT disease, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM release GROUP BY disease ORDER BY disease",
    "SELECT sex, smoker, 1.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY sex) AS p FROM release GROUP BY sex, smoker ORDER BY sex, smoker",
    "SELECT sex, disease, SUM(cost) / SUM(SUM(cost)) OVER (PARTITION BY disease) AS p FROM release GROUP BY sex, disease ORDER BY sex, disease",
    "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease HAVING COUNT(*) > 500 AND AVG(visits) < 9 ORDER BY n DESC",
    "SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY sex, disease QUALIFY ROW_NUMBER() OVER (PARTITION BY sex ORDER BY n DESC) <= 2 ORDER BY sex, n",
    "SELECT disease FROM release GROUP BY disease ORDER BY COUNT(*) DESC LIMIT 2",
    "SELECT disease, AVG(visits) AS v FROM release GROUP BY disease HAVING disease IN ('flu', 'cold') OR SUM(visits) BETWEEN 700 AND 800 ORDER BY disease",
]


@pytest.mark.slow
@pytest.mark.parametrize("sql", GROUPED)
def test_at_retention_1_lines_are_those_of_the_table(sql: str, kept: scumble.Release, patients: pa.Table) -> None:
    answer, truth = kept.query(sql), told(patients, sql)
    assert [tuple(row[name] for name in answer.columns) for row in answer] == [
        tuple(v if isinstance(v, str | bool) else pytest.approx(v, rel=1e-5) for v in line) for line in truth
    ]


@pytest.mark.slow
def test_a_value_that_is_missing_is_not_counted() -> None:
    table = pa.table({"x": [1, 2, None, 4] * 50, "y": [None, "a", "b", "a"] * 50, "z": [1.5, None, 2.0, 4.0] * 50})
    with pytest.warns(UserWarning, match="nothing of"):
        release = publish_openly(
            table, sensitive=["x", "y"], domains={"x": [1, 2, 4, None], "y": ["a", "b", None]}, retain=1, seed=1
        )
    sql = (
        "SELECT SUM(x * z + 3) AS a, COUNT(x * z) AS b, AVG(CASE WHEN y = 'a' THEN x ELSE z END) AS c, STDDEV(x) AS d, "
        "COUNT_IF(y = 'a' AND z > 1) AS e, CORR(x, z) AS f, SUM(coalesce(x, 0) * 2) AS g FROM release"
    )
    (row,) = release.query(sql)
    assert [row[name] for name in "abcdefg"] == pytest.approx(told(table, sql)[0], rel=1e-6)


def test_what_no_perturbed_column_decides_is_exact(release: scumble.Release) -> None:
    answer = release.query(
        "SELECT sex, COUNT(*) AS n, STDDEV(age) AS s, COUNT_IF(smoker) AS k FROM release GROUP BY sex"
    )
    assert [e.exact for e in answer.estimates] == [True, True, False]


def test_the_same_count_has_the_same_answer_however_it_is_asked(release: scumble.Release) -> None:
    plain = release.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'hiv' AND smoker")["n"]
    for asked in ("COUNT(*) FILTER (WHERE disease = 'hiv' AND smoker)", "COUNT_IF(disease = 'hiv' AND smoker)"):
        same = release.query(f"SELECT {asked} AS n FROM release")["n"]
        for part in ("value", "se", "low", "high"):
            assert getattr(same, part) == pytest.approx(getattr(plain, part), rel=1e-9)


def test_a_method_that_cannot_says_so(release: scumble.Release) -> None:
    with pytest.raises(QueryError, match="ask with method unbiased"):
        release.query("SELECT STDDEV(visits) FROM release", method="likelihood")


COVERED = {
    "share": "COUNT(*) FILTER (WHERE disease = 'flu') * 1.0 / COUNT(*)",
    "share of a share": "1.0 * COUNT_IF(disease = 'flu' AND smoker) / COUNT_IF(smoker)",
    "difference": "AVG(cost) FILTER (WHERE smoker) - AVG(cost) FILTER (WHERE NOT smoker)",
    "product": "SUM(visits * cost)",
    "choice": "SUM(CASE WHEN smoker THEN visits * 2 ELSE cost END)",
    "deviation": "STDDEV(visits)",
    "correlation": "CORR(visits, cost)",
    "slope": "REGR_SLOPE(cost, visits)",
    "median": "MEDIAN(visits)",
}
RUNS, ROWS = 1000, 600
"""The same rows so many times in one table, told apart by a public number: each is published with coins of its own."""
MISSED = 93
"""At 95% more than 93 misses of 1,000 happen once in 10^8 tables (Bin(1000, 0.05)); at 90% four times in five."""


@pytest.fixture(scope="module")
def repeated(patients: pa.Table) -> scumble.Estimates:
    table = pa.concat_tables([patients.slice(0, ROWS)] * RUNS).append_column(
        "run", pa.array(np.arange(RUNS).repeat(ROWS))
    )
    retain = {"disease": 0.5, "smoker": 0.6, "visits": 0.7}
    release = publish_openly(table, sensitive=list(DOMAINS), drop="name", domains=DOMAINS, retain=retain, seed=3)
    asked = ", ".join(f'{e} AS "{name}"' for name, e in COVERED.items())
    return release.query(f"SELECT run, {asked} FROM release GROUP BY run")


@pytest.mark.slow
@pytest.mark.parametrize("name", COVERED)
def test_intervals_hold_the_truth_as_often_as_they_say(
    name: str, repeated: scumble.Estimates, patients: pa.Table
) -> None:
    ((truth,),) = told(patients.slice(0, ROWS), f"SELECT {COVERED[name]} FROM release")
    e = repeated[name]
    missed = int(np.sum((e.low > truth) | (truth > e.high)))
    assert missed <= MISSED
    if name != "median":  # and they are not wide for nothing: half as wide ones miss far more often
        assert np.sum(np.abs((e.low + e.high) / 2 - truth) > (e.high - e.low) / 4) > 2 * MISSED


def test_a_total_over_codes_is_the_count_of_its_condition(patients: pa.Table) -> None:
    """Where codes are published there are more of them than values, and a total is weighed over the values all the same."""
    how: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}, "drop": "name", "seed": 1}
    release = publish_openly(patients, mechanism="design", gamma=1.5, **how)
    assert release.manifest.columns[release.table().column_names.index("disease")].type != "string"
    asked = "SELECT sex, COUNT_IF(disease = 'flu') AS n, AVG(CASE WHEN disease = 'flu' THEN 1 ELSE 0 END) AS s FROM release GROUP BY sex"
    counted = "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex"
    totals, counts = (sorted(release.query(sql), key=lambda line: str(line["sex"])) for sql in (asked, counted))
    for total, count in zip(totals, counts, strict=True):
        assert (total["n"], total["n_se"]) == pytest.approx((count["n"], count["n_se"]))
        assert total["s_low"] < total["s"] < total["s_high"]
