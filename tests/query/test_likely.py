"""The likelihood as a method of the query layer: never negative, consistent, with the intervals that it says."""

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from scipy.stats import binom

import scumble
from scumble.core.errors import ParameterError, QueryError


@pytest.mark.slow
def test_estimates_are_possible_and_add_up(release: scumble.Release) -> None:
    """Counts of all states of three columns are not negative, add up to the rows, and their margins to the totals."""
    cells = release.query(
        "SELECT disease, smoker, visits, COUNT(*) AS n FROM release GROUP BY 1, 2, 3", method="likelihood"
    )
    assert (cells["n"].value >= 0).all()
    assert cells["n"].value.sum() == pytest.approx(3000)
    assert (
        release.query("SELECT disease, smoker, visits, COUNT(*) AS n FROM release GROUP BY 1, 2, 3")["n"].value < 0
    ).any()
    assert ((cells["n"].low >= 0) & (cells["n"].low <= cells["n"].value) & (cells["n"].value <= cells["n"].high)).all()
    assert cells["n"].method == "likelihood"


def test_where_the_unbiased_estimate_is_possible_it_is_the_likeliest(release: scumble.Release) -> None:
    sql = "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease"
    plain, best = release.query(sql)["n"], release.query(sql, method="likelihood")["n"]
    assert (plain.value > 0).all()
    assert np.allclose(plain.value, best.value)


def test_the_answer_says_how_it_converged_and_which_interval_it_has(release: scumble.Release) -> None:
    answer = release.query(
        "SELECT COUNT(*) AS n FROM release WHERE smoker AND visits > 8 AND disease = 'hiv'", method="likelihood"
    )
    assert "log-likelihood from the best" in answer.notes[-2]
    assert "intervals are those of the unbiased answer" in answer.notes[-1]
    again = release.query(
        "SELECT COUNT(*) AS n FROM release WHERE smoker AND visits > 8 AND disease = 'hiv'", method="likelihood"
    )
    assert again["n"].low[0] == answer["n"].low[0]


def test_sums_and_averages(release: scumble.Release, patients: pa.Table) -> None:
    """Within 5 standard errors of the truth, and within what is possible."""
    answer = release.query(
        "SELECT sex, SUM(cost) AS s, AVG(cost) AS c, SUM(visits) AS v, AVG(visits) AS m FROM release WHERE disease IN ('flu', 'cold') GROUP BY sex",
        method="likelihood",
    )
    frame = patients.to_pandas()
    frame = frame[frame.disease.isin(["flu", "cold"])].groupby("sex")
    for name, truth in (
        ("s", frame.cost.sum()),
        ("c", frame.cost.mean()),
        ("v", frame.visits.sum()),
        ("m", frame.visits.mean()),
    ):
        assert (np.abs(answer[name].value - truth.to_numpy()) < 5 * answer[name].se).all(), name
    assert ((answer["m"].low >= 0) & (answer["m"].high <= 10)).all()


def test_a_condition_mixed_with_public_columns(release: scumble.Release, patients: pa.Table) -> None:
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE smoker OR sex = 'F'", method="likelihood")["n"]
    truth = int((patients.column("smoker").to_numpy() | (patients.column("sex").to_numpy() == "F")).sum())
    women = patients.column("sex").to_pylist().count("F")
    assert abs(answer.value[0] - truth) < 5 * answer.se[0]
    assert answer.value[0] >= women  # they are known to be counted


def test_what_the_likelihood_refuses(release: scumble.Release) -> None:
    with pytest.raises(QueryError, match="negative values"):
        release.query("SELECT SUM(age - 200) AS a FROM release WHERE smoker", method="likelihood")
    with pytest.raises(ParameterError, match="did you mean 'likelihood'"):
        release.query("SELECT COUNT(*) FROM release", method="likelyhood")


def test_public_questions_stay_exact(release: scumble.Release) -> None:
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE sex = 'F'", method="likelihood")["n"]
    assert answer.method == "exact"


@pytest.fixture(scope="module")
def ages() -> scumble.Release:
    table = pa.table(
        {"age": list(range(20, 70)) * 40, "sex": ["m", "f"] * 1000, "paid": [float(i % 7) for i in range(2000)]}
    )
    domains = {"age": {"low": 20, "high": 69}, "sex": ["m", "f"]}
    return publish_openly(table, sensitive=["age", "sex"], domains=domains, retain=0.5, seed=1)


def test_an_average_lies_among_the_values_that_were_asked_for(ages: scumble.Release) -> None:
    """Where a group may be empty the unbiased interval has no ends; those of the values themselves are left."""
    few = ages.query("SELECT AVG(age) AS a FROM release WHERE age IN (68, 69) AND sex = 'm'", method="likelihood")["a"]
    assert 68 <= few.low[0] <= few.value[0] <= few.high[0] <= 69
    none = ages.query("SELECT AVG(age) AS a FROM release WHERE age > 99", method="likelihood")["a"]
    assert np.isnan([none.value[0], none.low[0], none.high[0]]).all()


def test_a_figure_has_the_same_interval_whatever_it_is_called(ages: scumble.Release) -> None:
    answer = ages.query(
        "SELECT COUNT(*) AS a, COUNT(*) AS b FROM release WHERE age < 40 AND sex = 'm'", method="likelihood"
    )
    assert answer["a"].low == answer["b"].low
    assert answer["a"].high == answer["b"].high


def test_what_stands_beside_an_aggregate_makes_no_difference(ages: scumble.Release) -> None:
    """Each has its own columns: a count does not see the grid of an average."""
    where = "FROM release WHERE sex = 'm' AND age BETWEEN 30 AND 33"
    alone = ages.query(f"SELECT COUNT(*) AS n {where}", method="likelihood")["n"]
    beside = ages.query(f"SELECT COUNT(*) AS n, AVG(age) AS a, SUM(paid) AS p {where}", method="likelihood")["n"]
    for part in ("value", "low", "high"):
        assert getattr(alone, part) == pytest.approx(getattr(beside, part), rel=1e-9)


def test_near_the_border_an_interval_is_that_of_the_unbiased_answer() -> None:
    """Nobody has the third value, and the likelihood says about 0: its interval is as wide as the law allows, and no point."""
    table = pa.table({"grade": ["a", "b"] * 300})
    domains = {"grade": ["a", "b", "c"]}
    for seed in range(20):
        release = publish_openly(table, sensitive="grade", domains=domains, retain=0.5, seed=seed)
        sql = "SELECT COUNT(*) AS n FROM release WHERE grade = 'c'"
        plain, best = release.query(sql)["n"], release.query(sql, method="likelihood")["n"]
        assert best.value[0] >= 0
        assert best.low[0] <= min(plain.low[0], best.value[0]) + 1e-9
        assert plain.high[0] > 1
        assert best.high[0] >= plain.high[0] - 1e-9


RUNS = 300


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_intervals_cover(columns: int) -> None:
    """300 published tables of 400 rows in two states of their columns, three figures each, two of them at the border of the possible.

    Below the 1e-7 quantile of a binomial of 95% (261 of 300): false alarms below 1e-6 in all; a coverage of 75% passes with 1e-7.
    """
    names = [f"c{i}" for i in range(columns)]
    first = (["a"] * 320 + ["b"] * 80) * RUNS
    data = {"run": np.repeat(np.arange(RUNS), 400), "c0": first} | {n: ["a"] * len(first) for n in names[1:]}
    domains = {name: ["a", "b"] for name in names}
    release = publish_openly(pa.table(data), sensitive=names, domains=domains, retain=0.5, seed=columns)
    common, nobody = (" AND ".join(f"{n} = '{v}'" for n in names) for v in "ab")
    for where, truth in ((common, 320), (nobody, 80 if columns == 1 else 0), ("c0 = 'a'", 320)):
        answer = release.query(
            f"SELECT run, COUNT(*) AS n FROM release WHERE {where} GROUP BY run", method="likelihood"
        )
        n = answer["n"]
        assert (n.value >= 0).all()
        assert ((n.low <= n.value) & (n.value <= n.high)).all()
        assert ((n.low <= truth + 1e-6) & (truth <= n.high + 1e-6)).sum() >= binom.ppf(1e-7, RUNS, 0.95)
