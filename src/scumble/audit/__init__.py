"""Attacks on releases, one a file: a function of the release, and of the raw table where there is one, that returns a Finding."""

from collections.abc import Callable
from typing import Any

from scumble.audit import rare, reconstruction, scale, unsampled
from scumble.audit.finding import Finding
from scumble.release.release import Release

Attack = Callable[..., Finding]
"""attack(release, raw=None): raw is a table as `scumble.tables.read` gives it."""

ATTACKS: dict[str, list[Attack]] = {
    "k_dgs": [rare.attack],
    "noisy_counts": [rare.attack],
    "columnized": [rare.attack],
    "sps": [scale.attack, unsampled.attack, reconstruction.attack],
}
"""The attacks that have something to look for, by mechanism; those under "*" are for every release."""


def audit(release: Release, raw: Any = None) -> list[Finding]:
    """What every attack that fits the release gets."""
    fitting = [*ATTACKS.get("*", ()), *ATTACKS.get(release.manifest.mechanism, ())]
    return [attack(release, raw) for attack in fitting]


__all__ = ["ATTACKS", "Attack", "Finding", "audit"]
