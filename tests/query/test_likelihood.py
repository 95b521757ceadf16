"""The maximum of the likelihood is one: non-negative, of the right total, certified, the same by every way and from every start."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from scumble import Channel
from scumble.core.errors import ParameterError
from scumble.query import kronecker, likelihood
from scumble.query.likelihood import maximize, plain


def matrix(channels):
    whole = np.eye(1)
    for channel in channels:
        whole = np.kron(whole, channel.matrix())
    return whole


def log_likelihood(x, y, channels):
    seen = np.ravel(y) > 0
    return float((np.ravel(y)[seen] * np.log((matrix(channels) @ np.ravel(x))[seen])).sum())


def published(seed, channels, rows, sparse=False):
    """Counts of a random table, published; with `sparse` only a few states are inhabited."""
    rng = np.random.default_rng(seed)
    size = math.prod(c.size for c in channels)
    truth = rng.dirichlet(np.full(size, 0.05 if sparse else 1.0))
    return rng.multinomial(rows, matrix(channels) @ truth).reshape([c.size for c in channels]).astype(float)


channel = st.builds(
    lambda retain, weights: Channel(retain, np.array(weights) / sum(weights)),
    st.floats(0.15, 0.95),
    st.lists(st.floats(0.05, 1), min_size=2, max_size=4),
)
CASES = {
    "two columns": [Channel(0.3, size=3), Channel(0.5, [0.7, 0.3])],
    "one retention a value": [Channel([0.2, 0.5, 0.9], [0.2, 0.3, 0.5])],
    "a public column": [Channel(1.0, size=3), Channel(0.4, size=2)],
    "a column of one value": [Channel(0.4, size=1), Channel(0.4, size=2), Channel(0.3, size=2)],
    "one value never retained": [Channel([0.0, 0.5, 0.5], size=3), Channel(0.5, size=2)],
    "four columns": [Channel(0.4, size=2)] * 4,
}


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(channel, min_size=1, max_size=3), st.integers(0, 10**6), st.integers(0, 5000))
def test_the_estimate_is_a_table_of_the_same_total_and_certified(channels, seed, rows):
    y = published(seed, channels, rows)
    found = maximize(y, channels)
    assert found.converged
    assert 0 <= found.gap <= 1e-3
    assert found.counts.shape == y.shape
    assert found.counts.min() >= 0
    assert found.counts.sum() == pytest.approx(rows, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("channels", CASES.values(), ids=CASES)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_gap_is_an_upper_bound_of_what_is_left(channels, sparse):
    """Against the plain iteration driven to 1e-7: neither finds more than the other's gap."""
    for seed in range(5):
        y = published(seed, channels, 400, sparse)
        reference = plain(y, channels, gap=1e-7, limit=200_000)
        for gap in (1.0, 1e-3, 1e-6):
            found = maximize(y, channels, gap=gap)
            left = log_likelihood(reference.counts, y, channels) - log_likelihood(found.counts, y, channels)
            assert left <= found.gap + 1e-8
            assert -left <= reference.gap + 1e-8


def test_a_general_optimiser_finds_nothing_better():
    channels = [Channel(0.3, size=2), Channel(0.4, [0.8, 0.2])]
    y = published(3, channels, 300, sparse=True)
    found = maximize(y, channels, gap=1e-9)
    rival = minimize(
        lambda v: -log_likelihood(300 * np.exp(v) / np.exp(v).sum(), y, channels),
        np.zeros(4),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert log_likelihood(found.counts, y, channels) >= -rival.fun - 1e-9


@pytest.mark.slow
@settings(max_examples=60)
@given(channel, st.integers(0, 10**6), st.integers(1, 5000))
def test_the_closed_form_of_one_column_is_where_the_iteration_goes(one, seed, rows):
    y = published(seed, [one], rows, sparse=True)
    closed = maximize(y, [one])
    iterated = likelihood._newton(y, kronecker.Axes([one]), 1e-7, np.full(one.size, rows / one.size))
    assert closed.method == "closed form"
    assert closed.iterations == 0
    assert closed.gap <= 1e-9 * rows
    assert iterated.gap <= 1e-7
    assert log_likelihood(closed.counts, y, [one]) == pytest.approx(
        log_likelihood(iterated.counts, y, [one]), abs=2e-7 + 1e-9 * rows
    )


def test_an_extrapolation_that_wanders_does_not_stop_the_rest():
    """On this table SQUAREM goes back and forth for ever; what follows it finds the maximum."""
    y, channel = np.array([143.0, 32.0]), Channel(0.2, [0.8, 0.2])
    operator = kronecker.Halves([channel], [])
    start = np.full((2, 1), y.sum() / 2)
    assert not likelihood._squarem(y.reshape(2, 1), operator, 1e-9, start, 10_000).converged
    found = likelihood._iterated(y.reshape(2, 1), operator, 1e-6, start)
    assert found.method == "newton"
    np.testing.assert_allclose(found.counts.ravel(), maximize(y, [channel]).counts, atol=0.05)


def test_worked_figures():
    """MATHS 10: (30, 35, 35) is solved by (0, 50, 50); (50, 30, 20) would need (200, 0, -100), and the maximum is a corner."""
    channel = Channel.from_rho(3, "1/5", "1/4")
    np.testing.assert_allclose(maximize([30, 35, 35], [channel]).counts, [0, 50, 50], atol=1e-9)
    np.testing.assert_allclose(maximize([50, 30, 20], [channel]).counts, [100, 0, 0], atol=1e-9)


@pytest.mark.parametrize("channels", CASES.values(), ids=CASES)
def test_where_the_unbiased_table_is_not_negative_it_is_the_maximum(channels):
    truth = np.arange(1.0, math.prod(c.size for c in channels) + 1).reshape([c.size for c in channels])
    y = (matrix(channels) @ truth.ravel()).reshape(truth.shape)
    found = maximize(y, channels)
    np.testing.assert_allclose(found.counts, truth, atol=1e-9)
    assert found.method == "closed form"


@pytest.mark.parametrize("columns", [3, 6])
def test_the_start_does_not_matter(columns):
    channels = [Channel(0.5, [0.7, 0.3])] * columns
    y, rng = published(5, channels, 3000, sparse=True), np.random.default_rng(1)
    ends = [maximize(y, channels, gap=1e-8, start=rng.gamma(0.3, size=y.shape) + 1e-9).counts for _ in range(4)]
    ends.append(maximize(y, channels, gap=1e-8).counts)
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=0.05)


def test_started_from_the_published_counts_the_plain_rule_would_miss_the_maximum():
    """A state that starts at 0 stays at 0, so such a start is refused."""
    with pytest.raises(ParameterError, match="a state that starts at 0 stays at 0"):
        maximize([[3, 0], [1, 1]], [Channel(0.5, size=2)] * 2, start=[[3, 0], [1, 1]])


@pytest.mark.parametrize("retain", [0.3, 0.4, 0.7])
@pytest.mark.parametrize("rows", [3000, 1_000_000])
def test_eight_columns_reach_the_gap_where_acceleration_alone_does_not(retain, rows):
    channels = [Channel(retain, size=2)] * 8
    y = published(1, channels, rows, sparse=True)
    found = maximize(y, channels)
    assert found.converged
    g = matrix(channels).T @ (y.ravel() / (matrix(channels) @ found.counts.ravel()))
    assert rows * (g.max() - 1) == pytest.approx(found.gap, abs=1e-6)


@pytest.mark.slow
def test_newton_and_squarem_agree():
    channels = [Channel(0.6, size=2)] * 5
    y = published(2, channels, 20_000, sparse=True)
    start = np.full(y.shape, 20_000 / y.size)
    operator = kronecker.Axes(channels)
    newton = likelihood._newton(y, operator, 1e-7, start)
    squarem = likelihood._squarem(y, operator, 1e-6, start, 100_000)
    assert newton.converged
    assert squarem.converged
    np.testing.assert_allclose(newton.counts, squarem.counts, atol=0.5)


@pytest.mark.parametrize("channels", CASES.values(), ids=CASES)
def test_halves_and_axes_are_the_same_operator(channels):
    size = [c.size for c in channels]
    x = np.random.default_rng(0).random(size)
    axes = kronecker.Axes(channels)
    for cut in range(1, len(size) + 1):
        halves = kronecker.Halves(channels[:cut], channels[cut:])
        square = x.reshape(halves.shape)
        for name in ("forward", "back", "back_squares", "solve"):
            np.testing.assert_allclose(getattr(halves, name)(square).reshape(size), getattr(axes, name)(x), atol=1e-9)


def test_values_that_cannot_be_told_apart_still_have_a_maximum():
    channels = [Channel([0.0, 0.0, 0.6], size=3)]
    found = maximize([30, 40, 50], channels)
    assert found.converged
    assert found.counts[0] == pytest.approx(found.counts[1])


def test_an_empty_table_is_its_own_estimate():
    found = maximize(np.zeros((2, 2)), [Channel(0.5, size=2)] * 2)
    assert found.counts.tolist() == [[0, 0], [0, 0]]
    assert found.converged
    assert plain(np.zeros(2), [Channel(0.5, size=2)]).converged


@pytest.mark.parametrize(
    ("y", "channels", "options", "message"),
    [
        ([1, 2], [Channel(0.5, size=3)], {}, "do not fit channels of sizes"),
        ([1, -2], [Channel(0.5, size=2)], {}, "not negative; the smallest here is -2"),
        ([1, math.nan], [Channel(0.5, size=2)], {}, "finite"),
        ([1, 2], [Channel(0.5, size=2)], {"gap": 0}, "gap must be above 0"),
        ([1, 2], [Channel(0.5, size=2)], {"start": [1, 0]}, "start must be positive"),
        ([1, 2], [Channel([0.5, 0.0], [1.0, 0.0])], {}, r"values \[1\] of axis 0 cannot be published"),
    ],
)
def test_wrong_use_is_named(y, channels, options, message):
    with pytest.raises(ParameterError, match=message):
        maximize(y, channels, **options)
