"""The channel that was applied is the channel that was published, in every cell."""

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from scipy.stats import chi2

import scumble
from scumble.core.channel import replacement_of

pytestmark = pytest.mark.slow

ROWS = 2_000_000
FALSE_ALARM = 1e-6
VALUES = [f"v{i}" for i in range(8)]


@pytest.fixture(scope="module")
def pairs() -> tuple[np.ndarray, scumble.Channel]:
    """True against published counts of 2,000,000 rows; the true value is carried along as a public column."""
    true = np.random.default_rng(3).choice(8, ROWS, p=np.arange(1, 9) / 36)
    names = pa.array(VALUES).take(pa.array(true))
    release = publish_openly(
        pa.table({"true": names, "value": names}), sensitive="value", domains={"value": VALUES}, epsilon=1.5, seed=8
    )
    table = release.table()
    code = {name: i for i, name in enumerate(VALUES)}
    grouped = table.group_by(["true", "value"]).aggregate([([], "count_all")]).to_pylist()
    counts = np.zeros((8, 8))
    for row in grouped:
        counts[code[row["value"]], code[row["true"]]] = row["count_all"]
    return counts, replacement_of(release.manifest.channels["value"])


def statistic(counts: np.ndarray, channel: scumble.Channel) -> float:
    expected = channel.matrix() * counts.sum(axis=0)
    return float(((counts - expected) ** 2 / expected).sum())


def test_every_cell_has_its_published_probability(pairs: tuple[np.ndarray, scumble.Channel]) -> None:
    """n = 2,000,000, 64 cells, 56 degrees of freedom, false alarm 1e-6."""
    assert statistic(*pairs) < chi2.isf(FALSE_ALARM, 56)


@pytest.mark.parametrize("slip", [0.005, -0.005])
def test_a_channel_that_is_off_by_half_a_percent_is_rejected(
    pairs: tuple[np.ndarray, scumble.Channel], slip: float
) -> None:
    counts, channel = pairs
    assert statistic(counts, scumble.Channel(channel.retain + slip, size=8)) > chi2.isf(FALSE_ALARM, 56)


def test_replacements_that_avoid_the_true_value_are_rejected(pairs: tuple[np.ndarray, scumble.Channel]) -> None:
    """The classical slip: replacing by one of the m - 1 OTHER values."""
    counts, channel = pairs
    p = channel.retain
    wrong = np.full((8, 8), (1 - p) / 7)
    np.fill_diagonal(wrong, p)
    expected = wrong * counts.sum(axis=0)
    assert ((counts - expected) ** 2 / expected).sum() > chi2.isf(FALSE_ALARM, 56)
