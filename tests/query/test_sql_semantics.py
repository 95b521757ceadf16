"""Where SQL is easily mistaken: what a name means, what comes after what, what rounding does. Each as the table answers at retention 1, or refused."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.errors import QueryError


@pytest.fixture(scope="module")
def perturbed(patients: pa.Table) -> scumble.Release:
    return publish_openly(patients, sensitive="disease", drop="name", domains={"disease": DISEASES}, retain=0.5, seed=1)


def of_table(table: pa.Table, sql: str) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    connection.register("release", table)
    return connection.sql(sql).fetchall()


def near(value: Any) -> Any:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return pytest.approx(value, rel=1e-5, abs=1e-4) if numeric else value


NAMES = {
    "an alias in HAVING": "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease HAVING n BETWEEN 100 AND 700 ORDER BY 1",
    "an alias of another case": "SELECT disease, COUNT(*) AS N FROM release GROUP BY disease HAVING n > 500 ORDER BY 1",
    "an alias in HAVING that is a column": "SELECT disease, SUM(visits) AS visits FROM release GROUP BY disease HAVING visits > 1000 ORDER BY 1",
    "a group before an alias in HAVING": "SELECT COUNT(*) AS sex FROM release GROUP BY sex HAVING sex = 'F'",
    "an alias in QUALIFY": "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease QUALIFY n * 2 > SUM(COUNT(*)) OVER () / 4 ORDER BY 1",
    "an alias that is no column": "SELECT UPPER(sex) AS g, COUNT(*) AS n FROM release WHERE smoker GROUP BY G ORDER BY 1",
    "the column under its own name": "SELECT disease AS disease, COUNT(*) AS n FROM release GROUP BY disease ORDER BY 1",
    "an aggregate called as the group": "SELECT sex AS s, COUNT(*) AS sex FROM release GROUP BY sex ORDER BY 1",
    "a part of WITH called as the table": "WITH release AS (SELECT * FROM release WHERE age > 50) SELECT COUNT(*) AS n FROM release WHERE smoker",
    "parts of WITH over each other": "WITH a AS (SELECT age + 1 AS age, smoker FROM release), b AS (SELECT age + 1 AS age, smoker FROM a) SELECT AVG(age) AS a FROM b WHERE smoker",
}
WINDOWS = {
    "after HAVING on groups": "SELECT sex, disease, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY sex) AS s FROM release GROUP BY sex, disease HAVING disease <> 'flu' ORDER BY 1, 2",
    "after HAVING on a function": "SELECT UPPER(sex) AS u, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS s FROM release WHERE smoker GROUP BY u HAVING u = 'F' OR u > 'G'",
    "after WHERE of a question over an answer": "WITH x AS (SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY sex, disease) SELECT sex, disease, n * 1.0 / SUM(n) OVER (PARTITION BY sex) AS s FROM x WHERE disease <> 'flu' ORDER BY 1, 2",
    "before WHERE of a question over it": "WITH x AS (SELECT disease, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS s FROM release GROUP BY disease) SELECT disease, s FROM x WHERE disease <> 'flu' AND s > 0.1 ORDER BY 1",
    "before QUALIFY": "SELECT disease, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS s FROM release GROUP BY disease QUALIFY COUNT(*) > 500 ORDER BY 1",
    "numbers after HAVING": "SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY sex, disease HAVING COUNT(*) > 200 QUALIFY ROW_NUMBER() OVER (PARTITION BY sex ORDER BY COUNT(*)) = 1 ORDER BY 1, 2",
    "numbers before WHERE": "WITH x AS (SELECT disease, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS r FROM release GROUP BY disease) SELECT disease, n FROM x WHERE r <= 2 ORDER BY 1",
    "QUALIFY of an answer": "SELECT disease, n FROM (SELECT disease, COUNT(*) AS n FROM release GROUP BY disease QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) <= 3) WHERE n < 700 ORDER BY 1",
}
REFUSED = {
    "SELECT 'x' AS disease, COUNT(*) AS n FROM release GROUP BY disease": "'x' is called so too",
    "SELECT UPPER(sex) AS disease, sex, COUNT(*) AS n FROM release GROUP BY disease, sex": "another name with AS",
    "SELECT 'x' AS sex, disease, COUNT(*) AS n FROM release GROUP BY CUBE (sex, disease)": "another name with AS",
    "SELECT disease, SUM(SUM(visits)) OVER () AS s FROM release GROUP BY disease HAVING COUNT(*) > 500": "into QUALIFY",
    "WITH x AS (SELECT disease, COUNT(*) AS n FROM release GROUP BY disease) SELECT disease, n * 1.0 / SUM(n) OVER () AS s FROM x WHERE n > 500": "into QUALIFY",
    "WITH x AS (SELECT disease, SUM(COUNT(*)) OVER () AS n FROM release GROUP BY disease) SELECT disease, SUM(n) OVER () AS s FROM x": "with windows",
    "SELECT sex, disease, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS s FROM release GROUP BY CUBE (sex, disease)": "each grouping apart",
    "SELECT sex, COUNT(*) AS n FROM release GROUP BY ROLLUP (sex) QUALIFY ROW_NUMBER() OVER (ORDER BY n) = 1": "each grouping apart",
    "SELECT COUNT(*) AS n FROM release WHERE disease = E'fl\\x75'": "^a text with escapes",
    "SELECT COUNT(*) AS n FROM release WHERE disease = $$flu$$": "^a text between dollars",
}
NOBODY = {
    "a value that is none": "SELECT SUM(cost) AS s, COUNT(*) AS n FROM release WHERE disease = 'plague'",
    "no public row": "SELECT SUM(visits) AS s, AVG(visits) AS a FROM release WHERE age > 1000 AND smoker",
    "made of a sum": "SELECT SUM(visits) * 2 AS s FROM release WHERE age > 1000 AND smoker",
    "public columns": "SELECT SUM(age) AS s, AVG(age) AS a, VAR_POP(age) AS v FROM release WHERE age > 1000",
    "no value": "SELECT SUM(NULL) AS s FROM release WHERE smoker",
}
ROUNDED = {
    "to hundreds": "SELECT ROUND(COUNT(*), -2) AS n FROM release WHERE disease = 'flu'",
    "to one decimal": "SELECT sex, ROUND(AVG(visits), 1) AS a FROM release GROUP BY sex ORDER BY sex",
    "a negative power": "SELECT 1000 * POWER(COUNT(*), -1) AS p FROM release WHERE smoker",
    "a condition on a rounded number": "SELECT disease FROM release GROUP BY disease HAVING ROUND(COUNT(*), -3) > 0 ORDER BY 1",
    "a cast to DECIMAL": "SELECT CAST(AVG(visits) AS DECIMAL(5, 1))::DOUBLE AS a FROM release WHERE smoker",
}


def check(sql: str, kept: scumble.Release, patients: pa.Table) -> None:
    answer = kept.query(sql)
    lines = [tuple(row[name] for name in answer.columns) for row in answer]
    assert lines == [tuple(near(v) for v in line) for line in of_table(patients, sql)]


@pytest.mark.slow
@pytest.mark.parametrize("sql", NAMES.values(), ids=NAMES)
def test_names_mean_what_they_mean_in_sql(sql: str, kept: scumble.Release, patients: pa.Table) -> None:
    check(sql, kept, patients)


@pytest.mark.parametrize("sql", WINDOWS.values(), ids=WINDOWS)
def test_windows_are_over_the_lines_that_having_leaves(sql: str, kept: scumble.Release, patients: pa.Table) -> None:
    check(sql, kept, patients)


@pytest.mark.parametrize("sql", NOBODY.values(), ids=NOBODY)
def test_sums_of_nobody_are_null(sql: str, kept: scumble.Release, patients: pa.Table) -> None:
    check(sql, kept, patients)


@pytest.mark.parametrize("method", ["unbiased", "likelihood"])
def test_coins_keep_a_sum_of_nobody_null(method: str, perturbed: scumble.Release) -> None:
    """And a sum of few is a number, with an interval."""
    (none,) = perturbed.query("SELECT SUM(age) AS s FROM release WHERE disease = 'plague'", method=method).estimates
    (few,) = perturbed.query(
        "SELECT SUM(age) AS s FROM release WHERE disease = 'hiv' AND age = 40", method=method
    ).estimates
    assert np.isnan(none.value[0])
    assert few.low[0] <= few.value[0] <= few.high[0]


@pytest.mark.parametrize(("sql", "sentence"), REFUSED.items())
def test_what_sql_means_otherwise_is_refused(sql: str, sentence: str, kept: scumble.Release) -> None:
    with pytest.raises(QueryError, match=sentence):
        kept.query(sql)


@pytest.mark.parametrize("sql", ROUNDED.values(), ids=ROUNDED)
def test_numbers_are_rounded_as_by_the_table(sql: str, kept: scumble.Release, patients: pa.Table) -> None:
    check(sql, kept, patients)


def test_what_is_rounded_first_is_refused(kept: scumble.Release) -> None:
    with pytest.raises(QueryError, match="round last"):
        kept.query("SELECT ROUND(AVG(visits), 1) * 10 AS v FROM release")


def test_ends_are_rounded_outwards(perturbed: scumble.Release) -> None:
    sql = "SELECT {} AS n FROM release WHERE disease = 'flu'"
    (whole,), (rough,) = (perturbed.query(sql.format(e)).estimates for e in ("COUNT(*) + 0", "ROUND(COUNT(*), -2)"))
    assert (rough.low[0] % 100, rough.value[0] % 100, rough.high[0] % 100) == (0, 0, 0)
    assert rough.low[0] <= whole.low[0] < whole.high[0] <= rough.high[0]
    assert rough.low[0] > whole.low[0] - 100
    assert rough.high[0] < whole.high[0] + 100


SUPPRESSED = {
    "a share": "SELECT COUNT(*) FILTER (WHERE disease = 'flu') * 1.0 / COUNT(*) AS x FROM release",
    "a share over lines": "SELECT COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS x, disease FROM release GROUP BY disease ORDER BY disease",
    "a sum": "SELECT COUNT(*) + 0 AS x FROM release",
    "a rounded count": "SELECT ROUND(COUNT(*), 0) AS x FROM release",
    "a difference": "SELECT COUNT_IF(disease = 'flu') - COUNT_IF(disease = 'hiv') AS x FROM release",
    "odds": "SELECT COUNT_IF(disease = 'flu') * 1.0 / COUNT_IF(disease <> 'flu') AS x FROM release",
    "an inverse": "SELECT 1.0 / COUNT(*) AS x FROM release",
    "a negative power": "SELECT POWER(COUNT(*), -2) AS x FROM release",
    "a logarithm": "SELECT LN(COUNT(*)) AS x FROM release",
    "a square that is 0": "SELECT POWER(COUNT(*) - 300, 2) AS x FROM release",
    "a distance that is 0": "SELECT ABS(COUNT(*) - 300) AS x FROM release",
}


@pytest.fixture(scope="module")
def rare() -> pa.Table:
    """Of 480 rows those with hiv are spread so thinly that all of them are suppressed."""
    rows = [("flu", 30)] * 200 + [("cold", 30)] * 100 + [("hiv", 20 + i % 60) for i in range(180)]
    return pa.table({"disease": [d for d, _ in rows], "age": [a for _, a in rows]})


@pytest.mark.parametrize("sql", SUPPRESSED.values(), ids=SUPPRESSED)
@pytest.mark.parametrize("total", [False, True])
def test_what_is_made_of_counts_holds_suppressed_rows(sql: str, total: bool, rare: pa.Table) -> None:
    settings = {"k": 10, "total": 480} if total else {"k": 10}
    release = publish_openly(rare, mechanism="k_dgs", public=["disease", "age"], settings=settings)
    (x,) = release.query(sql).estimates
    truth = np.array([line[0] for line in of_table(rare, sql)])
    assert x.method == "published"
    assert np.all(x.low - 1e-12 <= truth[: len(x.low)])
    assert np.all(truth[: len(x.low)] <= x.high + 1e-12)
    assert np.all(x.low < x.high)
    assert np.isnan(x.se).all()
