"""What may be overwritten: a release of ours as it was written, in a folder where nothing else lies."""

from collections.abc import Iterable
from pathlib import Path

from scumble.core.atomic import complete
from scumble.core.errors import ReleaseError
from scumble.release.folder import SIGNATURES
from scumble.release.manifest import NAME, Manifest, read_manifest
from scumble.release.release import changed
from scumble.release.signing import read_signature

WAY_OUT = "so it is kept; choose another name"


def demand_free(out: Path, overwrite: bool, sources: Iterable[Path], folder: Path | None = None) -> None:
    """Refuses a place that would cost somebody something: a folder that is kept, or one with the table itself in it.

    sources  the files of the table
    folder   the folder that is the table: a release inside of it would be read as rows of the table, the next time
    """
    complete(out)
    if folder is not None and folder.resolve() in out.resolve().parents:
        raise ReleaseError(f"{str(out)!r} is inside of the table {str(folder)!r}; choose a place outside of the table")
    for file in sources:
        if out.resolve() in (file.resolve(), *file.resolve().parents):
            raise ReleaseError(
                f"{str(out)!r} is where the table itself lies ({file.name}), {WAY_OUT}, outside of the table"
            )
    if out.exists() or out.is_symlink():
        if not overwrite:
            raise ReleaseError(
                f"{str(out)!r} exists and is kept; choose another name, or say --overwrite (overwrite=True)"
            )
        former_files(out)
    elif not out.absolute().parent.is_dir():
        raise ReleaseError(f"there is no folder {str(out.absolute().parent)!r} to write the release into")


def former_files(out: Path) -> list[str]:
    """The files of the release that is to be replaced, relative to its folder; whatever else is there is refused by name."""
    if out.is_symlink() or not out.is_dir():
        raise ReleaseError(f"{str(out)!r} is not a release but a {'link' if out.is_symlink() else 'file'}, {WAY_OUT}")
    try:
        manifest = read_manifest(out)
    except ReleaseError as error:
        raise ReleaseError(f"{str(out)!r} exists and is not a release of this scumble, {WAY_OUT} ({error})") from None
    paths = sorted(out.rglob("*"), key=lambda path: (path.is_dir(), path))  # a file is named before its folder
    foreign = next((path for path in paths if not _ours(path, out, manifest)), None)
    if foreign is not None:
        raise ReleaseError(
            f"{str(out)!r} holds {str(foreign.relative_to(out))!r}, which the release did not write, {WAY_OUT}, or move that away"
        )
    return [str(path.relative_to(out)) for path in paths if not path.is_dir()]


def _ours(path: Path, out: Path, manifest: Manifest) -> bool:
    """Whether a path is as the release wrote it: a file with the bytes of the manifest, a signature of it, or a folder of such."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return path == out / SIGNATURES or any(path in (out / file.path).parents for file in manifest.files)
    if (
        path.parent == out / SIGNATURES
    ):  # it goes with the release that it stands by; one of another release is not ours
        return not read_signature(path, manifest.digest).problem
    listed = next((file for file in manifest.files if out / file.path == path), None)
    return path == out / NAME or (listed is not None and changed(out, listed) is None)
