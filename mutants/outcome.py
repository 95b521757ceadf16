"""What becomes of a mutant: it publishes in its own process, and is verified and audited in this one."""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from mutants.mutant import Mutant, Outcome
from mutants.subjects import raw_of

LONGEST = 300
"""Seconds that a publication may take."""
ROOT = Path(__file__).parents[1]
UNTOUCHED = "as it is"


def outcome(mutant: Mutant | None, subject: str, seed: int = 1) -> Outcome:
    """Of a mutant, or of the code as it is."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "a.release"
        refused = _published(UNTOUCHED if mutant is None else mutant.name, subject, folder, seed)
        return Outcome(refused, [], []) if refused else _looked_at(folder, subject, seed)


def _published(name: str, subject: str, folder: Path, seed: int) -> str:
    """Nothing, or why it was refused."""
    command = [sys.executable, "-m", "mutants.child", name, subject, str(folder), str(seed)]
    paths = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, env=environment, check=False)
    if done.returncode not in (0, 2):
        raise RuntimeError(f"{name}: {done.stderr or done.stdout}")
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def _looked_at(folder: Path, subject: str, seed: int) -> Outcome:
    import scumble

    raw = raw_of(subject, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed = [check.name for check in scumble.verify(folder) if not check.passed]
        findings = scumble.audit(folder, raw=raw)
    return Outcome("", failed, [finding.attack for finding in findings if not finding.passed])
