"""Publications that are killed, or whose disk fails: the old release or the new one is whole each time. `make faults` has thousands more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")
def test_fifty_faults_break_no_promise() -> None:
    """42 at calls that write, sync, rename or remove, half of these at the end where the new release takes its name; 8 at random moments."""
    command = [sys.executable, "-m", "faults", "--injections", "42", "--moments", "8"]
    environment = {**os.environ, "PYTHONPATH": ":".join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert (done.returncode, "0 broken promises" in done.stdout) == (0, True), done.stdout + done.stderr
