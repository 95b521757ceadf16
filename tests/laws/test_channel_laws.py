"""The laws of channels, for every kind that there is and for those of every registered mechanism."""

import numpy as np
import pytest
from laws.registered import MECHANISMS, example_of

import scumble
from scumble.core.channel import Channel
from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.coins import BaseCoins, Coins, spread
from scumble.core.design import Design
from scumble.core.design_coins import DesignCoins
from scumble.core.difference_set import one_place, singer
from scumble.core.mixture_choice import best_mixture
from scumble.core.mixture_coins import MixtureCoins
from scumble.core.mixture_level import LevelPart
from scumble.core.mixture_part import Numbers
from scumble.core.mixture_window import WindowPart
from scumble.mechanisms.shaped_channel import shape
from scumble.release.records import ChannelRecord, record_of
from scumble.release.release import Release

KINDS: dict[str, BaseChannel] = {
    "one retention": Channel(0.3, size=5),
    "a retention for each value": Channel([0.2, 0.5, 0.9]),
    "replacements that are given": Channel(0.4, [0.1, 0.2, 0.7]),
    "both": Channel([0.2, 0.5, 0.9], [0.1, 0.2, 0.7]),
    "a value that is never retained": Channel([0.0, 0.5, 0.25, 0.5]),
    "nearly all is kept": Channel(1 - 2.0**-30, size=3),
    "of a factor": Channel.from_gamma(7, 3),
    "of an epsilon": Channel.from_epsilon(2, 0.1),
    "of a pair": Channel.from_rho(9, "1/13", "1/6"),
    "shaped": shape([40, 30, 20, 10, 0], "1/2", gamma=9),
    "shaped, a retention each": shape([40, 30, 20, 10, 1], "1/2", 9, objective="error", weights=[1, 2, 4, 16, 1600]),
    "a design that is full": Design(7, 2, singer(2, 3)),
    "a design with room": Design(46, 2.06),
    "a design of a power": Design(40, 5),
    "a design that is uniform": Design(14, 9),
    "a mixture": best_mixture(Numbers(74), 3.0),
    "a mixture with a missing value": best_mixture(Numbers(23, missing=True), 2.0),
    "a mixture for sums": best_mixture(Numbers(50), 1.5, ("sum",)),
    "a mixture of few numbers": best_mixture(Numbers(4, missing=True), 6.0),
}


def channels_of(release: Release) -> list[BaseChannel]:
    """The channels of a release, as its manifest has them; replacements of a column's own are drawn from some shares."""
    found: list[BaseChannel] = []
    for column in release.manifest.columns:
        for record in column.records:
            assert column.domain is not None
            size = column.values.size
            shares = np.arange(1.0, record.size + 1)
            found.append(record.channel(size, shares / shares.sum()))
    return found


def demand_laws(channel: BaseChannel) -> None:
    """What every channel is."""
    matrix, counts = channel.matrix(), np.arange(1.0, channel.size + 1)
    assert matrix.shape == (channel.codes, channel.size)
    assert matrix.min() >= 0
    np.testing.assert_allclose(matrix.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(channel.apply(counts), matrix @ counts, rtol=1e-12)
    values = counts**2 - counts[1]
    by_code = np.arange(1.0, channel.codes + 1) ** 2
    np.testing.assert_allclose(channel.expect(by_code), matrix.T @ by_code, rtol=1e-12)
    np.testing.assert_allclose(channel.solve(channel.apply(counts)), counts, rtol=1e-6)
    np.testing.assert_allclose(matrix.T @ channel.weights(values), values, rtol=1e-6)
    if not len(channel.never_retained):
        demand_one_estimator(channel, by_code)
    demand_amplification(channel, matrix)
    demand_beliefs(channel, matrix)


def demand_one_estimator(channel: BaseChannel, published: Vector) -> None:
    """`solve` and `solve_squares` are the sums of the weights of each value, and those of all values are 1."""
    phi = channel.weights(np.eye(channel.size))
    scale = np.abs(phi).max() * published.sum()
    np.testing.assert_allclose(channel.solve(published), phi.T @ published, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(channel.solve_squares(published), (phi**2).T @ published, rtol=1e-6)
    np.testing.assert_allclose(channel.weights(np.ones(channel.size)), 1, rtol=1e-9)
    own = np.eye(channel.size)[0]
    np.testing.assert_allclose(
        channel.variance(own), channel.matrix().T @ phi[:, 0] ** 2 - own, rtol=1e-6, atol=1e-9 * np.abs(phi).max() ** 2
    )


def demand_beliefs(channel: BaseChannel, matrix: Vector) -> None:
    """What is believed after a code is Bayes' rule, however it was computed."""
    prior = np.random.default_rng(1).dirichlet(np.full(channel.size, 0.5))
    joint = matrix * prior
    np.testing.assert_allclose(channel.likeliest(prior)[1], joint.max(axis=1), rtol=1e-9)
    rows = np.arange(channel.codes)
    np.testing.assert_allclose(joint[rows, channel.likeliest(prior)[0]], joint.max(axis=1), rtol=1e-9)
    after = channel.posteriors(prior)
    largest, smallest = channel.posterior_range(prior)
    np.testing.assert_allclose(largest, np.nanmax(after, axis=0), rtol=1e-9)
    np.testing.assert_allclose(smallest, np.nanmin(after, axis=0), rtol=1e-9)
    codes, values = np.meshgrid(rows, np.arange(channel.size), indexing="ij")
    np.testing.assert_allclose(channel.likelihood(codes, values), matrix, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(channel.expect_squares(rows + 1.0), (matrix**2).T @ (rows + 1.0), rtol=1e-9)
    low, high = channel.extremes()
    assert np.all(low <= matrix.min(axis=1) * (1 + 1e-9))
    assert np.all(high >= matrix.max(axis=1) * (1 - 1e-9))
    singular = np.linalg.svd(matrix, compute_uv=False)
    known = channel.singular_values()
    np.testing.assert_allclose([known.max(), known.min()], [singular.max(), singular.min()], rtol=1e-4, atol=1e-12)


def demand_amplification(channel: BaseChannel, matrix: Vector) -> None:
    """gamma is the largest ratio within a row."""
    seen = matrix[matrix.max(axis=1) > 0]
    least = seen.min(axis=1)
    ratio = np.inf if np.any(least == 0) else float((seen.max(axis=1) / least).max())
    assert channel.amplification == pytest.approx(ratio, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_channel_is_one(kind: str) -> None:
    """Columns sum to 1; `apply` and `expect` are its matrix; `solve` undoes `apply`; `weights` are unbiased."""
    demand_laws(KINDS[kind])


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_channels_of_a_release_are_some(mechanism: str) -> None:
    """Where a sub-table has some values only, the others have no rows and tell nothing: the law is that of its own."""
    for channel in channels_of(example_of(mechanism).release):
        if isinstance(channel, Channel):
            own = np.flatnonzero(channel.replace)
            channel = Channel(channel.retention[own], channel.replace[own])
        demand_laws(channel)


def test_what_is_off_by_a_little_is_no_channel() -> None:
    """The laws themselves can fail."""
    wrong = Channel(0.3, size=5)
    wrong._retain = wrong._retain + np.array([1e-4, 0, 0, 0, 0])
    right = Channel(0.3, size=5)
    wrong.matrix = right.matrix  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        demand_laws(wrong)


def mixture_coins(numbers: Numbers) -> MixtureCoins:
    """Coins of few words, of every kind of part, that fill them all but a few."""
    places = -(-numbers.points // 4) + numbers.missing
    parts = [
        WindowPart(numbers, 3, 2),
        WindowPart(numbers, 1, 1),
        LevelPart(numbers, 1, singer(2, 3)),
        LevelPart(numbers, 4, one_place(places)),
    ]
    return MixtureCoins(parts, [61, 40, 20, 15], 12, 5, 2)


COINS: dict[str, BaseCoins] = {
    "one threshold": Coins(5, 8, np.array([56], np.uint64)),
    "a threshold for each value": Coins(3, 8, np.array([1, 100, 253], np.uint64)),
    "nothing is kept": Coins(4, 8, np.array([0], np.uint64)),
    "given lots": Coins(3, 8, np.array([16], np.uint64), lots=np.array([200, 30, 10], np.uint64)),
    "given lots, a threshold for each value": Coins(
        3, 8, np.array([16, 106, 241], np.uint64), lots=np.array([9, 4, 2], np.uint64)
    ),
    "a design without a remainder": DesignCoins(5, singer(2, 3), 8, 52, 25),
    "a design of one place": DesignCoins(4, one_place(4), 8, 64 + 33, 53),
    "a mixture": mixture_coins(Numbers(6)),
    "a mixture with a missing value": mixture_coins(Numbers(5, missing=True)),
}


@pytest.mark.parametrize("kind", COINS)
def test_what_is_published_is_what_is_applied(kind: str) -> None:
    """Every word there is, once: outcomes come exactly as often as the published channel says."""
    coins = COINS[kind]
    whole = 1 << coins.bits
    words = np.arange(whole, dtype=np.uint64)
    for value in range(coins.size):
        drawn, again = coins.decide(np.full(whole, value, np.uint8), words)
        drawn = drawn[~np.broadcast_to(again, whole)]
        shares = np.bincount(drawn, minlength=coins.channel().codes) / len(drawn)
        np.testing.assert_allclose(shares, coins.channel().matrix()[:, value], rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_manifest_has_the_coins_of_the_plan(mechanism: str) -> None:
    """What a release says was flipped is what was planned, to the bit; and a retention is never rounded up."""
    it = example_of(mechanism)
    planned = scumble.plan(it.toml(it.table.parent)).plan.strata
    told = {column.name: column.records for column in it.release.manifest.columns if column.records}
    if not told:  # mechanisms without perturbed columns have coins of another kind
        return
    for name, records in told.items():
        assert records == [record_of(stratum[name]) for stratum in planned]
        assert all(record.retain == _exact(record) for record in records if isinstance(record, ChannelRecord))
        assert all(
            record.coins(record.size).spelling == s[name].spelling for record, s in zip(records, planned, strict=True)
        )


def _exact(record: ChannelRecord) -> float | list[float]:
    whole = 2.0**record.bits
    kept = record.threshold
    return [t / whole for t in kept] if isinstance(kept, list) else kept / whole


def test_values_that_others_have_are_never_drawn() -> None:
    """A channel on some values of a domain draws these alone, and is a channel on them."""
    channel = spread(Channel([0.25, 0.5]), np.array([0, 2]), 4)
    assert channel.replace.tolist() == [0.5, 0.0, 0.5, 0.0]
    np.testing.assert_allclose(channel.matrix().sum(axis=0), 1)
