"""Shaped replacement: the closed form keeps both bounds, and no single retention is larger."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import scumble
from scumble import Channel
from scumble.core.channel_base import Vector
from scumble.core.errors import ParameterError
from scumble.mechanisms.shaped_channel import shape
from scumble.privacy import posteriors

CENSUS = Path(__file__).parents[3] / "shared" / "data" / "census_occ.parquet"

tables = st.lists(st.integers(0, 400), min_size=3, max_size=30).filter(lambda n: sum(n) > 0)


def test_it_is_a_public_function() -> None:
    assert scumble.mechanisms.shape is shape


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(tables, st.floats(0.05, 0.9), st.floats(1.5, 50))
def test_nobody_who_believes_the_frequencies_believes_more_than_rho(
    counts: list[int], rho: float, gamma: float
) -> None:
    """The exact posteriors of all protected values, whatever is seen; and the factor for any belief. Both are reached."""
    channel, f = shape(counts, rho, gamma), np.array(counts) / sum(counts)
    after = posteriors(channel, f)
    protected = f < rho
    assert np.nanmax(after[:, protected], initial=0) <= rho + 1e-12
    assert channel.amplification <= gamma * (1 + 1e-12)
    own = np.diag(after)[protected & (f > 0)]
    assert np.isclose(own, rho).any() or np.isclose(channel.amplification, gamma)


@settings(max_examples=60, deadline=None)
@given(tables, st.floats(0.05, 0.9), st.floats(1.5, 50), st.floats(1.0001, 1.2))
def test_no_larger_retention_keeps_the_bounds(counts: list[int], rho: float, gamma: float, more: float) -> None:
    """Whatever the replacements: one value has too little of them then, because they sum to 1."""
    channel, f = shape(counts, rho, gamma), np.array(counts) / sum(counts)
    larger = float(channel.retain) * more
    assume(larger < 1)
    least = (1 - channel.retain) / channel.retain * channel.replace  # a of each value
    assert (larger / (1 - larger) * least).sum() > 1
    wrong = Channel(larger, channel.replace)
    after = np.diag(posteriors(wrong, f))[(f < rho) & (f > 0)]
    assert wrong.amplification > gamma * (1 + 1e-6) or np.nanmax(after, initial=0) > rho + 1e-9


def test_without_a_factor_other_beliefs_are_unbounded() -> None:
    assert shape([50, 30, 20, 0], "3/5").amplification == np.inf
    assert shape([50, 30, 20, 0], "3/5", gamma=7).amplification == pytest.approx(7)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"counts": [1], "rho2": 0.5}, "two values or more"),
        ({"counts": [1, -1], "rho2": 0.5}, "none negative"),
        ({"counts": [1, 1], "rho2": 1.5}, "between 0 and 1"),
        ({"counts": [1, 1], "rho2": 0.2}, "all would be published as they are"),
        ({"counts": [1, 1], "rho2": 0.6, "gamma": 1}, "above 1"),
    ],
)
def test_what_cannot_be_shaped_is_refused(how: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        shape(**how)


def standard_errors(channel: Channel, counts: Vector) -> Vector:
    """Of the count of each value."""
    return np.sqrt(np.array([counts @ channel.variance(own) for own in np.eye(len(counts))]))


@pytest.mark.skipif(not CENSUS.exists(), reason="the data set is not here")
@pytest.mark.parametrize(
    ("gamma", "retain", "rms", "median"),
    [(20, 0.123, 0.244, 0.143), (10, 0.106, 0.267, 0.168), (5, 0.071, 0.358, 0.297)],
)
def test_the_occupations_of_the_census(gamma: float, retain: float, rms: float, median: float) -> None:
    """46 values at rho = 1/6: retention, and standard errors against uniform replacement at the same rho."""
    _, counts = np.unique(pq.read_table(CENSUS, columns=["occupation"]).column(0).to_numpy(), return_counts=True)
    n = counts.astype(np.float64)
    uniform = Channel.from_rho(len(n), n.max() / n.sum(), "1/6")
    channel = shape(n, "1/6", gamma)
    assert uniform.retain == pytest.approx(0.0226, abs=5e-5)
    assert channel.retain == pytest.approx(retain, abs=6e-4)
    ours, theirs = standard_errors(channel, n), standard_errors(uniform, n)
    mean_square = np.average(ours**2, weights=n) / np.average(theirs**2, weights=n)
    assert np.sqrt(mean_square) == pytest.approx(rms, abs=5e-4)
    assert np.median(ours / theirs) == pytest.approx(median, abs=5e-4)
