"""The laws of channels, for every kind that there is and for those of every registered mechanism."""

import numpy as np
import pytest
from laws.registered import MECHANISMS, example_of

import scumble
from scumble.core.channel import Channel
from scumble.core.coins import Coins, spread
from scumble.release.records import ChannelRecord
from scumble.release.release import Release

KINDS: dict[str, Channel] = {
    "one retention": Channel(0.3, size=5),
    "a retention for each value": Channel([0.2, 0.5, 0.9]),
    "replacements that are given": Channel(0.4, [0.1, 0.2, 0.7]),
    "both": Channel([0.2, 0.5, 0.9], [0.1, 0.2, 0.7]),
    "a value that is never retained": Channel([0.0, 0.5, 0.25, 0.5]),
    "nearly all is kept": Channel(1 - 2.0**-30, size=3),
    "of a factor": Channel.from_gamma(7, 3),
    "of an epsilon": Channel.from_epsilon(2, 0.1),
    "of a pair": Channel.from_rho(9, "1/13", "1/6"),
}


def channels_of(release: Release) -> list[Channel]:
    """The channels of a release, as its manifest has them; replacements of a column's own are drawn from some shares."""
    found = []
    for column in release.manifest.columns:
        for record in column.records:
            assert column.domain is not None
            size = column.domain.domain(column.type).size
            shares = np.arange(1.0, record.size + 1)
            found.append(record.channel(size, shares / shares.sum()))
    return found


def demand_laws(channel: Channel) -> None:
    """What every channel is."""
    matrix, counts = channel.matrix(), np.arange(1.0, channel.size + 1)
    assert matrix.min() >= 0
    np.testing.assert_allclose(matrix.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(channel.apply(counts), matrix @ counts, rtol=1e-12)
    values = counts**2 - counts[1]
    np.testing.assert_allclose(channel.expect(values), matrix.T @ values, rtol=1e-12)
    np.testing.assert_allclose(channel.solve(channel.apply(counts)), counts, rtol=1e-6)
    np.testing.assert_allclose(matrix.T @ channel.weights(values), values, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_channel_is_one(kind: str) -> None:
    """Columns sum to 1; `apply` and `expect` are its matrix; `solve` undoes `apply`; `weights` are unbiased."""
    demand_laws(KINDS[kind])


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_channels_of_a_release_are_some(mechanism: str) -> None:
    """Where a sub-table has some values only, the others have no rows and tell nothing: the law is that of its own."""
    for channel in channels_of(example_of(mechanism).release):
        own = np.flatnonzero(channel.replace)
        demand_laws(Channel(channel.retention[own], channel.replace[own]))


def test_what_is_off_by_a_little_is_no_channel() -> None:
    """The laws themselves can fail."""
    wrong = Channel(0.3, size=5)
    wrong._retain = wrong._retain + np.array([1e-4, 0, 0, 0, 0])
    right = Channel(0.3, size=5)
    wrong.matrix = right.matrix  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        demand_laws(wrong)


COINS: dict[str, Coins] = {
    "one threshold": Coins(5, 8, np.array([56], np.uint64)),
    "a threshold for each value": Coins(3, 8, np.array([1, 100, 253], np.uint64)),
    "nothing is kept": Coins(4, 8, np.array([0], np.uint64)),
}


@pytest.mark.parametrize("kind", COINS)
def test_what_is_published_is_what_is_applied(kind: str) -> None:
    """Every word there is, once: outcomes come exactly as often as the published channel says."""
    coins = COINS[kind]
    whole = 1 << coins.bits
    words = np.arange(whole, dtype=np.uint64)
    for value in range(coins.size):
        codes = np.full(whole, value, np.uint8)
        drawn = coins.settle(codes, lambda places: words[places])
        shares = np.bincount(drawn, minlength=coins.size) / whole
        assert shares.tolist() == coins.channel().matrix()[:, value].tolist()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_manifest_has_the_coins_of_the_plan(mechanism: str) -> None:
    """What a release says was flipped is what was planned, to the bit; and a retention is never rounded up."""
    it = example_of(mechanism)
    planned = scumble.plan(it.toml(it.table.parent)).plan.strata
    told = {column.name: column.records for column in it.release.manifest.columns if column.records}
    if not told:  # mechanisms without perturbed columns have coins of another kind
        return
    for name, records in told.items():
        assert records == [ChannelRecord.of(stratum[name]) for stratum in planned]
        assert all(record.retain == _exact(record) for record in records)


def _exact(record: ChannelRecord) -> float | list[float]:
    whole = 2.0**record.bits
    kept = record.threshold
    return [t / whole for t in kept] if isinstance(kept, list) else kept / whole


def test_values_that_others_have_are_never_drawn() -> None:
    """A channel on some values of a domain draws these alone, and is a channel on them."""
    channel = spread(Channel([0.25, 0.5]), np.array([0, 2]), 4)
    assert channel.replace.tolist() == [0.5, 0.0, 0.5, 0.0]
    np.testing.assert_allclose(channel.matrix().sum(axis=0), 1)
