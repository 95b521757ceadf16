"""The page on which a release is asked by clicking, for releases that were published without one, and for whoever wants it elsewhere."""

from pathlib import Path

from scumble.core.atomic import demand_file, whole_file
from scumble.core.errors import ReleaseError
from scumble.release.explore_facts import explore_page
from scumble.release.release import Release, open_release


def explore(release: Release | str | Path, out: str | Path, *, overwrite: bool = False) -> Path:
    """Writes the page of a release to a file outside of its folder, and returns its path.

    release    an opened release, or its folder
    out        the file to write; it is whole or it is not there
    overwrite  replace a file that exists
    """
    opened = release if isinstance(release, Release) else open_release(release)
    if opened.parts:
        raise ReleaseError("a page is about one release; make one for each, or ask them together by scumble query")
    path = Path(out)
    if opened.path.resolve() in path.resolve().parents:
        raise ReleaseError(
            "the folder of a release holds what its manifest lists and nothing else; write the page outside of it"
        )
    demand_file(path, overwrite)
    with whole_file(path, overwrite=overwrite) as aside:
        aside.write_text(explore_page(opened.manifest, lambda name: opened.file(name).read_bytes()), encoding="utf-8")
    return path
