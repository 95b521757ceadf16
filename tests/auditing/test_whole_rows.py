"""A few rows that no coin was thrown for stand out by all of their columns together, and by none alone.

20,000 people of three perturbed columns, seeds fixed; a sound audit has an alarm with probability below 1e-5.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from auditing.attacked import DISEASES, SHARES

import scumble
from scumble.auditing import Finding, audit
from scumble.auditing.attacks.whole_rows import _judged, _tails
from scumble.release.release import Release

pytestmark = pytest.mark.slow

Forge = Callable[[Release, pa.Table], Release]
ROWS = 20_000
VALUES = ["disease", "visits", "job"]
JOBS = list(range(12))
LAWS = ["retention", "law", "coins", "whole rows"]


def patients(seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "person": draw.permutation(10 * ROWS)[:ROWS],
            "disease": draw.choice(DISEASES, ROWS, p=SHARES),
            "visits": draw.integers(0, 11, ROWS),
            "job": draw.integers(0, 12, ROWS),
        }
    )


HOW: dict[str, dict[str, Any]] = {
    "uniform": {"retain": 0.15},
    "fine_grain": {"mechanism": "fine_grain", "gamma": 20},
    "identity": {"mechanism": "identity", "retain": 0.15},
    "swapped": {"mechanism": "swapped", "retain": 0.15},
    "frapp": {"mechanism": "frapp", "gamma": 5},
}


def publish(raw: pa.Table, how: str, seed: int = 1) -> Release:
    domains = {"disease": DISEASES, "visits": {"low": 0, "high": 10}, "job": JOBS}
    return scumble.publish(raw, sensitive=VALUES, public=["person"], domains=domains, seed=seed, **HOW[how])


def passed_by(release: Release, raw: pa.Table, share: float) -> pa.Table:
    """The release with the true values of some people, in random order."""
    table = release.table()
    place = np.argsort(raw["person"].to_numpy())
    own = place[np.searchsorted(raw["person"].to_numpy()[place], table["person"].to_numpy())]
    spared = np.random.default_rng(7).random(ROWS) < share
    for name in VALUES:
        true = raw[name].cast(table.schema.field(name).type).take(pa.array(own))
        mixed = pa.compute.if_else(pa.array(spared), true.combine_chunks(), table[name].combine_chunks())
        table = table.set_column(table.column_names.index(name), name, mixed)
    return table.take(pa.array(np.random.default_rng(8).permutation(ROWS)))


def broken(release: Release, raw: pa.Table) -> dict[str, Finding]:
    return {found.attack: found for found in audit(release, raw, only=LAWS) if found.verdict == "broken"}


@pytest.mark.parametrize("how", HOW)
def test_one_row_in_a_hundred(how: str, forge: Forge) -> None:
    """No column shows it by itself."""
    raw = patients()
    release = publish(raw, how)
    assert broken(release, raw) == {}
    found = broken(forge(release, passed_by(release, raw, 0.01)), raw)
    assert "whole rows" in found
    assert "retention" not in found
    assert found["whole rows"].success > found["whole rows"].baseline


def test_the_share_that_shows_is_told(forge: Forge) -> None:
    """Half of what is told is not found, twice of it is."""
    raw = patients()
    release = publish(raw, "uniform")
    (sound,) = audit(release, raw, only=["whole rows"])
    told = float(sound.detail.split("show from ")[1].split("%")[0]) / 100
    assert 0.0005 < told < 0.005
    assert "whole rows" not in broken(forge(release, passed_by(release, raw, told / 2)), raw)
    assert "whole rows" in broken(forge(release, passed_by(release, raw, 2 * told)), raw)


def test_all_tails_together_have_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """4,000 sound tables of 300 rows and four columns, some of rare hits, at an error of 2%: at most 2% are alarms (beyond 2.7%: probability 1e-3); with 1 row in 20 passed by, most are."""
    monkeypatch.setattr("scumble.auditing.attacks.whole_rows.error_of", lambda attack: 0.02)
    draw = np.random.default_rng(1)
    chances = [draw.choice(each, 300) for each in ([0.05, 0.3], [0.1, 0.2], [0.02, 0.5], [0.15, 0.25])]
    tails, alarms, found = _tails(chances), 0, 0
    for _ in range(4000):
        equal = np.sum([draw.random(300) < q for q in chances], axis=0)
        alarms += _judged(equal, tails, joint=False).broken
        found += _judged(np.where(draw.random(300) < 0.05, 4, equal), tails, joint=False).broken
    assert alarms < 0.027 * 4000
    assert found > 0.9 * 4000
