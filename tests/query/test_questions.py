"""The kinds of question that an analyst asks: each is answered as the table would be at retention 1, and on releases of every form it has an answer or a refusal that says why."""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.errors import ScumbleError

CODES = pa.table({"disease": DISEASES, "organ": ["lungs", "lungs", "lungs", "blood", "blood"], "rank": [1, 2, 3, 4, 5]})
VALUES = "(VALUES ('flu', 'lungs'), ('cold', 'lungs'), ('hiv', 'blood')) AS codes(disease, organ)"

QUESTIONS = {
    "how many": "SELECT COUNT(*) AS n FROM release",
    "how many of a kind": "SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'",
    "how many of each": "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease ORDER BY disease",
    "by two columns": "SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY sex, disease ORDER BY 1, 2",
    "either or": "SELECT COUNT(*) AS n FROM release WHERE disease = 'hiv' OR smoker",
    "not": "SELECT COUNT(*) AS n FROM release WHERE NOT (disease = 'flu' AND sex = 'F')",
    "in a list": "SELECT COUNT(*) AS n FROM release WHERE disease IN ('flu', 'cold')",
    "like": "SELECT COUNT(*) AS n FROM release WHERE disease LIKE '%a%'",
    "in a range": "SELECT COUNT(*) AS n FROM release WHERE visits BETWEEN 2 AND 5",
    "a sum": "SELECT SUM(visits) AS s FROM release",
    "an average": "SELECT AVG(visits) AS a FROM release WHERE sex = 'F'",
    "a public average among some": "SELECT AVG(cost) AS a FROM release WHERE disease = 'flu'",
    "averages of each": "SELECT disease, AVG(cost) AS a FROM release GROUP BY disease ORDER BY disease",
    "a share": "SELECT AVG(CASE WHEN disease = 'flu' THEN 1.0 ELSE 0 END) AS share FROM release",
    "a share by a filter": "SELECT COUNT(*) FILTER (WHERE smoker) * 1.0 / COUNT(*) AS share FROM release",
    "shares of each": "SELECT sex, COUNT(*) FILTER (WHERE smoker) * 1.0 / COUNT(*) AS share FROM release GROUP BY sex ORDER BY sex",
    "percent of all": "SELECT disease, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM release GROUP BY disease ORDER BY disease",
    "percent within": "SELECT sex, disease, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY sex) AS pct FROM release GROUP BY sex, disease ORDER BY 1, 2",
    "a rounded percent": "SELECT ROUND(100.0 * COUNT_IF(smoker) / COUNT(*), 1) AS pct FROM release",
    "a difference of averages": "SELECT AVG(cost) FILTER (WHERE smoker) - AVG(cost) FILTER (WHERE NOT smoker) AS d FROM release",
    "a difference of counts": "SELECT COUNT_IF(disease = 'flu') - COUNT_IF(disease = 'cold') AS d FROM release",
    "odds": "SELECT COUNT_IF(smoker) * 1.0 / COUNT_IF(NOT smoker) AS odds FROM release",
    "a relative risk": "SELECT (COUNT_IF(disease = 'flu' AND smoker) * 1.0 / COUNT_IF(smoker)) / (COUNT_IF(disease = 'flu' AND NOT smoker) * 1.0 / COUNT_IF(NOT smoker)) AS rr FROM release",
    "a logarithm of a ratio": "SELECT LN(COUNT_IF(smoker) * 1.0 / COUNT_IF(NOT smoker)) AS l FROM release",
    "conditional counts": "SELECT COUNT(CASE WHEN disease = 'flu' THEN 1 END) AS n FROM release",
    "several filters": "SELECT COUNT(*) FILTER (WHERE visits > 5) AS a, COUNT(*) FILTER (WHERE age > 50) AS b FROM release",
    "a sum of squares": "SELECT SUM(visits * visits) AS s FROM release",
    "a product of columns": "SELECT SUM(visits * cost) AS s FROM release",
    "a product of perturbed columns": "SELECT SUM(visits * smoker::INT) AS s FROM release",
    "arithmetic": "SELECT SUM(2 * visits + 1) AS s, AVG(visits / 2) AS a FROM release",
    "a cast": "SELECT SUM(smoker::INT) AS s FROM release",
    "a standard deviation": "SELECT STDDEV(visits) AS s FROM release",
    "a variance of each": "SELECT sex, VAR_POP(visits) AS v FROM release GROUP BY sex ORDER BY sex",
    "a deviation of a public number among some": "SELECT STDDEV(cost) AS s FROM release WHERE smoker",
    "a correlation": "SELECT CORR(visits, cost) AS r FROM release",
    "a covariance": "SELECT COVAR_SAMP(visits, age) AS c FROM release",
    "a slope": "SELECT REGR_SLOPE(cost, visits) AS b, REGR_INTERCEPT(cost, visits) AS a FROM release",
    "a median": "SELECT MEDIAN(visits) AS m FROM release",
    "medians of each": "SELECT sex, MEDIAN(visits) AS m FROM release GROUP BY sex ORDER BY sex",
    "a percentile": "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY visits) AS p FROM release",
    "quartiles": "SELECT QUANTILE_CONT(visits, 0.25) AS a, QUANTILE_CONT(visits, 0.75) AS b FROM release",
    "public extremes": "SELECT MIN(age) AS a, MAX(age) AS b FROM release",
    "public extremes of each": "SELECT sex, MAX(cost) AS m FROM release GROUP BY sex ORDER BY sex",
    "how many different": "SELECT COUNT(DISTINCT age) AS n FROM release",
    "a public median": "SELECT MEDIAN(cost) AS m FROM release",
    "public statistics": "SELECT sex, AVG(age) AS a, STDDEV(age) AS s, CORR(age, cost) AS r FROM release GROUP BY sex ORDER BY sex",
    "bands of a public number": "SELECT age // 20 AS band, COUNT(*) AS n FROM release GROUP BY band ORDER BY band",
    "bands of a perturbed number": "SELECT CASE WHEN visits < 3 THEN 'few' WHEN visits < 7 THEN 'some' ELSE 'many' END AS band, COUNT(*) AS n FROM release GROUP BY band ORDER BY band",
    "bins of a perturbed number": "SELECT visits // 4 AS bin, COUNT(*) AS n FROM release GROUP BY bin ORDER BY bin",
    "a range as a group": "SELECT visits > 5 AS often, COUNT(*) AS n FROM release GROUP BY often ORDER BY often",
    "a function as a group": "SELECT UPPER(disease) AS d, COUNT(*) AS n FROM release GROUP BY d ORDER BY d",
    "a cube": "SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY CUBE (sex, disease) ORDER BY 1, 2",
    "a cube over ranges": "SELECT visits > 5 AS often, smoker, COUNT(*) AS n FROM release GROUP BY CUBE (often, smoker) ORDER BY 1, 2",
    "a rollup": "SELECT sex, COUNT(*) AS n, AVG(visits) AS v FROM release GROUP BY ROLLUP (sex) ORDER BY 1",
    "grouping sets": "SELECT sex, smoker, COUNT(*) AS n FROM release GROUP BY GROUPING SETS ((sex), (smoker), ()) ORDER BY 1, 2",
    "having": "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease HAVING COUNT(*) > 500 ORDER BY disease",
    "having by a statistic": "SELECT sex, COUNT(*) AS n FROM release GROUP BY sex HAVING STDDEV(visits) > 1 ORDER BY sex",
    "the first three": "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease ORDER BY n DESC LIMIT 3",
    "ordered by a share": "SELECT disease, AVG(smoker::INT) AS share FROM release GROUP BY disease ORDER BY share",
    "ordered by what is not shown": "SELECT disease FROM release GROUP BY disease ORDER BY COUNT(*) DESC LIMIT 2",
    "the first two of each": "SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY sex, disease QUALIFY ROW_NUMBER() OVER (PARTITION BY sex ORDER BY n DESC) <= 2 ORDER BY 1, 2",
    "with": "WITH young AS (SELECT * FROM release WHERE age < 30) SELECT COUNT(*) AS n FROM young WHERE smoker",
    "with a projection": "WITH t(a, b) AS (SELECT sex, visits * 2 FROM release) SELECT a, SUM(b) AS s FROM t GROUP BY a ORDER BY a",
    "a sub-query": "SELECT band, COUNT(*) AS n FROM (SELECT CASE WHEN visits < 4 THEN 'low' ELSE 'high' END AS band, age FROM release) t WHERE t.age > 20 GROUP BY band ORDER BY band",
    "a filtered answer": "SELECT * FROM (SELECT disease, COUNT(*) AS n FROM release GROUP BY disease) WHERE n > 300 ORDER BY n DESC",
    "shares of an answer": "WITH t AS (SELECT disease, COUNT(*) AS n FROM release GROUP BY disease) SELECT disease, 100.0 * n / SUM(n) OVER () AS pct FROM t ORDER BY disease",
    "a code list": "SELECT codes.organ, COUNT(*) AS n FROM release JOIN codes USING (disease) GROUP BY codes.organ ORDER BY 1",
    "a code list on the left": "SELECT organ, AVG(cost) AS a FROM release r LEFT JOIN codes c ON r.disease = c.disease GROUP BY 1 ORDER BY 1",
    "a code list that is written": f"SELECT organ, COUNT(*) AS n FROM release JOIN {VALUES} ON release.disease = codes.disease GROUP BY organ ORDER BY 1",
    "a number of a code list": "SELECT AVG(rank) AS a FROM release JOIN codes USING (disease)",
    "different values": "SELECT DISTINCT sex FROM release ORDER BY sex",
    "parts below each other": "SELECT 'all' AS what, COUNT(*) AS n FROM release UNION ALL SELECT 'flu', COUNT(*) FROM release WHERE disease = 'flu'",
    "functions of public columns": "SELECT LOWER(sex) AS s, COUNT(*) AS n FROM release WHERE SQRT(cost) > 10 AND LENGTH(sex) = 1 GROUP BY s ORDER BY s",
    "nothing": "SELECT COUNT(*) AS n FROM release WHERE visits > 100",
}

REFUSED = {
    "the largest of a perturbed number": "SELECT MAX(visits) FROM release",
    "the largest among some": "SELECT MAX(cost) FROM release WHERE smoker",
    "different perturbed values": "SELECT COUNT(DISTINCT disease) FROM release",
    "rows": "SELECT * FROM release",
    "an aggregate of aggregates": "SELECT AVG(n) FROM (SELECT sex, COUNT(*) AS n FROM release GROUP BY sex)",
    "another table": "SELECT COUNT(*) FROM release JOIN other USING (sex)",
    "a random number": "SELECT COUNT(*) FROM release WHERE random() < 0.5",
    "the most frequent value": "SELECT MODE(disease) FROM release",
}


def told(table: pa.Table, sql: str) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    connection.register("release", table)
    connection.register("codes", CODES)
    return connection.sql(sql).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("sql", QUESTIONS.values(), ids=QUESTIONS)
def test_at_retention_1_each_is_answered_as_by_the_table(sql: str, kept: scumble.Release, patients: pa.Table) -> None:
    answer = kept.query(sql, tables={"codes": CODES})
    lines = [tuple(row[name] for name in answer.columns) for row in answer]
    near = [
        tuple(
            pytest.approx(v, rel=1e-5, abs=1e-4) if isinstance(v, int | float) and not isinstance(v, bool) else v
            for v in line
        )
        for line in told(patients, sql)
    ]
    assert lines == near


@pytest.mark.parametrize("sql", REFUSED.values(), ids=REFUSED)
def test_what_has_no_answer_is_refused(sql: str, kept: scumble.Release) -> None:
    with pytest.raises(ScumbleError):
        kept.query(sql)


FORMS: dict[str, dict[str, Any]] = {
    "uniform": {"retain": 0.6},
    "fine_grain": {"mechanism": "fine_grain", "gamma": 8, "settings": {"floor": 0.05}, "sensitive": ["disease"]},
    "partitioned": {"mechanism": "partitioned", "rho1": 0.45, "rho2": 0.8, "sensitive": ["disease"]},
    "sps": {
        "mechanism": "sps",
        "retain": 0.6,
        "sensitive": ["disease"],
        "settings": {"lambda": 0.3, "delta": 0.1},
        "drop": ["name", "cost", "age", "visits"],
    },
    "swapped": {"mechanism": "swapped", "retain": 0.6, "sensitive": ["disease"]},
    "frapp": {"mechanism": "frapp", "gamma": 19},
    "anatomy": {"mechanism": "anatomy", "sensitive": ["disease"], "settings": {"l": 2}},
    "k_dgs": {"mechanism": "k_dgs", "sensitive": None, "settings": {"k": 3}, "drop": ["name", "cost", "age"]},
    "noisy_counts": {
        "mechanism": "noisy_counts",
        "sensitive": None,
        "epsilon": 2,
        "settings": {"k": 3, "delta": 1e-3},
        "drop": ["name", "cost", "age"],
    },
}
DOMAINS: dict[str, Any] = {"disease": DISEASES, "smoker": [False, True], "visits": {"low": 0, "high": 10}}


@pytest.fixture(scope="module")
def of_form(patients: pa.Table) -> Callable[[str], scumble.Release]:
    known: dict[str, scumble.Release] = {}

    def opened(name: str) -> scumble.Release:
        if name not in known:
            how = {"sensitive": ["disease", "smoker", "visits"], "drop": ["name"], "seed": 5, **FORMS[name]}
            names = how["sensitive"] or []
            domains = {n: DOMAINS[n] for n in names} or None
            known[name] = publish_openly(patients, domains=domains, **{k: v for k, v in how.items() if v is not None})
        return known[name]

    return opened


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_form_answers_or_says_why_not(form: str, of_form: Callable[[str], scumble.Release]) -> None:
    """A refusal is one sentence or two, and never a failure of the software; an answer has finite numbers with their intervals around them."""
    release, answered = of_form(form), 0
    for name, sql in QUESTIONS.items():
        answer, refusal = _asked(release, sql)
        if answer is None:
            assert 20 < len(refusal) < 600, name
            assert "\n" not in refusal, name
            continue
        answered += 1
        for e in answer.estimates:
            some = np.isfinite(e.value) & np.isfinite(e.low) & np.isfinite(e.high)
            assert np.all(e.low[some] <= e.high[some] + 1e-9), name
    assert answered >= {"anatomy": 12}.get(form, 30), (form, answered)


def _asked(release: scumble.Release, sql: str) -> tuple[scumble.Estimates | None, str]:
    try:
        return release.query(sql, tables={"codes": CODES}), ""
    except ScumbleError as error:
        return None, str(error)
