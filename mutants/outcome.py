"""What becomes of a mutant: it publishes in its own process, and is verified and audited in this one."""

import multiprocessing
import tempfile
import warnings
from pathlib import Path

from mutants.child import Outdated, published
from mutants.mutant import Mutant, Outcome
from mutants.subjects import raw_of

LONGEST = 120
"""Seconds that a publication may take."""

ASIDE = {"inference", "corruption", "linking", "seeds"}
"""Attacks that are about what was declared, and that of seeds, which takes longest: it looks at mutants of randomness alone."""


def outcome(mutant: Mutant | None, subject: str, seed: int = 1) -> Outcome:
    """Of a mutant, or of the code as it is."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "a.release"
        refused = _published("" if mutant is None else mutant.name, subject, folder, seed)
        return Outcome(refused, [], []) if refused else _looked_at(folder, subject, seed, mutant)


def _published(name: str, subject: str, folder: Path, seed: int) -> str:
    """Nothing, or why it was refused."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=published, args=(name, subject, folder, seed, theirs), daemon=True)
    process.start()
    try:
        told = str(ours.recv()) if ours.poll(LONGEST) else "TimeoutError: it did not end"
    finally:
        process.kill()
        process.join()
    if told.startswith(Outdated.__name__):
        raise RuntimeError(told)
    return told


def _looked_at(folder: Path, subject: str, seed: int, mutant: Mutant | None) -> Outcome:
    import scumble
    from scumble.auditing import ATTACKS

    raw = raw_of(subject, seed)
    aside = ASIDE - {"seeds"} if mutant is not None and mutant.own_entropy else ASIDE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed = [check.name for check in scumble.verify(folder) if not check.passed]
        try:
            findings = scumble.audit(folder, raw=raw, only=[name for name in ATTACKS if name not in aside])
        except scumble.ScumbleError:
            return Outcome("", failed, ["refuses the raw table"])  # the release is plainly not of it
    return Outcome("", failed, [finding.attack for finding in findings if not finding.passed])
