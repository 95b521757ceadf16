"""Small tables that many tests publish."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.release import soundness

settings.register_profile("busy", deadline=None)
settings.load_profile("busy")
"""A test takes as long as it takes: on a busy machine none fails because of the clock."""

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """Ctrl-C is heard also where the tests themselves run in the background, and no command that a test ran goes on listening."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.fixture(autouse=True)
def _seeds_are_fine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests publish by a seed, to be the same each time, and ask for everything else; those of seeds themselves have the mark `real_coins`."""
    if request.node.get_closest_marker("real_coins") is None:
        told = soundness.coins_problem
        monkeypatch.setattr(
            soundness, "coins_problem", lambda manifest: "" if told(manifest) == soundness.SEEDED else told(manifest)
        )


@pytest.fixture(scope="session")
def patients() -> pa.Table:
    """3,000 patients with public, categorical and numeric columns."""
    draw = np.random.default_rng(5)
    n = 3000
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": draw.integers(0, 100, n),
            "sex": draw.choice(["F", "M"], n),
            "disease": draw.choice(DISEASES, n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "smoker": draw.random(n) < 0.3,
            "visits": draw.integers(0, 11, n),
            "cost": np.round(draw.gamma(2, 300, n), 2),
        }
    )


@pytest.fixture(scope="session")
def release(patients: pa.Table) -> scumble.Release:
    """The patients with three perturbed columns: text, boolean and a numeric grid."""
    return publish_openly(
        patients,
        sensitive=["disease", "smoker", "visits"],
        drop="name",
        domains={"disease": DISEASES, "smoker": [False, True], "visits": {"low": 0, "high": 10}},
        retain={"disease": 0.5, "smoker": 0.6, "visits": 0.7},
        seed=11,
    )


@pytest.fixture
def publish_simply(patients: pa.Table) -> Callable[..., scumble.Release]:
    """Publishing with everything in place, so that a test says only what it changes."""

    def run(**changes: Any) -> scumble.Release:
        settings: dict[str, Any] = {
            "sensitive": ["disease"],
            "drop": ["name"],
            "domains": {"disease": DISEASES},
            "retain": 0.5,
            "seed": 1,
        }
        settings |= changes
        table = settings.pop("table", patients)
        return publish_openly(table, settings.pop("out", None), **settings)

    return run


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real tables, where there is one."""
    if not SHARED.is_dir():
        pytest.skip("the real tables are not beside this checkout")
    return SHARED
