"""The likelihood as a method of the query layer: never negative, consistent, with the intervals that it says."""

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

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
    assert "parametric bootstrap" in answer.notes[-1]
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


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ("COUNT(*) AS n", "intervals: parametric bootstrap of the unbiased pivot, cut"),
        ("AVG(age) AS a", "intervals: those of the unbiased answer, cut"),
        ("COUNT(*) AS n, SUM(paid) AS p, AVG(age) AS a", "pivot (p, a: those of the unbiased answer), cut"),
    ],
)
def test_it_is_said_where_the_intervals_are_from(figures: str, said: str, ages: scumble.Release) -> None:
    assert said in ages.query(f"SELECT {figures} FROM release WHERE sex = 'm'", method="likelihood").notes[-1]


@pytest.mark.slow
def test_intervals_of_different_releases_do_not_miss_alike() -> None:
    """The ends of 200 draws are off by 0.19 standard errors; with the same draws for all releases they would be off together, to 0.04."""
    table = pa.table({"sex": ["m", "f"] * 1000})
    ends = []
    for seed in range(30):
        release = publish_openly(table, sensitive="sex", domains={"sex": ["m", "f"]}, retain=0.5, seed=seed)
        sql = "SELECT COUNT(*) AS n FROM release WHERE sex = 'm'"
        plain, best, again = release.query(sql)["n"], *(release.query(sql, method="likelihood")["n"] for _ in "12")
        assert best.low == again.low
        ends.append((plain.value[0] - best.low[0]) / plain.se[0])
    assert abs(np.mean(ends) - 1.96) < 4 * 0.19 / np.sqrt(30)  # false alarm: 6e-5
    assert np.std(ends) > 0.1
