"""The last step of every publication: what a manifest promises is derived once more, and README, page, files for catalogues and manifest are written."""

from pathlib import Path

from scumble.core.errors import InternalError
from scumble.publishing.write import file_record
from scumble.release.catalogue import catalogues
from scumble.release.explore_facts import explore_page
from scumble.release.folder import README
from scumble.release.manifest import NAME, Manifest
from scumble.release.readme import readme
from scumble.release.terms import compared, terms_of
from scumble.web.explore import NAME as PAGE


def sealed(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest as it was written, with the hashes of all files that lie beside it."""
    _demand_derived(manifest)
    (folder / README).write_text(readme(manifest), encoding="utf-8")
    (folder / PAGE).write_text(explore_page(manifest, lambda name: (folder / name).read_bytes()), encoding="utf-8")
    told = catalogues(manifest)
    for name, made in told.items():
        (folder / name).write_text(made(manifest), encoding="utf-8")
    said = [file_record(folder, name, None) for name in (README, PAGE, *told)]
    whole = manifest.model_copy(update={"files": [*said, *manifest.files]})
    (folder / NAME).write_text(whole.text(), encoding="utf-8")
    return whole


def _demand_derived(manifest: Manifest) -> None:
    """What a plan promises is what anybody derives from the release, or it is our own mistake."""
    problems = compared(manifest, terms_of(manifest)).problems
    if problems:
        raise InternalError(f"the plan promises what does not follow from its release: {problems[0]}")
