"""Answers beside the truth: the pool is what it says, asking together is asking one by one, and metrics are right."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.errors import ParameterError
from scumble.evaluate import Measured, Truth, Workload, measure, reconstruction, records
from scumble.evaluate.measured import Line

pytestmark = pytest.mark.slow


MECHANISMS: dict[str, dict[str, Any]] = {
    "uniform": {"retain": 0.5},
    "fine_grain": {"retain": None, "rho1": 0.4, "rho2": 0.7},
    "partitioned": {"retain": None, "rho2": 0.6},
    "swapped": {"retain": 0.5},
    "sps": {"retain": 0.5},
    "anatomy": {"retain": None, "settings": {"l": 2}},
    "k_dgs": {"retain": None, "settings": {"k": 5, "total": 3000}},
    "noisy_counts": {"retain": None, "epsilon": 2, "settings": {"k": 3, "delta": 1e-3}},
}


@pytest.fixture(scope="module")
def table(patients: pa.Table) -> pa.Table:
    return patients.select(["sex", "disease", "smoker", "visits"])


@pytest.fixture(scope="module")
def truth(table: pa.Table) -> Truth:
    return Truth.of(
        table, publish_openly(table, sensitive="disease", domains={"disease": DISEASES}, retain=0.5, seed=1)
    )


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.filterwarnings("ignore")
def test_questions_asked_together_are_answered_as_one_by_one(
    mechanism: str, table: pa.Table, truth: Truth, publish_simply: Callable[..., scumble.Release]
) -> None:
    """The batch of `measure` gives, for every mechanism, what `release.query` gives for each question; the ends for samples to half of their error."""
    release = publish_simply(table=table, drop=[], mechanism=mechanism, **MECHANISMS[mechanism])
    workload = Workload.counts(truth, size=40, floor=0.002, seed=3)
    assert sum(question.together is not None for question in workload.questions) == 40
    found = measure(release, truth, workload)
    assert len(found.lines) == 40
    for line in found.lines:
        (alone,) = release.query(line.question).estimates
        for name in ("value", "se", "low", "high"):
            near = 0.5 * line.se if mechanism == "sps" and name in ("low", "high") else 1e-6
            assert getattr(line, name) == pytest.approx(getattr(alone, name)[0], rel=1e-9, abs=near, nan_ok=True), line


def test_a_pool_keeps_its_floor_and_its_dimensions(table: pa.Table, truth: Truth) -> None:
    workload = Workload.counts(truth, size=60, dimensions=(2,), floor=0.01, seed=1)
    assert len({q.sql for q in workload.questions}) == 60
    for question in workload.questions:
        assert question.sql.count(" AND ") == 2
        ((rows, (count,)),) = truth.answer(question.sql).values()
        assert count == rows >= 30
    assert Workload.counts(truth, size=60, dimensions=(2,), floor=0.01, seed=1) == workload
    assert Workload.counts(truth, size=60, dimensions=(2,), floor=0.01, seed=2) != workload


@pytest.mark.filterwarnings("ignore:.*hardly protected")
def test_columns_of_many_numbers_are_asked_by_ranges(patients: pa.Table) -> None:
    table = patients.select(["age", "cost"])
    release = publish_openly(
        table, sensitive="cost", domains={"cost": {"low": 0, "high": 6000, "step": 10}}, retain=0.5, seed=1
    )
    workload = Workload.counts(table, release, size=20, dimensions=(0, 1), floor=0.002)
    assert all(question.together is None for question in workload.questions)
    found = measure(release, table, workload)
    assert found.metrics()["numbers"] == len(workload) > 0
    assert not found.refused


def test_own_questions_find_their_truth_line_by_line(table: pa.Table) -> None:
    """Whatever order and limit the answer has, and for values that do not occur."""
    release = publish_openly(table, sensitive="disease", domains={"disease": [*DISEASES, "gout"]}, retain=0.9, seed=2)
    asked = [
        "SELECT disease, sex, COUNT(*) AS n, AVG(visits) AS v FROM release GROUP BY disease, sex ORDER BY n DESC LIMIT 3",
        "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease",
        "SELECT disease || sex AS d, COUNT(*) AS n FROM release GROUP BY disease || sex",
    ]
    found = measure(release, table, Workload.sql(asked))
    first = [line for line in found.lines if line.question == asked[0]]
    assert len(first) == 6
    frame = table.to_pandas()
    for line in first:
        key = dict(part.split("=") for part in line.line.split(": ")[0].split(", "))
        own = frame[(frame.disease == key["disease"]) & (frame.sex == key["sex"])]
        assert line.truth == pytest.approx(len(own) if line.line.endswith(": n") else own.visits.mean())
        assert line.selectivity == pytest.approx(len(own) / 3000)
    gout = next(line for line in found.lines if line.line == "disease=gout: n")
    assert gout.truth == gout.selectivity == 0
    assert list(found.refused) == asked[2:]
    assert found.to_arrow().num_rows == len(found.lines) == 12


@pytest.mark.filterwarnings("ignore:.*hardly protected")
def test_coarsened_columns_are_compared_coarsened(patients: pa.Table) -> None:
    table = patients.select(["age", "disease"])
    release = publish_openly(
        table,
        sensitive="disease",
        domains={"disease": DISEASES},
        coarsen={"age": {"bins": 50}},
        retain=1.0 - 1e-9,
        seed=1,
    )
    found = measure(release, table, Workload.marginals(table, release))
    assert len(found.lines) == 5 + 10
    assert found.metrics()["mean_absolute_error"] < 1e-3
    assert "coverage" in repr(found)
    assert "<table" in found._repr_html_()


def test_metrics_are_what_they_say() -> None:
    lines = [
        Line("a", "n", 0.5, 100, 110, 5, 90, 130),
        Line("b", "n", 0.1, 20, 14, 1, 12, 16),
        Line("c", "n", 0.0, 0, 3, 1, 1, 5),
        Line("d", "n", 0.2, 40, 40, math.nan, 40, math.inf),
    ]
    metrics = Measured(lines, {"e": "no"}).metrics()
    assert (metrics["numbers"], metrics["refused"]) == (4, 1)
    assert metrics["median_relative_error"] == pytest.approx(0.1)
    assert metrics["mean_relative_error"] == pytest.approx((0.1 + 0.3 + 0) / 3)
    assert metrics["mean_absolute_error"] == pytest.approx((10 + 6 + 3 + 0) / 4)
    assert metrics["coverage"] == pytest.approx(2 / 4)
    assert Measured(lines).metrics(0.2)["numbers"] == 2


def test_intervals_of_a_pool_cover(table: pa.Table, truth: Truth) -> None:
    """20 publications of 20 counts: the coverage of 95% intervals lies in 0.90 to 0.99. The spread of the mean over 20
    independent publications is below 0.01, so that a false alarm is rarer than 1e-5."""
    workload = Workload.sql(
        [f"SELECT disease, {c}, COUNT(*) AS n FROM release GROUP BY disease, {c}" for c in ("sex", "smoker")]
    )
    shares = [
        measure(
            publish_openly(table, sensitive="disease", domains={"disease": DISEASES}, retain=0.5, seed=seed),
            truth,
            workload,
        ).metrics()["coverage"]
        for seed in range(20)
    ]
    assert 0.90 < np.mean(shares) < 0.99


def test_no_pool_without_a_count_above_the_floor(truth: Truth) -> None:
    with pytest.raises(ParameterError, match="lower the floor"):
        Workload.counts(truth, floor=0.9)
    with pytest.raises(ParameterError, match="conditions"):
        Workload.counts(truth, dimensions=(7,))


def test_records_kept_are_those_to_be_expected(patients: pa.Table) -> None:
    """3,000 rows that their cost and age tell apart: the measured share is binomial, 5 standard errors are 0.045."""
    table = patients.select(["cost", "age", "disease"])
    for how in ({"retain": 0.5}, {"mechanism": "partitioned", "rho2": 0.6}):
        release = publish_openly(table, sensitive="disease", domains={"disease": DISEASES}, seed=4, **how)
        (found,) = records(release, table)
        assert found.rows > 2900
        assert found.measured == pytest.approx(found.expected, abs=0.045)


def test_a_reconstruction_is_near_and_a_shifted_one_is_far(table: pa.Table) -> None:
    """At retention 0.9 and 3,000 rows a share is off by about 0.004; distances stay below ten times that."""
    release = publish_openly(
        table,
        sensitive=["disease", "visits"],
        domains={"disease": DISEASES, "visits": {"low": 0, "high": 10}},
        retain=0.9,
        seed=3,
    )
    disease, visits = reconstruction(release, table)
    assert disease.total_variation < 0.04
    assert disease.hellinger < 0.04
    assert math.isnan(disease.earth_movers)
    assert 0 < visits.earth_movers < 0.4
    moved = table.set_column(1, "disease", pa.array(["hiv"] * 3000))
    far, _ = reconstruction(release, moved)
    assert far.total_variation > 0.9
    assert far.kullback_leibler > 2
