"""The files of a release for catalogues of data. They follow from the manifest, so that `verify` makes them anew."""

from collections.abc import Callable

from scumble.release.check import Check, said
from scumble.release.croissant import croissant
from scumble.release.dcat import dcat
from scumble.release.manifest import Manifest

CATALOGUES: dict[str, Callable[[Manifest], str]] = {"croissant.json": croissant, "dcat.jsonld": dcat}
"""The files for catalogues, and what makes each of them."""


def catalogues(manifest: Manifest) -> dict[str, Callable[[Manifest], str]]:
    """Those that a release has."""
    return CATALOGUES if manifest.metadata is not None else {}


def word_of(manifest: Manifest) -> list[Check]:
    """What the publisher says about the release, which nothing in it can show."""
    stated = manifest.metadata.model_dump(exclude_defaults=True) if manifest.metadata is not None else {}
    lines = [f"{name} {', '.join(value) if isinstance(value, list) else value}" for name, value in stated.items()]
    return [said("metadata", "; ".join(lines))] if lines else []
