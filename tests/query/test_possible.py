"""Answers that are cut to what is possible lie there, hold the truth where the interval did, and are never a single point."""

import numpy as np
import pyarrow as pa
import pytest

import scumble
from scumble.query.estimates import Estimate, Estimates
from scumble.query.possible import cut_to

ASKED = [
    "SELECT age // 4 AS a, disease, COUNT(*) AS n, AVG(visits) AS v FROM release GROUP BY a, disease",
    "SELECT age // 4 AS a, disease, COUNT(*) FILTER (WHERE smoker) AS n, AVG(visits * 2) AS v FROM release GROUP BY a, disease",
]


@pytest.mark.parametrize("sql", ASKED)
def test_what_is_cut_lies_within_group_sizes_and_domains(sql: str, release: scumble.Release) -> None:
    free, cut = release.query(sql), release.query(sql, possible=True)
    assert (free["n"].low < 0).any()
    most = 20 if "FILTER" in sql else 10
    for name, low, high in (("n", 0, 3000), ("v", 0, most)):
        e = cut[name]
        some = np.isfinite(e.value)
        assert np.all((e.low[some] >= low) & (e.high[some] <= high) & (e.value[some] >= low) & (e.value[some] <= high))
        assert np.all(e.low[some] < e.high[some])
    assert np.isfinite(cut["v"].low).all()
    inside = (free["n"].low >= 0) & (free["n"].value >= 0)
    assert np.array_equal(cut["n"].value[inside], free["n"].value[inside])


def test_nothing_left_is_no_point() -> None:
    far = Estimate(
        "n", np.array([-30.0, 130.0]), np.full(2, 10.0), np.array([-50.0, 110.0]), np.array([-10.0, 150.0]), "unbiased"
    )
    answer = Estimates(["n"], pa.table({}), [far], 0.95, [])
    (e,) = cut_to(answer, {"n": (np.zeros(2), np.full(2, 100.0))}).estimates
    assert e.value.tolist() == [0, 100]
    assert e.low.tolist() == [0, 80]
    assert e.high.tolist() == [20, 100]
