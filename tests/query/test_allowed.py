"""Only what the estimator understands reaches the engine: everything else is refused by name, with what to ask instead."""

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import scumble
from scumble.core.errors import QueryError
from scumble.query.allowed import demand_allowed
from scumble.query.functions import NAMED, VOLATILE, known

REFUSED = {
    "WHERE #3 = 'flu'": "a column by its number cannot be answered; name it",
    "WHERE COLUMNS('dis.*') = 'flu'": "COLUMNS cannot be answered; name each column",
    "TABLESAMPLE 10%": "TABLESAMPLE cannot be answered; ask the whole table",
    "USING SAMPLE 10": "TABLESAMPLE cannot be answered",
    "WHERE random() < 0.5": "does not give the same value each time; write the value",
    "WHERE now() > '2026-01-01'": "now() cannot be answered",
    "WHERE current_date > '2026-01-01'": "current_date() cannot be answered",
    "WHERE uuid() = sex": "uuid() cannot be answered",
    "WHERE nextval('s') = age": "nextval() cannot be answered",
    "WHERE getenv('HOME') = sex": "the function getenv() cannot be answered",
    "WHERE read_text('/etc/passwd') = sex": "the function read_text() cannot be answered",
    "WHERE current_setting('threads') = sex": "the function current_setting() cannot be answered",
    "WHERE x.disease = 'flu'": "there is no table 'x' in the question; write disease or release.disease",
    "AS r WHERE release.disease = 'flu'": "there is no table 'release' in the question; write disease or r.disease",
    "WHERE a.b.disease = 'flu'": "a name of three parts cannot be answered",
    "AS r(age) WHERE age > 3": "new names for its columns cannot be answered",
    "WHERE age IN sex": "IN without a list cannot be answered",
    "WHERE age IN (SELECT 1)": "a sub-query cannot be answered",
    "WHERE EXISTS (FROM release)": "a sub-query cannot be answered",
    "WHERE age > ALL (SELECT 1)": "a sub-query cannot be answered",
    "WHERE SUM(age) > 3": "SUM(age) in a condition or a group cannot be answered",
    "WHERE age = ?": "a question with a gap (?) cannot be answered; write the value",
    "WHERE sex::ENUM('F', 'M') = 'F'": "a cast to ENUM('F', 'M') cannot be answered",
    "WHERE sex[1] = 'F'": "cannot be answered; a question is made of columns",
    "WHERE list_contains([1, 2], age)": "cannot be answered",
    "WHERE lowr(sex) = 'f'": "did you mean lower()?",
    "GROUP BY sex WITH TOTALS": "not valid SQL: syntax error",
    "ORDER BY n NULLS FIRST": "NULLS FIRST cannot be answered; missing values stand last",
    "ORDER BY ALL": "ALL cannot be answered; name the columns",
    "LIMIT 10%": "a LIMIT in percent cannot be answered; give a number of rows",
    "FETCH FIRST 3 ROWS ONLY": "FETCH cannot be answered; use LIMIT",
    "PIVOT (SUM(age) FOR sex IN ('F'))": "PIVOT cannot be answered",
    "FOR UPDATE": "not valid SQL",
}
"""What follows SELECT COUNT(*) AS n FROM release, and what the refusal says."""

SELECTED = {
    "DISTINCT ON (sex) sex, COUNT(*)": "DISTINCT cannot be answered; use GROUP BY",
    "SUM(COLUMNS(*))": "COLUMNS cannot be answered",
    "SUM(age ORDER BY age)": "ORDER BY inside of an aggregate cannot be answered",
    "COUNT(* EXCLUDE (age))": "* EXCLUDE cannot be answered",
    "COUNT(age, sex)": "a second argument of COUNT",
    "SUM(COUNT(*))": "within another aggregate cannot be answered",
    "SUM(age) OVER ()": "a window (OVER) cannot be answered",
    "ROW_NUMBER() OVER (ORDER BY age)": "cannot be answered",
    "COUNT(*) + random()": "cannot be answered",
    "(sex, age) AS pair, COUNT(*) AS n": "(sex, age) cannot be answered; name each column by itself",
}

PASSED = [
    "WHERE release.sex = 'F' AND RELEASE.age > 30",
    "AS r WHERE r.sex = 'F'",
    "WHERE lower(sex) = 'f' AND substring(sex, 1, 1) IN ('F', 'M') AND length(trim(sex)) = 1",
    "WHERE round(cost / 10) > 3 AND abs(age - 30) < 10 AND age % 2 = 1 AND greatest(age, 3) = age AND floor(cost) < 900",
    "WHERE CASE WHEN age > 30 THEN sex ELSE 'M' END = 'F' AND coalesce(nullif(sex, 'M'), 'X') = 'F'",
    "WHERE regexp_matches(sex, 'F|M') AND sex SIMILAR TO 'F' AND concat(sex, 'x') || 'y' LIKE 'F%' ESCAPE '!'",
    "WHERE CAST(age AS VARCHAR) = '30' AND TRY_CAST(sex AS INTEGER) IS NULL AND age::DOUBLE BETWEEN 1 AND 99",
    "WHERE year(DATE '2020-01-01' + INTERVAL 1 DAY) = 2020 AND date_trunc('month', DATE '2020-01-05') < DATE '2020-01-02'",
    "WHERE (sex, age) IN (('F', 30), ('M', 31))",
    "WHERE sex IS NOT DISTINCT FROM 'F' ORDER BY n DESC LIMIT 3 OFFSET 0",
]
"""Questions about public columns, which are answered as the engine answers them."""


@pytest.mark.parametrize("rest", REFUSED)
def test_what_the_estimator_does_not_see_is_refused(rest: str, release: scumble.Release) -> None:
    with pytest.raises(QueryError) as caught:
        release.query(f"SELECT COUNT(*) AS n FROM release {rest}")
    assert REFUSED[rest] in str(caught.value)


@pytest.mark.parametrize("selected", SELECTED)
def test_what_cannot_be_estimated_is_refused(selected: str, release: scumble.Release) -> None:
    with pytest.raises(QueryError) as caught:
        release.query(f"SELECT {selected} FROM release")
    assert SELECTED[selected] in str(caught.value)


@pytest.mark.parametrize("rest", PASSED)
def test_plain_questions_about_public_columns_are_exact(rest: str, release: scumble.Release) -> None:
    sql = f"SELECT COUNT(*) AS n FROM release {rest}"
    truth = duckdb.sql(
        sql.replace("FROM release", "FROM published release" if " AS r " not in sql else "FROM published")
    )
    assert release.query(sql).to_list()[0]["n"] == truth.fetchall()[0][0]


@pytest.fixture(autouse=True, scope="module")
def _published(release: scumble.Release) -> None:
    duckdb.register("published", release.table())


def test_every_named_function_gives_the_same_value_each_time() -> None:
    catalogue = "SELECT DISTINCT function_name, stability FROM duckdb_functions() WHERE function_type = 'scalar'"
    stability = dict(duckdb.sql(catalogue).fetchall())
    found = {name: stability[name] for name in known() if name in stability}
    assert len(found) > 60
    assert set(NAMED) <= set(stability)
    assert set(found.values()) == {"CONSISTENT"}


def test_no_function_that_the_engine_calls_volatile_passes() -> None:
    catalogue = (
        "SELECT function_name FROM duckdb_functions() WHERE function_type = 'scalar' AND stability <> 'CONSISTENT'"
    )
    names = sorted({name for (name,) in duckdb.sql(catalogue).fetchall()} | VOLATILE)
    assert {"random", "now", "uuid", "nextval"} <= set(names)
    for name in names:
        select = sqlglot.parse_one(f"SELECT COUNT(*) FROM release WHERE {name}() = 1", read="duckdb")
        assert isinstance(select, exp.Select)
        with pytest.raises(QueryError, match="cannot be answered"):
            demand_allowed(select)
