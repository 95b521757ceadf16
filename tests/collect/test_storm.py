"""A thousand people answer while server and database are killed: every answer that was acknowledged is in the release, once. `make faults` has ten times as many."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT = 300
"""Seconds for what takes twenty."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("store", "clients", "kills", "tokens"), [("sqlite", 600, 6, "open"), ("postgres", 400, 4, "codes")]
)
def test_what_was_acknowledged_is_there_once(store: str, clients: int, kills: int, tokens: str) -> None:
    if store == "postgres" and find_spec("pgserver") is None:
        pytest.skip("pgserver has no wheel for this Python")
    command = [
        sys.executable,
        "-m",
        "faults.collector",
        "--store",
        store,
        "--clients",
        str(clients),
        "--kills",
        str(kills),
        "--tokens",
        tokens,
        "--limit",
        str(LIMIT),
    ]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=LIMIT + 600)
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    told = json.loads(run.stdout.splitlines()[0])
    assert told["broken promises"] == 0
    assert sum(told["kills"].values()) == kills
    assert told["acknowledged"] == clients - clients // 20
    assert told["acknowledged"] <= told["in the release"] <= clients
