"""A release in the words that catalogues of data want: what its publisher says of it, or, where he says nothing, what follows from the manifest."""

from urllib.parse import quote, urljoin

from scumble.mechanisms import find_mechanism
from scumble.release.manifest import Manifest
from scumble.spec.metadata import Metadata, is_address


def metadata_of(manifest: Manifest) -> Metadata:
    """What the publisher says."""
    return manifest.metadata or Metadata()


def title(manifest: Manifest) -> str:
    """The publisher's, or how large it is and how it was published."""
    table = f"A table of {manifest.rows:,} rows" if manifest.view.row_by_row else "Counts of the rows of a table"
    return metadata_of(manifest).title or f"{table}, published with scumble"


def told_of_persons(manifest: Manifest) -> list[str]:
    """The columns that were protected: perturbed, counted with noise, or put apart."""
    return [column.name for column in manifest.columns if column.role in ("sensitive", "counted", "tuple", "apart")]


def description(manifest: Manifest) -> str:
    """The publisher's, and always how far a row can be believed."""
    return " ".join(part for part in (metadata_of(manifest).description, perturbed(manifest)) if part)


def perturbed(manifest: Manifest) -> str:
    """What was done to the rows, and what that guarantees."""
    words = find_mechanism(manifest.mechanism).words.plain
    guarantees = " ".join(_ended(guarantee.statement) for guarantee in manifest.guarantees)
    seeded = "" if manifest.randomness.secure else "INSECURE: the coins were drawn from a seed, for tests."
    done = f"Published with scumble by {manifest.mechanism}: {_ended(words)} Statistics are estimated from it, each with its interval; README.md tells how."
    return " ".join(part for part in (done, guarantees, seeded) if part)


def located(manifest: Manifest, path: str) -> str:
    """The address of a file: where the publisher says that the release is found, or beside this file."""
    base, name = metadata_of(manifest).address, quote(path)
    return name if base is None else urljoin(base if base.endswith("/") else f"{base}/", name)


def licence(manifest: Manifest) -> str | None:
    """Its address."""
    given = metadata_of(manifest).licence
    return given if given is None or is_address(given) else f"https://spdx.org/licenses/{given}"


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
