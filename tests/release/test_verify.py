"""Verification as a reader does it: in a process that has published nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from every_mechanism import EVERY, HOW, published

from scumble.mechanisms import REGISTRY

READER = """
import json, sys
import scumble
from scumble.release.verify import verify
print(json.dumps({path: [[c.name, c.passed] for c in verify(scumble.open(path))] for path in sys.argv[1:]}))
"""


def test_there_is_a_release_of_every_mechanism() -> None:
    assert set(HOW) == set(REGISTRY)


@pytest.mark.filterwarnings("ignore")
def test_a_reader_who_published_nothing_verifies_every_mechanism(patients: pa.Table, tmp_path: Path) -> None:
    """What checks a guarantee is found in a process that has loaded no mechanism, in whatever order releases are looked at."""
    stated = {}
    for name in EVERY:
        stated[str(tmp_path / name)] = len(published(name, patients, tmp_path / name).manifest.guarantees)
    run = subprocess.run([sys.executable, "-c", READER, *stated], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    for path, count in stated.items():
        assert all(passed for _, passed in found[path]), (path, found[path])
        assert sum(name == "guarantee" for name, _ in found[path]) == count
    assert sum(stated.values()) > len(stated), "guarantees are stated at all"
