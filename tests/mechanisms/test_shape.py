"""Shaped replacement: the closed form keeps both bounds, and no single retention is larger."""

from typing import Any

import numpy as np
import pytest
from channel_errors import by_parts, standard_errors
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import scumble
from scumble import Channel
from scumble.core.errors import ParameterError
from scumble.mechanisms import fine_grain, partition
from scumble.mechanisms.channel_utility import expected_error, record_utility
from scumble.mechanisms.shaped_channel import factors, shape
from scumble.privacy import posteriors
from scumble.privacy.values import rise

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


@settings(max_examples=60, deadline=None)
@given(tables, st.floats(0.05, 0.9), st.floats(1.5, 50), st.data())
def test_no_single_retention_is_more_exact(counts: list[int], rho: float, gamma: float, data: st.DataObject) -> None:
    """Whatever else keeps the bounds has a larger variance, for every function and every true value."""
    channel = shape(counts, rho, gamma)
    least = (1 - channel.retain) / channel.retain * channel.replace
    size = len(counts)
    more = least * (1 + np.array(data.draw(st.lists(st.floats(0, 3), min_size=size, max_size=size))))
    other = Channel(1 / (1 + more.sum()), more / more.sum())
    h = np.array(data.draw(st.lists(st.floats(-5, 5), min_size=size, max_size=size)))
    assert np.all(other.variance(h) >= channel.variance(h) * (1 - 1e-9) - 1e-6)


@settings(max_examples=25, deadline=None)
@given(tables, st.floats(0.1, 0.9), st.floats(2, 50), st.data())
def test_a_retention_each_keeps_the_factors_and_is_no_worse(
    counts: list[int], rho: float, gamma: float, data: st.DataObject
) -> None:
    size, n = len(counts), np.array(counts, float)
    weights = np.array(data.draw(st.lists(st.floats(0.01, 100), min_size=size, max_size=size)))
    bounds = factors(n / n.sum(), rho, gamma)
    one, each = shape(counts, rho, gamma), shape(counts, rho, gamma, objective="error", weights=weights)
    assert np.all(rise(each) <= bounds * (1 + 1e-9))
    assert expected_error(each, n, weights=weights) <= expected_error(one, n, weights=weights) * (1 + 1e-9)


def test_single_values_can_have_beliefs_of_their_own() -> None:
    """One rho2 for each value, or pairs for some; the thesis' tolerance theta = 3 is rho2 = 3 f."""
    n = np.array([4, 4, 3, 2, 1])
    f = n / n.sum()
    own = shape(n, 3 * f)
    assert np.diag(posteriors(own, f)) == pytest.approx(3 * f)
    assert own.retain == pytest.approx(0.5)
    pair = shape(n, 0.9, 50, pairs={4: (1 / 14, 3 / 14)})
    assert posteriors(pair, f)[4, 4] == pytest.approx(3 / 14)


def test_on_the_tables_of_the_thesis() -> None:
    """Standard errors of counts: against sub-tables (12, 8, 6, ...), and against a retention for each value (4, 4, 3, 2, 1) by the records that are kept."""
    n = np.array([12, 8, 6, 5, 4, 3, 1, 1, 1, 1], float)
    parts = partition(n, "1/3", "2/3")
    ours = standard_errors(shape(n, "2/3", 20), n)
    assert np.median(ours / by_parts(parts)) < 1
    fine = fine_grain([4, 4, 3, 2, 1], theta=3)
    own = shape([4, 4, 3, 2, 1], 3 * np.array([4, 4, 3, 2, 1]) / 14)
    assert record_utility(fine, [4, 4, 3, 2, 1]) == pytest.approx(0.5738, abs=5e-5)
    assert record_utility(own, [4, 4, 3, 2, 1]) == pytest.approx(0.5740, abs=5e-5)
    few = np.array([4, 4, 3, 2, 1], float)
    assert standard_errors(own, few).mean() < standard_errors(fine, few).mean()
