"""Counts of true rows and the covariance of what is added up over them: those of ordinary answers, whatever the channel is."""

import numpy as np
import pyarrow as pa
import pytest
from every_mechanism import published
from naming import publish_openly

import scumble
from scumble.core.errors import QueryError, ReleaseError
from scumble.query import reconstruction
from scumble.query.joint import Linear, joint
from scumble.query.terms import ONE

KINDS = ["uniform", "design", "shaped", "identity", "swapped", "fine_grain", "partitioned", "frapp"]


@pytest.mark.parametrize("name", KINDS)
def test_counts_and_their_covariance_are_those_of_answers(name: str, patients: pa.Table) -> None:
    release = published(name, patients, seed=4)
    rows = release.reconstruct("SELECT sex, disease, COUNT(*) AS n FROM release WHERE smoker OR sex = 'F' GROUP BY ALL")
    answer = release.query(
        "SELECT sex, disease, SUM(1) AS n FROM release WHERE smoker OR sex = 'F' GROUP BY ALL ORDER BY sex"
    )
    sexes, diseases = rows.values("sex")[0].to_pylist(), rows.values("disease")[0].to_pylist()
    expected = {(line["sex"], line["disease"]): line for line in answer}
    counts = rows.counts()
    for g, sex in enumerate(sexes):

        def scores(some: slice, g: int = g) -> np.ndarray:
            s = np.zeros((len(sexes), len(diseases), len(diseases)))
            s[g] = np.eye(len(diseases))
            return s[some]

        covariance = rows.covariance(scores, len(diseases))
        for k, disease in enumerate(diseases):
            assert counts[g, k] == pytest.approx(expected[sex, disease]["n"], abs=1e-6)
            assert np.sqrt(max(covariance[k, k], 0)) == pytest.approx(
                expected[sex, disease]["n_se"], rel=1e-6, abs=1e-4
            )


def test_what_sampling_adds_is_that_of_totals(patients: pa.Table) -> None:
    release = published("sps", patients, seed=4)
    rows = release.reconstruct("SELECT disease, COUNT(*) AS n FROM release GROUP BY ALL")
    totals = joint(rows.totals, rows.cells, rows.parts, [Linear({ONE: np.ones((1,) * rows.totals.grid.rank)})])
    variances = np.diag(rows.covariance(lambda some: np.eye(5)[None], 5))
    assert rows.counts() == pytest.approx(totals.values[0], abs=1e-6)
    assert variances == pytest.approx(totals.covariance[0, 0, 0], rel=1e-9)


def test_groups_taken_some_at_a_time_give_the_same(release: scumble.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT age, sex, disease, visits > 5 AS often, COUNT(*) AS n FROM release WHERE NOT smoker GROUP BY ALL"

    def found() -> tuple[np.ndarray, np.ndarray]:
        rows = release.reconstruct(sql)
        s = np.random.default_rng(1).normal(size=(*rows.shape, 3))
        return rows.counts(), rows.covariance(lambda some: s[some], 3)

    whole = found()
    monkeypatch.setattr(reconstruction, "AT_ONCE", 300)
    for one, other in zip(whole, found(), strict=True):
        assert one == pytest.approx(other, rel=1e-9)


def test_bounds_inside_of_steps_are_refused_and_between_them_not(patients: pa.Table) -> None:
    release = publish_openly(
        patients.select(["age", "smoker"]),
        sensitive="smoker",
        domains={"smoker": [False, True]},
        retain=0.5,
        seed=1,
        coarsen={"age": {"bins": 10}},
    )
    with pytest.raises(QueryError, match="between steps"):
        release.reconstruct("SELECT smoker, COUNT(*) AS n FROM release WHERE age > 25 GROUP BY ALL")
    with pytest.raises(QueryError, match="between steps"):
        release.reconstruct("SELECT age > 25 AS old, COUNT(*) AS n FROM release GROUP BY ALL")
    rows = release.reconstruct("SELECT age, smoker, COUNT(*) AS n FROM release WHERE age >= 30 GROUP BY ALL")
    assert rows.values("age")[0].to_pylist() == [30, 40, 50, 60, 70, 80, 90]


def test_what_has_no_perturbed_rows_or_too_many_values_is_refused(
    patients: pa.Table, release: scumble.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ReleaseError, match="no perturbed rows"):
        published("anatomy", patients).reconstruct("SELECT sex, COUNT(*) AS n FROM release GROUP BY ALL")
    monkeypatch.setattr(reconstruction, "MOST_COUNTS", 100)
    with pytest.raises(QueryError, match="round public numbers"):
        release.reconstruct("SELECT age, disease, COUNT(*) AS n FROM release GROUP BY ALL")
    monkeypatch.setattr(reconstruction, "MOST_CELLS", 10)
    with pytest.raises(QueryError, match="disease 5, visits 11"):
        release.reconstruct("SELECT disease, visits, COUNT(*) AS n FROM release GROUP BY ALL")
