"""The report of a release: one page that a data-protection officer can read, print and sign."""

from pathlib import Path
from typing import Any

from scumble.core.atomic import whole_file
from scumble.core.errors import ParameterError
from scumble.core.extras import need
from scumble.core.progress import Progress
from scumble.core.readable import readable
from scumble.release.release import Release, open_release

__all__ = ["report", "require"]

MARK = '<meta name="generator" content="scumble report">'
MARKED_WITHIN = 2000
"""What tells our page from any other file, and how near to its beginning in bytes."""


def require() -> None:
    """What the page is drawn with has to be installed; what is missing is named, with the line that installs it."""
    for module in ("jinja2", "altair", "vl_convert"):
        need(module, "report")


def report(
    release: Release | str | Path,
    out: str | Path,
    *,
    raw: Any = None,
    external: bool = False,
    compare: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Writes the report of a release as one HTML file, and returns its path.

    release   an opened release, or its folder; several that were opened as one have one page, about all of them together
    out       the file to write; it is whole or it is not there
    raw       the table that the release was made from: the page becomes the internal edition, with the truth beside the estimates
    external  says that the page may be published beside the release; then raw is refused
    compare   in the internal edition: publish the raw table by other mechanisms at the same privacy, and show what each costs; takes longer
    overwrite  replace a file that is no report; an earlier report is replaced anyhow
    progress  called with (done, of) as sections are finished
    """
    require()
    if external and raw is not None:
        raise ParameterError(
            "the external edition is made from the release alone, so that it can be published: leave the raw table out, or leave out external"
        )
    if compare and raw is None:
        raise ParameterError("other mechanisms are compared on the raw table: give it, or leave out compare")
    from scumble.reporting.page import render
    from scumble.reporting.raw import read_raw
    from scumble.reporting.subject import Subject

    opened = release if isinstance(release, Release) else open_release(release)
    if opened.parts and raw is not None:
        raise ParameterError(
            "the raw table is laid beside one release at a time: leave it out, or report each of the releases by itself"
        )
    path = Path(out)
    for part in opened.parts or [opened]:
        _refuse_place(path, part, overwrite)
    table = None if raw is None else read_raw(raw, opened.manifest)
    with readable():
        text = render(Subject(opened, table, compare), progress)
    with whole_file(path, overwrite=True) as aside:
        aside.write_text(text, encoding="utf-8")
    return path


def _refuse_place(path: Path, release: Release, overwrite: bool) -> None:
    if path.is_dir():
        raise ParameterError(f"{str(path)!r} is a folder; name the file to write, report.html say")
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {str(path.parent)!r} to write the report into")
    if release.path.resolve() in path.resolve().parents:
        raise ParameterError(
            "the folder of a release holds what its manifest lists and nothing else; write the report beside it, outside of the release's folder"
        )
    if path.exists() and not overwrite and not _is_report(path):
        raise ParameterError(
            f"{str(path)!r} exists and is no report of scumble, so it is kept; choose another name, or say --overwrite (overwrite=True)"
        )


def _is_report(path: Path) -> bool:
    """Whether a file begins as our page does."""
    with path.open("rb") as file:
        return MARK.encode() in file.read(MARKED_WITHIN)
