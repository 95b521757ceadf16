"""Releases whose manifest somebody rewrote, with every digest in order."""

from typing import Any

from scumble.privacy.guarantee import Guarantee
from scumble.release.records import GuaranteeRecord
from scumble.release.release import Release


def forged(release: Release, **changes: Any) -> Release:
    """The same files under a manifest with other fields."""
    return Release(release.path, release.manifest.model_copy(update=changes))


def restated(release: Release, place: int = 0, **parameters: float) -> Release:
    """A guarantee with other numbers, and the sentence that goes with them."""
    records = list(release.manifest.guarantees)
    old = records[place].claim()
    new = Guarantee.model_validate({**old.model_dump(), "parameters": {**old.parameters, **parameters}})
    records[place] = GuaranteeRecord.of(new)
    return forged(release, guarantees=records)
