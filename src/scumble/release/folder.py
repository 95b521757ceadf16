"""The folder of a release beside its manifest: nothing else lies in it, files are as long as it says, and the README says what it says."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import scumble
from scumble.forms.files import accounted, created_by, rows_in
from scumble.release.catalogue import catalogues, word_of
from scumble.release.check import Check, caution
from scumble.release.explore_facts import explore_page
from scumble.release.manifest import NAME, Manifest, read_manifest
from scumble.release.readme import readme
from scumble.web.explore import NAME as PAGE

README = "README.md"
OURS = f"scumble {scumble.__version__}"
SIGNATURES = "signatures"
"""The folder of signatures, which are made after the manifest and so are not among its files."""

WEIGHT = re.compile(rb"-?[0-9]+\.[0-9]+e[-+]?[0-9]+")
"""A double in a statement of a README."""
CLOSE = 1e-7
"""How far it may be from the one that is made anew, of itself, or of 1."""

EARLIER: tuple[str, ...] = ()
"""Software that wrote manifests of this version with other words in the README or another page; a new version of ours is added when it changes them."""


def folder_checks(folder: Path, manifest: Manifest) -> list[Check]:
    """What the folder is held to."""
    return [
        _nothing_else(folder, manifest),
        _known_files(manifest),
        _sizes(folder, manifest),
        *_written_out(folder, manifest),
        _accounted(folder, manifest),
        *_writer(folder, manifest),
        *_tables(folder, manifest),
        _readme(folder, manifest),
        *_page(folder, manifest),
        *_catalogues(folder, manifest),
    ]


def strays(folder: Path, manifest: Manifest) -> list[str]:
    """What lies in the folder and is not of the release, by its path; a folder of strays by its own name."""
    listed = {folder / file.path for file in manifest.files} | {folder / NAME}
    holding = {parent for file in listed for parent in file.parents}
    stray: list[str] = []
    for path in sorted(folder.rglob("*")):
        inside_signatures = path.relative_to(folder).parts[0] == SIGNATURES and not path.is_symlink()
        above = any(path.is_relative_to(folder / other) for other in stray)
        if path not in listed and path not in holding and not inside_signatures and not above:
            stray.append(str(path.relative_to(folder)))
    return stray


def _nothing_else(folder: Path, manifest: Manifest) -> Check:
    stray = strays(folder, manifest)
    if not stray:
        return Check("folder", True, "nothing lies in it that the manifest does not list")
    more = f" and {len(stray) - 1} more" if len(stray) > 1 else ""
    detail = f"{stray[0]!r}{more} lies in the folder, and the manifest does not list it: whoever gets the folder gets that too"
    return Check("folder", False, f"{detail}; move it away, or publish again")


def _known_files(manifest: Manifest) -> Check:
    """Every listed file is the README, the page, one for catalogues, or has rows of a table of the form. In any other anything could stand, with its hash in order."""
    tables = manifest.form.layout([column.name for column in manifest.columns], manifest.data)
    known = {README, PAGE, *catalogues(manifest), *(path for _, files in tables for path in files)}
    more = [file.path for file in manifest.files if file.path not in known]
    if not more:
        return Check("listed files", True, "each has rows of the release, or follows from its manifest")
    detail = f"{more[0]!r} is listed, and is no part of a release: nobody can say what may stand in it"
    return Check("listed files", False, f"{detail}; get the release again from its publisher")


def _sizes(folder: Path, manifest: Manifest) -> Check:
    """Bytes of each file, as the manifest says; its rows were counted on opening."""
    for file in manifest.files:
        size = (folder / file.path).stat().st_size
        if size != file.bytes:
            return Check("files", False, f"{file.path} has {size:,} bytes, and {file.bytes:,} in the manifest")
    return Check("files", True, f"the bytes and rows of {len(manifest.files)} files are those of the manifest")


def _written_out(folder: Path, manifest: Manifest) -> list[Check]:
    """The manifest has every field that is written: what somebody left out is read in one way today, and nobody saw it being said."""
    if manifest.written.version != manifest.version:
        return []
    whole = (folder / NAME).read_text(encoding="utf-8") == read_manifest(folder).text()
    missing = "" if whole else "a field with its usual value"
    if manifest.software == OURS:
        missing = missing or manifest.form.unsaid or ("what wrote the data files" if manifest.writer is None else "")
    detail = f"{NAME} leaves out {missing}, which scumble writes; get the release again from its publisher"
    return [Check("manifest", not missing, detail if missing else "every field is written out")]


def _accounted(folder: Path, manifest: Manifest) -> Check:
    """Every byte of a data file is of a column, of the footer or of its frame. Others are read by nobody, and go to everybody."""
    for path in manifest.data:
        more = (folder / path).stat().st_size - accounted(folder / path)
        if more:
            detail = (
                f"{path} has {abs(more):,} bytes {'beside' if more > 0 else 'less than'} its columns and its footer"
            )
            return Check("bytes", False, f"{detail}; get the release again from its publisher")
    return Check("bytes", True, "each byte of the data is of a column or of the footer")


def _writer(folder: Path, manifest: Manifest) -> list[Check]:
    """Each file says which library wrote it; the manifest says the same, because by it an audit writes the rows again."""
    if manifest.writer is None:
        return []
    for path in manifest.data:
        noted = created_by(folder / path).replace(" version ", " ")
        if not manifest.writer.endswith(f", {noted}"):
            detail = f"{path} says that {noted or 'nobody'} wrote it, and the manifest says {manifest.writer}"
            return [Check("writer", False, f"{detail}; get the release again from its publisher")]
    return [Check("writer", True, f"{manifest.writer}, as the files say")]


def _tables(folder: Path, manifest: Manifest) -> list[Check]:
    """Of a release with several tables: what each is called, and how many rows it has."""
    tables = manifest.form.tables
    if not tables:
        return []
    names, known = [table.name for table in tables], manifest.form.table_names
    if len(set(names)) != len(names) or (known is not None and names != known):
        expected = "different names" if known is None else " and ".join(known)
        return [Check("tables", False, f"the manifest calls its tables {', '.join(names)}, and they are {expected}")]
    for table in tables:
        rows = sum(rows_in(folder / path) for path in table.files)
        if rows != table.rows:
            detail = f"table {table.name!r} has {rows:,} rows in its files, and {table.rows:,} in the manifest"
            return [Check("tables", False, detail)]
    return [Check("tables", True, f"{len(tables)} tables with the rows of the manifest")]


def _readme(folder: Path, manifest: Manifest) -> Check:
    """Every release has a README."""
    if README not in (file.path for file in manifest.files):
        return Check(README, False, f"the manifest does not list a {README}, which every release has")
    return _compared(folder, manifest, README, readme)


def _page(folder: Path, manifest: Manifest) -> list[Check]:
    """The same of the page; releases of before there was one have none."""
    if PAGE not in (file.path for file in manifest.files):
        return []
    return [_compared(folder, manifest, PAGE, lambda own: explore_page(own, lambda name: (folder / name).read_bytes()))]


def _catalogues(folder: Path, manifest: Manifest) -> list[Check]:
    """The same of the files for catalogues, and the word that they stand on."""
    listed, checks = {file.path for file in manifest.files}, []
    for name, made in catalogues(manifest).items():
        missing = Check(name, False, f"the manifest has metadata, and does not list the {name} that follows from it")
        checks.append(_compared(folder, manifest, name, made) if name in listed else missing)
    return [*checks, *word_of(manifest)]


def _compared(folder: Path, manifest: Manifest, name: str, made: Callable[[Manifest], str]) -> Check:
    """A file that follows from the rest of the release is made anew and compared. That of software which this one does not know cannot be, and fails: a forger would name such software."""
    if (
        manifest.written.version != manifest.version
    ):  # of which the version itself is a failure, unless somebody knows it
        return caution(
            name, "that of a manifest of version 1 has other words: it was not compared, read `scumble show`"
        )
    if manifest.software in EARLIER:
        return caution(name, f"{manifest.software} had other words: it was not compared, read `scumble show`")
    if manifest.software != OURS:
        detail = f"it says that it was written by {manifest.software}, and this is {OURS}, which cannot make it anew and compare"
        return Check(name, False, f"{detail}; verify the release with {manifest.software}, and read `scumble show`")
    if same_text((folder / name).read_bytes(), made(manifest).encode("utf-8"), WEIGHT if name == README else None):
        return Check(name, True, "it says what follows from the manifest, word for word")
    return Check(
        name, False, "it is not the one that follows from the manifest: somebody wrote in it; read `scumble show`"
    )


def same_text(written: bytes, made: bytes, weight: re.Pattern[bytes] | None = WEIGHT) -> bool:
    """Whether two texts are the same but for the last digits of weights, which another machine may round otherwise."""
    if written == made or weight is None:
        return written == made
    ours, theirs = weight.findall(made), weight.findall(written)
    if len(ours) != len(theirs) or weight.sub(b"w", written) != weight.sub(b"w", made):
        return False
    return all(
        math.isclose(float(a), float(b), rel_tol=CLOSE, abs_tol=CLOSE) for a, b in zip(ours, theirs, strict=True)
    )
