"""Releases whose manifest somebody rewrote, with every digest in order."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scumble.privacy.guarantee import Guarantee
from scumble.release.explore_facts import explore_page
from scumble.release.manifest import NAME, read_manifest
from scumble.release.readme import readme
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


Document = dict[str, Any]


def sealed(document: Document) -> str:
    """A manifest as it is written, with the digest that goes with it."""
    rest = {name: value for name, value in document.items() if name != "digest"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return json.dumps({**rest, "digest": digest}, indent=1, ensure_ascii=False) + "\n"


def rewritten(folder: Path, change: Callable[[Document], object]) -> None:
    """The manifest with a change, and a digest that fits it."""
    document = json.loads((folder / NAME).read_text(encoding="utf-8"))
    change(document)
    (folder / NAME).write_text(sealed(document), encoding="utf-8")


def refiled(folder: Path, path: str, data: bytes) -> None:
    """A file with other bytes, and the hash and the length that go with them."""
    (folder / path).write_bytes(data)
    new = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    rewritten(folder, lambda d: next(f for f in d["files"] if f["path"] == path).update(new))


FOLLOWING = {"README.md", "explore.html"}
"""The files of a release that follow from its manifest and its data, and that `verify` makes anew."""


def with_care(folder: Path, change: Callable[[Document], object]) -> None:
    """The manifest with a change, and README and page that follow from it: all that a forger can put in order is in order."""
    rewritten(folder, change)
    manifest = read_manifest(folder)
    refiled(folder, "README.md", readme(manifest).encode())
    refiled(folder, "explore.html", explore_page(manifest, lambda name: (folder / name).read_bytes()).encode())
