"""Laws of a channel, for every way to make one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble import Channel
from scumble.core.channel import IndistinguishableValues
from scumble.core.errors import ParameterError

sizes = st.integers(2, 30)
shares = st.floats(0.01, 0.99)


@st.composite
def retained(draw: st.DrawFn) -> Channel:
    return Channel(draw(shares), size=draw(sizes))


@st.composite
def per_value(draw: st.DrawFn) -> Channel:
    size = draw(sizes)
    retain = draw(st.lists(shares, min_size=size, max_size=size))
    weights = np.array(draw(st.lists(st.floats(0.05, 1), min_size=size, max_size=size)))
    return Channel(retain, weights / weights.sum())


@st.composite
def one_never_retained(draw: st.DrawFn) -> Channel:
    size = draw(sizes)
    retain = draw(st.lists(shares, min_size=size, max_size=size))
    retain[draw(st.integers(0, size - 1))] = 0.0
    return Channel(retain)


@st.composite
def from_gamma(draw: st.DrawFn) -> Channel:
    return Channel.from_gamma(draw(sizes), draw(st.floats(1.05, 1e4)))


@st.composite
def from_epsilon(draw: st.DrawFn) -> Channel:
    return Channel.from_epsilon(draw(sizes), draw(st.floats(0.05, 9)))


@st.composite
def from_rho(draw: st.DrawFn) -> Channel:
    low = draw(st.floats(0.01, 0.5))
    return Channel.from_rho(draw(sizes), low, draw(st.floats(low + 0.02, 0.98)))


channels = st.one_of(retained(), per_value(), one_never_retained(), from_gamma(), from_epsilon(), from_rho())


@pytest.mark.slow
@given(channels)
def test_columns_are_distributions(channel: Channel) -> None:
    assert np.allclose(channel.matrix().sum(axis=0), 1)
    assert (channel.matrix() >= 0).all()


@pytest.mark.slow
@given(channels, st.integers(0, 2**32 - 1))
def test_apply_solve_and_expect_are_the_matrix(channel: Channel, seed: int) -> None:
    x = np.random.default_rng(seed).uniform(0, 100, channel.size)
    P = channel.matrix()
    assert np.allclose(channel.apply(x), P @ x)
    assert np.allclose(channel.expect(x), P.T @ x)
    assert np.allclose(channel.apply(channel.solve(x)), x, atol=1e-6 * np.abs(channel.solve(x)).max())


@pytest.mark.slow
@given(channels, st.integers(0, 2**32 - 1))
def test_weights_are_unbiased_for_every_true_value(channel: Channel, seed: int) -> None:
    h = np.random.default_rng(seed).normal(size=channel.size)
    phi = channel.weights(h)
    assert np.allclose(channel.matrix().T @ phi, h, atol=1e-9 * max(1, np.abs(phi).max()))


@pytest.mark.slow
@given(channels)
def test_squares_are_those_of_the_inverse(channel: Channel) -> None:
    t = np.arange(1.0, channel.size + 1)
    inverse = np.linalg.inv(channel.matrix())
    assert np.allclose(channel.solve_squares(t), inverse**2 @ t, rtol=1e-6)


@pytest.mark.slow
@given(channels)
def test_amplification_is_the_largest_ratio_within_a_row(channel: Channel) -> None:
    P = channel.matrix()
    rows = [(row.max(), row.min()) for row in P if row.max() > 0]
    dense = max(math.inf if low == 0 else high / low for high, low in rows)
    assert channel.amplification == pytest.approx(dense, rel=1e-9)
    assert channel.epsilon == pytest.approx(math.log(dense), rel=1e-9, abs=1e-12)


@given(st.integers(2, 200), st.floats(1.01, 1e5))
def test_from_gamma_spends_all_of_gamma(size: int, gamma: float) -> None:
    assert Channel.from_gamma(size, gamma).amplification == pytest.approx(gamma, rel=1e-9)


@settings(max_examples=30)
@given(per_value(), st.integers(0, 2**32 - 1))
def test_a_collapsed_channel_is_the_channel_between_cells(channel: Channel, seed: int) -> None:
    uniform = Channel(channel.retention[0], channel.replace)
    cells = np.random.default_rng(seed).integers(0, 3, channel.size)
    _, cells = np.unique(cells, return_inverse=True)
    count = int(cells.max()) + 1
    member = np.eye(count)[cells]
    expected = member.T @ uniform.matrix() / 1
    collapsed = uniform.collapse(cells, count).matrix()
    for value in range(channel.size):
        assert np.allclose(collapsed[:, cells[value]], expected[:, value])


def test_worked_figures_of_uniform_perturbation() -> None:
    channel = Channel.from_rho(3, "1/5", "1/4")
    assert np.allclose(channel.matrix(), 0.3 + 0.1 * np.eye(3))
    assert np.allclose(channel.solve([30, 35, 35]), [0, 50, 50])
    assert np.allclose(channel.solve([50, 30, 20]), [200, 0, -100])


def test_several_values_that_are_never_retained() -> None:
    """h must be constant on them; then the weights are still unbiased, and equal on them."""
    channel = Channel([0.5, 0.0, 0.0, 0.3])
    phi = channel.weights([2.0, 1.0, 1.0, 5.0])
    assert np.allclose(channel.matrix().T @ phi, [2, 1, 1, 5])
    assert phi[1] == phi[2]
    with pytest.raises(IndistinguishableValues, match="1, 2"):
        channel.weights([0, 1, 0, 0])
    with pytest.raises(IndistinguishableValues):
        channel.solve([1, 2, 3, 4])


def test_values_that_are_never_published_leave_a_trace_or_an_error() -> None:
    channel = Channel([0.5, 0.0, 0.5], [0.5, 0.0, 0.5])
    assert np.allclose(channel.matrix().T @ channel.weights([1, 0.5, 0]), [1, 0.5, 0])
    with pytest.raises(IndistinguishableValues):
        channel.weights([1, 0, 0])


def test_unbounded_amplification() -> None:
    assert Channel(1.0, size=3).amplification == math.inf
    assert Channel([0.5, 0.5], [1.0, 0.0]).amplification == math.inf
    assert Channel(0.0, size=3).amplification == 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Channel(1.5, size=3),
        lambda: Channel(-0.1, size=3),
        lambda: Channel(0.5),
        lambda: Channel([0.5, 0.5], size=3),
        lambda: Channel(0.5, [0.5, 0.6]),
        lambda: Channel(float("nan"), size=3),
        lambda: Channel.from_gamma(3, 1),
        lambda: Channel.from_epsilon(3, 0),
        lambda: Channel.from_rho(3, 0.5, 0.5),
        lambda: Channel.from_rho(3, 0, 0.5),
        lambda: Channel(0.5, size=3).apply([1, 2]),
    ],
)
def test_numbers_outside_their_range_are_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ParameterError):
        make()
