"""Publications that are killed, or whose disk fails: the old release or the new one is whole each time. `make faults` has thousands more."""

import hashlib
import json
import os
import subprocess
import sys
from importlib import import_module
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


def test_the_harness_sees_what_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is cut off, a file too many, raw rows outside of the private folder, and an exit code that does not fit."""
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", "")
    harness = import_module("faults.stage")
    stage, broken = harness.Stage(tmp_path / "stage"), harness.Broken
    stage.digests = {harness.OLD: "old", harness.NEW: "new"}
    stage.temporary.with_suffix(".log").touch()
    stage.out.mkdir()
    listed = [{"path": "data", "sha256": hashlib.sha256(b"rows").hexdigest()}]
    (stage.out / "manifest.json").write_text(json.dumps({"files": listed, "digest": "new"}))
    (stage.out / "data").write_bytes(b"rows")
    stage.check(0, with_old=True, killed=False)
    with pytest.raises(broken, match="exit code 2 with the new release"):
        stage.check(2, with_old=True, killed=False)
    (stage.temporary / "spill").write_text(f"{harness.MARK}-1")
    with pytest.raises(broken, match="holds raw rows"):
        stage.check(0, with_old=True, killed=False)
    (stage.temporary / "spill").unlink()
    (stage.out / "extra").touch()
    with pytest.raises(broken, match="the release holds"):
        stage.digest()
    (stage.out / "extra").unlink()
    (stage.out / "data").write_bytes(b"row")
    with pytest.raises(broken, match="data is not whole"):
        stage.digest()
