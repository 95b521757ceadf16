"""The manifest: all that an analyst needs and nothing that may not be known, as versioned JSON.

How it evolves: a field is never removed and never changes its meaning; new fields are optional; a version, a mechanism or a
field that this software does not know is refused, never skipped. A release made today is opened in ten years.

The last field is the digest of everything before it, and the text has one canonical form, so that any changed byte shows.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from scumble.core.channel import Channel
from scumble.core.domain import Domain
from scumble.core.errors import ChangedRelease, ReleaseError
from scumble.mechanisms import names
from scumble.privacy.guarantee import Clause
from scumble.release.records import ColumnRecord, CountedRecord, FileRecord, GuaranteeRecord, Randomness, SamplingRecord
from scumble.spec.problems import first_problem
from scumble.spec.spec import Model

FORMAT = "scumble-release"
VERSION = 1
NAME = "manifest.json"


class Manifest(Model):
    """Everything public about a release."""

    format: Literal["scumble-release"] = "scumble-release"
    version: Literal[1] = 1
    software: str
    mechanism: str
    rows: int
    order: Literal["shuffled", "sorted"] = "shuffled"
    columns: list[ColumnRecord]
    guarantees: list[GuaranteeRecord]
    not_covered: list[str]
    depends_on_data: list[str]
    """These three are claims, in sentences for people; what holds is derived (terms.py), and nothing is decided by a sentence."""
    randomness: Randomness
    files: list[FileRecord]
    counted: CountedRecord | None = None
    sampling: SamplingRecord | None = None
    not_covered_codes: list[Clause] | None = None
    depends_on_data_codes: list[Clause] | None = None
    """The same as codes; releases that were made before there were any have sentences alone."""
    joint: list[str] | None = None
    """Columns that are kept together or replaced together; their channels are those of each by itself."""

    @property
    def coded(self) -> bool:
        """Whether what it claims has codes; some of them alone are none."""
        every = [self.not_covered_codes, self.depends_on_data_codes, *(g.condition_codes for g in self.guarantees)]
        return all(codes is not None for codes in every)

    def column(self, name: str) -> ColumnRecord | None:
        """The column of that name."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def public(self) -> list[str]:
        """The names of the columns that are published as they are."""
        return [column.name for column in self.columns if column.role == "public"]

    @property
    def sensitive(self) -> list[str]:
        """The names of the perturbed columns."""
        return [column.name for column in self.columns if column.role == "sensitive"]

    def role(self, role: str) -> str | None:
        """The name of the column with a role that one column has at most."""
        return next((column.name for column in self.columns if column.role == role), None)

    @property
    def strata(self) -> list[dict[str, Channel]]:
        """The channel of each perturbed column, for each stratum; see `Release.strata` where replacements follow the data."""
        return self.strata_with({})

    def strata_with(self, frequencies: dict[str, npt.NDArray[np.float64]]) -> list[dict[str, Channel]]:
        """The same with the published frequencies of the columns whose replacements follow them."""
        sizes = {name: domain.size for name, domain in self.domains.items()}
        columns = [column for column in self.columns if column.records]
        count = max((len(column.records) for column in columns), default=1)
        return [
            {c.name: c.records[i % len(c.records)].channel(sizes[c.name], frequencies.get(c.name)) for c in columns}
            for i in range(count)
        ]

    @property
    def channels(self) -> dict[str, Channel]:
        """The channel of each perturbed column, where there is one stratum."""
        (only,) = self.strata
        return only

    @property
    def domains(self) -> dict[str, Domain]:
        """The domain of each perturbed column."""
        return {column.name: column.domain.domain(column.type) for column in self.columns if column.domain is not None}

    @property
    def data(self) -> list[str]:
        """The paths of the data files, relative to the release."""
        return [file.path for file in self.files if file.rows is not None]

    @property
    def rows_in(self) -> list[str]:
        """Those of them that have the rows: all, but for the table of values that anatomy publishes beside them."""
        apart = self.counted is not None and self.counted.matrix == "anatomy" and self.counted.tables
        return apart[0].files if apart else self.data

    def text(self) -> str:
        """The canonical text, with its digest."""
        return _text(self.model_dump(mode="json", exclude_none=True))

    @property
    def digest(self) -> str:
        """What a signature should be put under."""
        return _digest(self.model_dump(mode="json", exclude_none=True))


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a release, checked against its own digest."""
    path = folder / NAME
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        why = (
            f"is not a release: it has no {NAME}"
            if folder.exists()
            else "is not a release: there is nothing of that name"
        )
        raise ReleaseError(f"{str(folder)!r} {why}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, OSError):
        raise ChangedRelease(
            f"{NAME} of {folder.name!r} cannot be read; get the release again from its publisher"
        ) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReleaseError(f"{NAME} of {folder.name!r} is not the manifest of a scumble release")
    if document.get("version") != VERSION:
        raise ReleaseError(
            f"the release has format version {document.get('version')!r}, and this scumble knows {VERSION}; get a newer scumble"
        )
    document.pop("digest", None)
    if _text(document) != text:
        raise ChangedRelease(
            f"{NAME} of {folder.name!r} was changed after it was written; get the release again from its publisher"
        )
    if document.get("mechanism") not in names():  # another law holds for its rows, and ours would give wrong answers
        raise ReleaseError(
            f"the release was made by the mechanism {document.get('mechanism')!r}, which this scumble does not know; get a newer scumble"
        )
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        raise ReleaseError(f"{NAME}: {first_problem(error)}; get a newer scumble") from None


def _text(document: dict[str, Any]) -> str:
    return json.dumps({**document, "digest": _digest(document)}, indent=1, ensure_ascii=False) + "\n"


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
