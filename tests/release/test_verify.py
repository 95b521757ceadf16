"""Verification as a reader does it: in a process that has published nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

from scumble.mechanisms import REGISTRY

ONE: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}}
TWO: dict[str, Any] = {
    "sensitive": ["disease", "smoker"],
    "domains": {"disease": DISEASES, "smoker": [False, True]},
}
HOW: dict[str, dict[str, Any]] = {
    "uniform": {**ONE, "rho1": 0.1, "rho2": 0.5},
    "identity": {**ONE, "retain": 0.4},
    "swapped": {**ONE, "retain": 0.4},
    "fine_grain": {**ONE, "rho1": 0.4, "rho2": 0.7},
    "partitioned": {**ONE, "rho2": 0.6},
    "sps": {**ONE, "retain": 0.4},
    "k_dgs": {"settings": {"k": 5}},
    "noisy_counts": {"epsilon": 2, "settings": {"k": 5, "delta": 0.01}},
    "columnized": {
        "epsilon": 2,
        "settings": {"k": 5, "delta": 0.01, "schema": [["sex", "disease"], ["disease", "smoker"]]},
    },
    "frapp": {**TWO, "gamma": 30},
    "anatomy": {**ONE, "settings": {"l": 2}},
    "alpha_beta": {
        "sensitive": [*TWO["sensitive"], "sex"],
        "domains": {**TWO["domains"], "sex": ["F", "M"]},
        "rho1": "1/10",
        "rho2": "1/2",
    },
    "perturbed_generalization": {**ONE, "settings": {"k": 5}, "gamma": 3},
}
FULL: dict[str, Any] = {
    "mechanism": "noisy_counts",
    "sensitive": ["sex", "disease", "smoker"],
    "domains": {"sex": ["F", "M"], "disease": DISEASES, "smoker": [False, True]},
    "epsilon": 1,
    "settings": {"matrix": "full"},
}

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
    table = patients.select(["sex", "disease", "smoker"])
    given = {name: {"mechanism": name, **how} for name, how in HOW.items()} | {"full": FULL}
    stated = {}
    for name, how in given.items():
        rows = table.group_by(table.column_names).aggregate([]) if name == "alpha_beta" else table  # it is for sets
        stated[str(tmp_path / name)] = len(publish_openly(rows, tmp_path / name, **how).manifest.guarantees)
    run = subprocess.run([sys.executable, "-c", READER, *stated], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    for path, count in stated.items():
        assert all(passed for _, passed in found[path]), (path, found[path])
        assert sum(name == "guarantee" for name, _ in found[path]) == count
    assert sum(stated.values()) > len(stated), "guarantees are stated at all"
