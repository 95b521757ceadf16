"""Comparing lines: differences with the standard errors of the joint law, intervals that hold together, refusals that say what to ask instead."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from every_mechanism import published
from naming import publish_openly
from scipy.stats import binom, chi2
from tables import DISEASES

import scumble
from scumble.core.errors import QueryError

BY_DISEASE = "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease"
ONE_LINE = ", ".join(f"COUNT(*) FILTER (WHERE disease = '{d}') AS \"{d}\"" for d in DISEASES)


@pytest.fixture(scope="module")
def two(patients: pa.Table) -> scumble.Release:
    """Two perturbed columns."""
    domains = {"disease": DISEASES, "smoker": [False, True]}
    return publish_openly(
        patients, sensitive=["disease", "smoker"], drop=["name", "visits"], domains=domains, retain=0.5, seed=4
    )


def test_lines_of_a_perturbed_column_are_compared_as_columns_of_one_line_are(two: scumble.Release) -> None:
    lines, columns = two.test(BY_DISEASE), two.test(f"SELECT {ONE_LINE} FROM release")
    assert lines.groups.column("other_disease").to_pylist() == columns.groups.column("other_measure").to_pylist()
    for part in ("value", "se", "low", "high"):
        assert getattr(lines["difference"], part) == pytest.approx(getattr(columns["difference"], part), rel=1e-3)
    assert lines["difference"].se == pytest.approx(columns["difference"].se, rel=1e-9)


def test_averages_of_two_groupings_have_the_error_of_the_difference_in_one_line(two: scumble.Release) -> None:
    lines = two.test(
        "SELECT disease, AVG(cost) AS c FROM release WHERE smoker AND disease IN ('flu', 'cold') GROUP BY 1"
    )
    parts = [f"AVG(cost) FILTER (WHERE disease = '{d}')" for d in ("flu", "cold")]
    single = two.query(f"SELECT {parts[0]} - {parts[1]} AS d FROM release WHERE smoker")
    assert lines["difference"].value == pytest.approx(single["d"].value)
    assert lines["difference"].se == pytest.approx(single["d"].se)


def test_public_groups_are_independent(two: scumble.Release) -> None:
    sql = "SELECT sex, AVG(smoker::INT) AS s FROM release GROUP BY sex ORDER BY sex"
    (row,) = two.test(sql)
    one, other = two.query(sql)
    assert (row["sex"], row["other_sex"]) == (one["sex"], other["sex"])
    assert row["difference"] == pytest.approx(one["s"] - other["s"])
    assert row["difference_se"] == pytest.approx(np.hypot(one["s_se"], other["s_se"]))
    assert list(row)[-1] == "p"
    assert "p" in str(two.test(sql)).splitlines()[0].split()
    assert "| p |" in two.test(sql).to_markdown()


def test_an_interval_holds_0_where_p_is_above_alpha(two: scumble.Release) -> None:
    sql = "SELECT sex, disease, COUNT(*) AS n FROM release WHERE smoker GROUP BY sex, disease"
    for level in (0.8, 0.95):
        answer = two.test(sql, level=level)
        e, p = answer["difference"], answer.groups.column("p").to_numpy()
        clear = np.abs(p - (1 - level)) > 0.01
        assert np.array_equal(((e.low > 0) | (e.high < 0))[clear], (p < 1 - level)[clear])


@pytest.mark.slow
def test_all_differences_hold_together_as_often_as_is_said() -> None:
    """60 publications of 500 rows. Squares of differences in standard errors add up to a chi-square number: what is outside of the ends has probability
    1e-7. A covariance that is left out makes them twice as large (two values), which is rejected with 99.9%. So many misses at 95% have 1e-7."""
    rng = np.random.default_rng(3)
    smoker, town = rng.random(500) < 0.4, rng.choice(list("abc"), 500)
    table = pa.table({"smoker": smoker, "town": town})
    sql = "SELECT town, smoker, COUNT(*) AS n FROM release GROUP BY town, smoker ORDER BY town, smoker"
    counts = np.array([np.sum((town == t) & (smoker == s)) for t in "abc" for s in (False, True)])
    one, other = np.triu_indices(6, 1)
    truth, same = counts[one] - counts[other], (one // 2 == other // 2)
    held, squares = 0, 0.0
    for seed in range(60):
        e = publish_openly(table, sensitive="smoker", domains={"smoker": [False, True]}, retain=0.5, seed=seed).test(
            sql
        )["difference"]
        held += bool(np.all((e.low <= truth) & (truth <= e.high)))
        squares += float(np.sum(((e.value - truth) / e.se)[same] ** 2))
    assert held >= binom.ppf(1e-7, 60, 0.95)
    least, most = chi2.ppf([1e-7, 1 - 1e-7], 180)
    assert least < squares < most


REFUSED = {
    "ORDER BY and LIMIT": "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease ORDER BY n DESC LIMIT 2",
    "HAVING": "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease HAVING COUNT(*) > 500",
    "sums over lines": "SELECT disease, COUNT(*) / SUM(COUNT(*)) OVER () AS s FROM release GROUP BY disease",
    "ROLLUP": "SELECT sex, COUNT_IF(smoker) AS n FROM release GROUP BY ROLLUP (sex)",
    "one column at a time": "SELECT sex, COUNT_IF(smoker) AS n, AVG(smoker::INT) AS a FROM release GROUP BY sex",
    "exact": "SELECT sex, COUNT(*) AS n FROM release GROUP BY sex",
    "two are needed": "SELECT COUNT_IF(smoker) AS n FROM release",
    "put the columns": "SELECT COUNT_IF(smoker) AS n FROM release GROUP BY sex",
    "name yours with AS": "SELECT disease AS p, COUNT(*) AS n FROM release GROUP BY disease",
    "pairs": "SELECT cost // 1 AS c, disease, COUNT(*) AS n FROM release GROUP BY c, disease",
}


@pytest.mark.parametrize(("why", "sql"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_compared_says_what_to_ask_instead(why: str, sql: str, two: scumble.Release) -> None:
    with pytest.raises(QueryError, match=why):
        two.test(sql)


def test_lines_may_be_chosen_by_their_groups(two: scumble.Release) -> None:
    sql = f"{BY_DISEASE} HAVING disease IN ('flu', 'hiv') ORDER BY disease DESC"
    assert [(row["disease"], row["other_disease"]) for row in two.test(sql)] == [("hiv", "flu")]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["identity", "noisy_counts", "anatomy"])
def test_without_a_covariance_lines_differ_where_intervals_are_apart(
    mechanism: str, patients: pa.Table, tmp_path: Path
) -> None:
    release = published(mechanism, patients, tmp_path / "r.release", seed=2)
    (row,) = release.test("SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex")
    one, other = release.query(
        "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex ORDER BY sex", level=0.975
    )
    assert row["difference_low"] >= one["n_low"] - other["n_high"] - 1
    assert row["difference_se"] == pytest.approx(one["n_se"] + other["n_se"])
    assert (row["p"] < 0.05) == (row["difference_low"] > 0 or row["difference_high"] < 0)


def test_sure_intervals_are_no_matter_of_chance(patients: pa.Table, tmp_path: Path) -> None:
    release = published("k_dgs", patients, tmp_path / "r.release")
    with pytest.raises(QueryError, match="no matter of chance"):
        release.test(BY_DISEASE)
