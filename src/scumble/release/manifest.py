"""The manifest: all that an analyst needs and nothing that may not be known, as versioned JSON.

How it evolves (docs/manifest.md): a field is never removed and never changes its meaning; new fields are optional; a version, a mechanism, a form, a
code or a field that this software does not know is refused, never skipped. A release made today is opened in ten years.

The last field is the digest of everything before it, and the text has one canonical form, so that any changed byte shows.
"""

import hashlib
import json
from collections.abc import Container
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, PrivateAttr, SerializeAsAny, ValidationError

from scumble.core.channel_base import BaseChannel
from scumble.core.domain import Domain
from scumble.core.errors import ChangedRelease, ReleaseError
from scumble.forms import FORMS, find_form
from scumble.forms.form import View
from scumble.forms.records import FormRecord
from scumble.mechanisms import is_known
from scumble.privacy import parameters
from scumble.privacy.guarantee import Clause, Guarantee
from scumble.privacy.parameters import Declared
from scumble.privacy.words import CLAUSES, STATEMENTS
from scumble.query.part_columns import PartColumn, parts_of
from scumble.release.document import read_document
from scumble.release.gate import (
    AGAIN,
    demand_columns,
    demand_files,
    demand_parts,
    demand_recoding,
    demand_regular,
    demand_roles,
)
from scumble.release.persons import PersonsRecord
from scumble.release.records import KINDS, ColumnRecord, FileRecord, GuaranteeRecord, Randomness
from scumble.release.version_1 import upgraded
from scumble.spec.metadata import Metadata
from scumble.spec.spec import Model

FORMAT = "scumble-release"
VERSION = 2
NAME = "manifest.json"

NEWER = "get a newer scumble"


class FileVersion(Model):
    """How a manifest of an earlier version was written."""

    version: int
    digest: str


class Manifest(Model):
    """Everything public about a release."""

    format: Literal["scumble-release"] = "scumble-release"
    version: Literal[2] = 2
    software: str
    mechanism: str
    rows: int = Field(ge=0)
    order: Literal["shuffled", "sorted"] = "shuffled"
    columns: list[ColumnRecord]
    form: SerializeAsAny[FormRecord]
    """What the release looks like: a record by its kind, of forms/<kind>/record.py."""
    guarantees: list[GuaranteeRecord]
    not_covered: list[str]
    depends_on_data: list[str]
    """These three are claims, in sentences for people; what holds is derived (terms.py), and nothing is decided by a sentence."""
    randomness: Randomness
    files: list[FileRecord]
    writer: str | None = None
    """What wrote the data files, with its version: the same rows written again by it are the same bytes. Releases that were made before it was noted do not say."""
    persons: PersonsRecord | None = None
    """How many rows a person has; releases that were made before it was counted do not say."""
    metadata: Metadata | None = None
    """What its publisher says about it, for catalogues of data, which have files of their own then."""
    not_covered_codes: list[Clause] | None = None
    depends_on_data_codes: list[Clause] | None = None
    """The same as codes; releases that were made before there were any have sentences alone."""
    _written: FileVersion | None = PrivateAttr(None)

    @property
    def view(self) -> View:
        """What attacks and reports ask of its form."""
        return find_form(self.form.kind).view(self)

    @property
    def written(self) -> FileVersion:
        """The version and the digest of the file."""
        return self._written or FileVersion(version=self.version, digest=digest_of(self._document()))

    @property
    def answers_for(self) -> list[str]:
        """What answers are for, a line each; none where they are for all rows of the table."""
        capped = self.persons is not None and self.persons.how == "capped"
        parts = [self.persons.answers_for if self.persons is not None and capped else "", self.form.counted_rows]
        return [part for part in parts if part]

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
    def strata(self) -> list[dict[str, BaseChannel]]:
        """The channel of each perturbed column, for each stratum; see `Release.strata` where replacements follow the data."""
        return self.strata_with({})

    def strata_with(self, frequencies: dict[str, npt.NDArray[np.float64]]) -> list[dict[str, BaseChannel]]:
        """The same with the published frequencies of the columns whose replacements follow them."""
        sizes = {name: domain.size for name, domain in self.domains.items()}
        columns = [column for column in self.columns if column.records]
        count = max((len(column.records) for column in columns), default=1)
        return [
            {c.name: c.records[i % len(c.records)].channel(sizes[c.name], frequencies.get(c.name)) for c in columns}
            for i in range(count)
        ]

    @property
    def channels(self) -> dict[str, BaseChannel]:
        """The channel of each perturbed column, where there is one stratum."""
        (only,) = self.strata
        return only

    @property
    def domains(self) -> dict[str, Domain]:
        """The domain of each perturbed column."""
        return {column.name: column.values for column in self.columns if column.domain is not None}

    @property
    def parts(self) -> dict[str, PartColumn]:
        """The columns of the table that were perturbed as one with others."""
        made: dict[str, PartColumn] = {}
        for column in self.columns:
            made |= parts_of(column.name, {part.name: part.type for part in column.parts or ()})
        return made

    @property
    def shown(self) -> dict[str, Domain]:
        """What is published of each perturbed column: its values, or codes that stand for sets of them."""
        return {column.name: column.shown for column in self.columns if column.domain is not None}

    @property
    def data(self) -> list[str]:
        """The paths of the data files, relative to the release."""
        return [file.path for file in self.files if file.rows is not None]

    @property
    def rows_in(self) -> list[str]:
        """Those of them that have the rows: all, but where values are published in a table beside them."""
        rows = self.form.rows_in
        return self.data if rows is None else rows

    def text(self) -> str:
        """The canonical text, with its digest."""
        return _text(self._document())

    @property
    def digest(self) -> str:
        """What a signature should be put under: that of the file, in whatever version it was written."""
        return self.written.digest

    def _document(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_none=True, by_alias=True)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a release, checked against its own digest."""
    document = _read(folder)
    version, digest = document.get("version"), digest_of(document)
    if not is_known(document.get("mechanism")):  # another law holds for its rows, ours would be wrong
        raise _unknown("mechanism", document.get("mechanism"))
    if version == VERSION:
        manifest = _manifest(document)
        demand_regular(folder, manifest)
        return manifest
    manifest = _manifest(upgraded(document))
    demand_regular(folder, manifest)
    manifest._written = FileVersion(version=1, digest=digest)
    return manifest


def _read(folder: Path) -> dict[str, Any]:
    """The document without its digest, once that is the right one."""
    path = folder / NAME
    try:
        document, written = read_document(path)
    except (FileNotFoundError, NotADirectoryError):
        why = f"it has no {NAME}" if folder.exists() else "there is nothing of that name"
        raise ReleaseError(f"{str(folder)!r} is not a release: {why}") from None
    except (OSError, ValueError):  # no JSON, or one that nobody wrote
        raise ChangedRelease(f"{NAME} of {folder.name!r} cannot be read; {AGAIN}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReleaseError(f"{NAME} of {folder.name!r} is not the manifest of a scumble release")
    if type(document.get("version")) is not int or document["version"] not in (1, VERSION):
        raise ReleaseError(
            f"the release has format version {document.get('version')!r}, and this scumble knows 1 and {VERSION}; {NEWER}"
        )
    document.pop("digest", None)
    if not _is_canonical(document, written):
        raise ChangedRelease(f"{NAME} of {folder.name!r} was changed after it was written; {AGAIN}")
    return document


def _is_canonical(document: dict[str, Any], written: bytes) -> bool:
    """Whether the file is the canonical text of its document, to the byte."""
    try:
        return _text(document).encode("utf-8") == written
    except (ValueError, RecursionError):  # text that is none, such as half of a pair of surrogates
        return False


def _manifest(document: dict[str, Any]) -> Manifest:
    """The manifest of a document of this version; refused where it has anything that is not known."""
    form = document.get("form")
    if not isinstance(form, dict):
        raise ReleaseError(f"{NAME}: 'form' is missing or no record; {AGAIN}")
    _demand_known("form", form.get("kind"), FORMS)
    try:
        record = find_form(form["kind"]).record.model_validate(form, strict=True)
    except ValidationError as error:
        raise ReleaseError(f"{NAME}: {problem(error, 'form.')}") from None
    try:
        manifest = Manifest.model_validate({**document, "form": record}, strict=True)
    except ValidationError as error:
        raise ReleaseError(f"{NAME}: {problem(error)}") from None
    except RecursionError:
        raise ReleaseError(f"{NAME} is nested deeper than any manifest; {AGAIN}") from None
    _demand_codes(manifest)
    demand_files(manifest)
    demand_columns(manifest)
    demand_roles(manifest)
    demand_recoding(manifest)
    demand_parts(manifest)
    return manifest


def _demand_codes(manifest: Manifest) -> None:
    """What is claimed in codes that are not known cannot be told apart from what does not follow."""
    for guarantee in manifest.guarantees:
        _demand_known("guarantee", guarantee.kind, STATEMENTS)
        _demand_sayable(f"guarantee {guarantee.kind!r}", guarantee.claim(), parameters.GUARANTEES.get(guarantee.kind))
    listed = [manifest.not_covered_codes, manifest.depends_on_data_codes]
    listed += [guarantee.condition_codes for guarantee in manifest.guarantees]
    for clause in (clause for clauses in listed for clause in clauses or ()):
        _demand_known("condition", clause.code, CLAUSES)
        made = parameters.CLAUSES.get(clause.code, None if callable(CLAUSES[clause.code]) else Declared())
        _demand_sayable(f"condition {clause.code!r}", clause, made)


def _demand_sayable(what: str, claim: Guarantee | Clause, declared: Declared | None) -> None:
    """The parameters are those of its code, and a sentence can be made of them, so that nothing that prints it fails."""
    problem = declared.problem(claim.parameters) if declared else ""
    if problem:
        raise ReleaseError(f"the manifest's {what} {problem}; {AGAIN}")
    try:
        _ = claim.statement if isinstance(claim, Guarantee) else claim.sentence
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise ReleaseError(f"the manifest's {what} has numbers of which nothing can be said; {AGAIN}") from None


def _demand_known(what: str, name: Any, known: Container[str]) -> None:
    if not isinstance(name, str) or name not in known:
        raise _unknown(what, name)


def _unknown(what: str, name: Any) -> ReleaseError:
    return ReleaseError(f"the release has the {what} {short(name)}, which this scumble does not know; {NEWER}")


LONGEST_SHOWN = 60

WRONG = {
    "int_type": "is no whole number",
    "float_type": "is no number",
    "string_type": "is no text",
    "bool_type": "is neither true nor false",
    "list_type": "is no list",
    "dict_type": "is no record",
    "model_type": "is no record",
    "model_attributes_type": "is no record",
    "union_tag_not_found": "has no kind",
    "greater_than": "is too small a number",
    "greater_than_equal": "is too small a number",
    "less_than": "is too large a number",
    "less_than_equal": "is too large a number",
}
"""What is wrong with a value, by the code of the complaint."""


def problem(error: ValidationError, prefix: str = "") -> str:
    """The first complaint: the field, what is wrong with it, and the way out."""
    first = error.errors()[0]
    where = short(prefix + ".".join(str(part) for part in first["loc"] if part not in KINDS))
    kind = first["type"]
    if kind == "missing":
        return f"{where} is missing; {AGAIN}"
    if kind == "extra_forbidden":
        return f"{where} is a field that this scumble does not know; {NEWER}"
    if kind == "literal_error":
        return f"{where} is {short(first['input'])}, which this scumble does not know; {NEWER}"
    if kind == "union_tag_invalid":
        return f"{where} is of the kind {short(first['ctx']['tag'])}, which this scumble does not know; {NEWER}"
    return f"{where} {WRONG.get(kind, 'is none that a manifest can have')}; {AGAIN}"


def short(value: Any) -> str:
    """A value of a stranger as it stands in a sentence: quoted, and cut where it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def _text(document: dict[str, Any]) -> str:
    return json.dumps({**document, "digest": digest_of(document)}, indent=1, ensure_ascii=False) + "\n"


def digest_of(document: dict[str, Any]) -> str:
    """SHA-256 of a document, as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(document, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
