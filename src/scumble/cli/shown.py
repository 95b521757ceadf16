"""What of a release is shown: its columns and guarantees, beliefs, what is not covered, and who can be singled out."""

import json
from typing import Any

from scumble.cli.output import console, print_card
from scumble.cli.progress import progress_bar
from scumble.core.display import Card, Grid, Note, Part
from scumble.core.parameters import plain
from scumble.release import describe
from scumble.release.release import Release
from scumble.release.terms import records_of
from scumble.reporting.numbers import at_most_share, share
from scumble.reporting.promises import belief

PRIORS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)


def derived(release: Release) -> dict[str, Any]:
    """The manifest with what follows from it in the place of what it claims."""
    manifest = release.manifest.model_copy(update=records_of(release.terms))
    shown = {**json.loads(manifest.text()), "digest": release.manifest.digest}
    return {**shown, "claims_that_do_not_follow": release.doubts, "unique_rows": _unique_rows(release)}


def summary(release: Release) -> None:
    """The columns, and what is guaranteed."""
    print_card(describe.summary(release.title, release.manifest, release.terms, release.doubts))


def details(release: Release) -> None:
    """What stands below it."""
    out = console()
    manifest = release.manifest
    print_card(
        Card(
            "",
            [
                *_posteriors(release),
                *describe.merged(manifest),
                *describe.coded(manifest),
                *describe.fine_print(release.terms),
            ],
        )
    )
    if manifest.view.row_by_row or manifest.public:
        singling_out(release)
    keyed = (
        "keyed: the same person keeps the same published value in every release"
        if manifest.randomness.keyed
        else "drawn once for this release"
    )
    out.print(f"coins: {manifest.randomness.source}; {keyed}")
    for stream in manifest.randomness.streams or []:
        out.print(f"coins of {stream.column} by the key: attribute {stream.attribute}, commitment {stream.commitment}")
    for part in release.parts or [release]:
        out.print(f"digest: {part.manifest.digest}")


def singling_out(release: Release) -> None:
    """How many rows can be recognised by their public columns."""
    out, manifest = console(), release.manifest
    alone = _unique_rows(release)
    out.print(
        f"singling out: {alone:,} of {manifest.rows:,} rows ({share(alone / max(1, manifest.rows))}) are alone with the values of their public columns."
        + (" Whoever knows those of a person finds the row; coarsen them to make this smaller." if alone else ""),
    )


def _unique_rows(release: Release) -> int:
    with progress_bar("counting rows that are alone"):
        return release.unique_rows()


def _posteriors(release: Release) -> list[Part]:
    """What a belief can become at most, where a guarantee bounds it whatever it was before."""
    posteriors = belief(release.terms.guarantees)
    if posteriors is None:
        return []
    seeing = "the row" if release.manifest.view.row_by_row else "the release"
    save = f", save with probability {plain(posteriors.save)}" if posteriors.save else ""
    beliefs = [(share(prior), at_most_share(posteriors.bound(prior))) for prior in PRIORS]
    return [
        Note(f"how far a belief can rise ({posteriors.about}), for {posteriors.holder}{save}:", "heading"),
        Grid(("believed before with at most", f"after seeing {seeing}, at most (rounded up)"), beliefs, (0, 1)),
    ]
