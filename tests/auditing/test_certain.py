"""What is certain has probability 1 and no variance, also where the last bit of a sum says a little more."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

from scumble.auditing import audit
from scumble.auditing.evidence.parts import HitCount, Summands, worst
from scumble.reporting import report

VALUES = [f"v{i}" for i in range(49)]
"""A 49th, added 49 times, is more than 1."""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """One value is so frequent that it is the best guess behind every published one."""
    draw = np.random.default_rng(49)
    ill = draw.choice(VALUES, 800, p=[0.97] + [0.03 / 48] * 48)
    return pa.table({"weight": draw.normal(70, 9, 800), "town": draw.choice(["a", "b"], 800), "ill": ill})


@pytest.mark.parametrize("mechanism", ["uniform", "fine_grain"])
@pytest.mark.slow
def test_a_guess_that_is_always_right_is_audited(table: pa.Table, mechanism: str, tmp_path: Path) -> None:
    how = {"sensitive": "ill", "domains": {"ill": VALUES}, "rho1": "1/10", "rho2": "1/2"}
    release = publish_openly(table, mechanism=mechanism, seed=1, **how)
    found = audit(release, table)
    assert found.passed
    assert all(0 <= each.low <= each.high <= 1 for each in found)
    assert report(release, tmp_path / "report.html", raw=table).exists()


def test_chances_a_bit_above_one_count_as_certain() -> None:
    above = np.full(50, 1 + 4e-16)
    assert above.max() > 1
    for whole in (Summands.of_chances(np.ones(50, dtype=np.bool_), above).whole(), HitCount.of_chances(50, above)):
        assert whole.variance == 0
        assert worst(whole, [], 1e-4).expected == 1
