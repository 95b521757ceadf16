"""Estimates from partitioned and fine-grain releases are unbiased and intervals of 95% cover 93-97%.

Given which rows are in which sub-table, coins are independent and the estimate of each sub-table is unbiased for what truly lies in it; the
parts add up to the truth whatever the assignment was. So the copies of one table under a public `run` are publications of their own
here too, though their quotas are drawn together: 2,500 runs, as in test_coverage.py, where a sound interval leaves 93-97% with
probability 5e-6. One test publishes the small table itself 200 times, quotas and all; the seeds are fixed.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.engines.duckdb.engine import exact

pytestmark = pytest.mark.slow

RUNS, PEOPLE = 2500, 300
DISEASES = ["flu", "cold", "asthma", "cancer", "hiv", "sars"]

MECHANISMS: dict[str, dict[str, Any]] = {
    "partitioned": {"mechanism": "partitioned", "rho2": 0.75},
    "both": {"mechanism": "partitioned", "rho2": 0.75, "settings": {"inside": "fine_grain"}},
    "fine_grain": {"mechanism": "fine_grain", "gamma": 12, "settings": {"scores": {"hiv": 1.5}, "floor": 0.2}},
}

QUESTIONS = {
    "count": "SELECT {g} COUNT(*) AS a FROM release WHERE disease = 'cold'",
    "count, a rare value": "SELECT {g} COUNT(*) AS a FROM release WHERE disease = 'hiv'",
    "count, a set and a public condition": "SELECT {g} COUNT(*) AS a FROM release WHERE disease IN ('flu', 'sars') AND sex = 'F'",
    "sum of a public column": "SELECT {g} SUM(cost) AS a FROM release WHERE disease <> 'flu'",
    "average of a public column": "SELECT {g} AVG(cost) AS a FROM release WHERE disease IN ('flu', 'cold')",
}


def people() -> pa.Table:
    draw = np.random.default_rng(6)
    disease = draw.choice(DISEASES, PEOPLE, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    cost = np.round(draw.gamma(3, 200, PEOPLE) + 300 * (disease == "hiv"), 2)
    return pa.table({"sex": draw.choice(["F", "M"], PEOPLE), "cost": cost, "disease": disease})


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return people()


@pytest.fixture(scope="module", params=MECHANISMS)
def release(request: pytest.FixtureRequest, table: pa.Table) -> scumble.Release:
    copies = table.take(pa.array(np.tile(np.arange(PEOPLE), RUNS)))
    copies = copies.append_column("run", pa.array(np.repeat(np.arange(RUNS), PEOPLE)))
    return publish_openly(
        copies, sensitive="disease", domains={"disease": DISEASES}, seed=5, **MECHANISMS[request.param]
    )


@pytest.mark.parametrize("question", QUESTIONS)
def test_estimates_are_unbiased_and_intervals_cover(question: str, table: pa.Table, release: scumble.Release) -> None:
    sql = QUESTIONS[question]
    truth = float(exact(sql.format(g=""), table).column("a")[0].as_py())
    answer = release.query(sql.format(g="run,") + " GROUP BY run")["a"]
    assert 0.93 <= np.mean((answer.low <= truth) & (truth <= answer.high)) <= 0.97
    skew = 0.0 if "AVG" not in sql else 0.02 * abs(truth)  # a ratio of unbiased sums is unbiased only in the limit
    assert abs(answer.value.mean() - truth) < 5 * answer.value.std() / np.sqrt(RUNS) + skew
    assert np.sqrt(np.mean(answer.se**2)) == pytest.approx(answer.value.std(), rel=0.08 if not skew else 0.25)


def test_groups_of_the_perturbed_column_cover(table: pa.Table, release: scumble.Release) -> None:
    answer = (
        release.query("SELECT run, disease, COUNT(*) AS n FROM release GROUP BY run, disease").to_arrow().to_pandas()
    )
    truth = dict(
        exact("SELECT disease, COUNT(*) AS n FROM release GROUP BY disease", table).to_pandas().values.tolist()
    )
    for disease, part in answer.groupby("disease"):
        true = truth[disease]
        most = 0.99 if np.mean(part.n_low == 0) > 0.05 else 0.97  # where 0 ends an interval, only the other tail misses
        assert 0.93 <= np.mean((part.n_low <= true) & (true <= part.n_high)) <= most


def test_repeated_publications_of_one_small_table_cover(table: pa.Table) -> None:
    """200 publications, each with its own quotas: a sound 95% interval covers 88-99.5% with probability above 1 - 1e-3."""
    sql = QUESTIONS["count, a set and a public condition"].format(g="")
    truth = float(exact(sql, table).column("a")[0].as_py())
    answers = [
        publish_openly(
            table, sensitive="disease", domains={"disease": DISEASES}, seed=seed, **MECHANISMS["partitioned"]
        ).query(sql)["a"]
        for seed in range(200)
    ]
    values = np.array([each.value[0] for each in answers])
    assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(200)
    assert 0.88 <= np.mean([each.low[0] <= truth <= each.high[0] for each in answers]) <= 0.995
