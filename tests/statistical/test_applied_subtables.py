"""The channel that is applied in each sub-table is the one of the plan, and not one that is off by a little.

2,100,000 rows in batches of 131,072. Given a row's true value and sub-table, its published value follows the channel's column: a chi-square over
all of them is above its threshold with probability 1e-6. A channel that keeps 2% more of what it keeps is rejected.
"""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from scumble.core.channel import Channel, replacement_of
from scumble.core.entropy import Entropy
from scumble.mechanisms.partitioned.plan import plan
from scumble.mechanisms.partitioned.subtables import Subtables
from scumble.mechanisms.plan import Profile
from scumble.spec.spec import ColumnSpec, Spec, Target

pytestmark = pytest.mark.slow

COUNTS = np.array([12, 8, 6, 5, 4, 3, 1, 1, 1, 1]) * 50_000
BATCH = 1 << 17


@pytest.mark.parametrize("inside", ["uniform", "fine_grain"])
def test_the_applied_channel_is_the_planned_one(inside: str) -> None:
    values = [str(code) for code in range(10)]
    column = ColumnSpec(role="sensitive", values=values)
    spec = Spec(
        mechanism="partitioned",
        settings={"inside": inside},
        privacy=Target(rho1="1/3", rho2="2/3"),
        columns={"x": column},
    )
    made = plan(Profile({"x": column.domain("x", pa.string())}, counts={"x": COUNTS}), spec)
    way = Subtables(
        "x", "s", [stratum["x"] for stratum in made.replacing_strata], made.partition.subtables, Entropy.seeded(9)
    )
    codes = np.random.default_rng(1).permutation(np.repeat(np.arange(10, dtype=np.uint8), COUNTS))
    seen = np.zeros((len(made.strata), 10, 10))
    for index, start in enumerate(range(0, len(codes), BATCH)):
        part = codes[start : start + BATCH]
        out = way.apply(index, {"x": part}, None, way.prepare(index, {"x": part}))
        place = (out["s"].astype(np.int64) * 10 + out["x"]) * 10 + part
        seen += np.bincount(place, minlength=seen.size).reshape(seen.shape)
    channels = [replacement_of(stratum["x"]) for stratum in made.channels]
    statistic, freedom = surprise(seen, channels)
    assert statistic < chi2.isf(1e-6, freedom)
    wrong, freedom = surprise(seen, [Channel(np.minimum(c.retention * 1.02, 1), c.replace) for c in channels])
    assert wrong > chi2.isf(1e-6, freedom)


def surprise(seen: np.ndarray, channels: list[Channel]) -> tuple[float, int]:
    """Chi-square and its degrees of freedom; what cannot be published must not have been."""
    total, freedom = 0.0, 0
    for table, channel in zip(seen, channels, strict=True):
        expected = channel.matrix() * table.sum(axis=0)
        possible = expected > 0
        assert not table[~possible].any()
        total += float(((table - expected)[possible] ** 2 / expected[possible]).sum())
        freedom += int(possible.sum() - (table.sum(axis=0) > 0).sum())
    return total, freedom
