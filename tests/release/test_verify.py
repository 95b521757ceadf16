"""Reading a release as a stranger does: in a process that has published nothing, and loads nothing that publishes."""

import json
import subprocess
import sys
from dataclasses import dataclass

import pyarrow as pa
import pytest
from every_mechanism import EVERY, HOW, published

from scumble.mechanisms import REGISTRY

READER = """
import json, sys
import scumble
from scumble.release.verify import verify

def loaded():
    return [name for name in sys.modules if name.startswith("scumble.") or name == "scipy"]

asked, read = {}, {}
for path in sys.argv[1:]:
    release = scumble.open(path)
    release.query("SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex")
    str(release)
    asked[path] = loaded()
for path in sys.argv[1:]:
    checks = [[check.name, check.passed] for check in verify(scumble.open(path))]
    read[path] = {"checks": checks, "asked": asked[path], "verified": loaded()}
print(json.dumps(read))
"""
NEEDS_SCIPY = "sps"
"""Its promise has the tails of binomial distributions in it. It is read last, since what is loaded stays."""


@dataclass(frozen=True)
class Reading:
    """How many guarantees a release states, what was checked of it, and what is loaded after it was asked, and verified."""

    stated: int
    checks: list[tuple[str, bool]]
    asked: list[str]
    verified: list[str]


@pytest.fixture(scope="module")
def readings(patients: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reading]:
    """Releases of all mechanisms, read one after the other in one process."""
    folder, stated = tmp_path_factory.mktemp("releases"), {}
    for name in sorted(EVERY, key=lambda name: name == NEEDS_SCIPY):
        stated[name] = len(published(name, patients, folder / name).manifest.guarantees)
    run = subprocess.run(
        [sys.executable, "-c", READER, *(str(folder / name) for name in stated)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    read = json.loads(run.stdout)
    return {name: Reading(count, **read[str(folder / name)]) for name, count in stated.items()}


def test_there_is_a_release_of_every_mechanism() -> None:
    assert set(HOW) == set(REGISTRY)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_reader_who_published_nothing_verifies_every_mechanism(readings: dict[str, Reading]) -> None:
    """What checks a guarantee is found in a process that has loaded no mechanism, in whatever order releases are looked at."""
    for name, reading in readings.items():
        assert all(passed for _, passed in reading.checks), (name, reading.checks)
        assert sum(check == "guarantee" for check, _ in reading.checks) == reading.stated
    assert sum(reading.stated for reading in readings.values()) > len(readings), "guarantees are stated at all"


def publishes(module: str) -> bool:
    """Whether a module is for publishers: their room, or the plan or the publisher of a mechanism.

    >>> publishes("scumble.mechanisms.sps.plan"), publishes("scumble.mechanisms.plan"), publishes("scumble.publishing")
    (True, False, True)
    """
    _, room, *inside = module.split(".")
    return room == "publishing" or (room == "mechanisms" and inside[1:] in (["plan"], ["publish"]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_opening_asking_showing_and_verifying_loads_nothing_that_publishes(readings: dict[str, Reading]) -> None:
    """Nor an algorithm: the promise of a mechanism is derived in a module of its own, which is loaded."""
    for name, reading in readings.items():
        ours = [module for module in reading.verified if module != "scipy"]
        assert [module for module in ours if publishes(module) or module.endswith(ALGORITHMS)] == [], name
    assert len([module for module in ours if module.endswith("terms")]) > len(REGISTRY) - 2


ALGORITHMS = ("own_values", "counted_plans", "fine_grain_channel", "retention_program", "partitioning", "mondrian")
"""Ends of the names of modules that plan, beside the folders of mechanisms and inside them."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_asking_loads_scipy_only_where_the_promise_needs_it(readings: dict[str, Reading]) -> None:
    """Loading it takes longer than an answer does."""
    assert [name for name, reading in readings.items() if "scipy" in reading.asked] == [NEEDS_SCIPY]
