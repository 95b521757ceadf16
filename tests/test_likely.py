"""The likelihood as a method of the query layer: never negative, consistent, with the intervals that it says."""

import numpy as np
import pyarrow as pa
import pytest

import scumble
from scumble.errors import ParameterError, QueryError


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
