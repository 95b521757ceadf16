"""scumble show: what is in a release, which guarantee, which conditions, what it does not cover."""

import json
import math
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table as RichTable

from scumble.cli.output import Format, console, print_json
from scumble.privacy.guarantee import amplification, joint_amplification
from scumble.privacy.rho import posterior_bound
from scumble.release.manifest import ColumnRecord, Manifest
from scumble.release.release import Release

PRIORS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)

BUCKETED = {
    "bucket": "the bucket of the row",
    "apart": "as it is, in a table of its own, by bucket",
    "tuple": "in tuples of the table, and in some that were made up",
    "count": "how often the value is in the bucket",
}
"""What anatomy and alpha_beta publish beside public columns."""


def command(
    release: Annotated[Path, typer.Argument(help="The release.", show_default=False)],
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Show what is in a release, which guarantee it gives, under which conditions, and what it does not cover."""
    from scumble.api import open

    opened = open(release)
    if format is Format.JSON:
        print_json({**json.loads(opened.manifest.text()), "unique_rows": opened.unique_rows()})
        return
    summary(opened)
    _details(opened)


def summary(release: Release) -> None:
    """The columns, and what is guaranteed."""
    out = console()
    manifest = release.manifest
    out.print(
        f"{release.path.name}: {manifest.rows:,} rows, mechanism {manifest.mechanism}", style="bold", markup=False
    )
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("column", "type", "published"):
        table.add_column(heading)
    for column in manifest.columns:
        table.add_row(column.name, column.type, published(column))
    out.print(table)
    for part in (manifest.counted.tables if manifest.counted is not None else None) or ():
        shown = ", ".join(map(str, part.attributes[:8])) + (", ..." if len(part.attributes) > 8 else "")
        out.print(f"{part.name}: {part.rows:,} rows of {shown}", markup=False)
    for guarantee in manifest.guarantees:
        out.print(f"guaranteed: {guarantee.statement}", markup=False)
    if not manifest.guarantees:
        out.print("guaranteed: nothing; no bound holds, or none was asked for", style="bold red")
    if not manifest.randomness.secure:
        out.print("INSECURE: the coins were drawn from a seed, for tests; do not publish this", style="bold red")


def _details(release: Release) -> None:
    out = console()
    manifest = release.manifest
    _posteriors(release)
    _merged(manifest)
    _list("conditions", list(dict.fromkeys(c for g in manifest.guarantees for c in g.conditions)))
    _list("not covered", manifest.not_covered)
    _list("taken from the data", manifest.depends_on_data or ["nothing: no parameter was computed from the table"])
    if manifest.counted is None or manifest.public:
        singling_out(release)
    keyed = (
        "keyed: the same person keeps the same published value in every release"
        if manifest.randomness.keyed
        else "drawn once for this release"
    )
    out.print(f"coins: {manifest.randomness.source}; {keyed}", markup=False)
    out.print(f"digest: {manifest.digest}", markup=False)


def singling_out(release: Release) -> None:
    """How many rows can be recognised by their public columns."""
    out, manifest = console(), release.manifest
    alone = release.unique_rows()
    out.print(
        f"singling out: {alone:,} of {manifest.rows:,} rows ({alone / manifest.rows:.1%}) are alone with the values of their public columns."
        + (" Whoever knows those of a person finds the row; coarsen them to make this smaller." if alone else ""),
        markup=False,
    )


def _posteriors(release: Release) -> None:
    whole = (lambda channels: joint_amplification(list(channels.values()))) if release.manifest.joint else amplification
    gamma = max(whole(channels) for channels in release.strata)
    if math.isinf(gamma) or release.manifest.counted is not None:
        return
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("believed before with at most")
    table.add_column("after seeing the row, at most")
    for prior in PRIORS:
        table.add_row(f"{prior:g}", f"{posterior_bound(gamma, prior):.4g}")
    console().print()
    console().print(table)


def _merged(manifest: Manifest) -> None:
    """Which values of the table a published one stands for."""
    for column in manifest.columns:
        lines = [
            f"{m.published}: {', '.join(str(v) for v in m.values)}" for m in column.merged or () if len(m.values) > 1
        ]
        if column.merged:
            _list(f"{column.name}, published value: values of the table", lines or ["every value stands for itself"])


def _list(heading: str, lines: list[str]) -> None:
    out = console()
    out.print(f"\n{heading}:", style="bold")
    for line in lines:
        out.print(f"  - {line}", markup=False)


def published(column: ColumnRecord) -> str:
    """In a few words, how a column was published."""
    if column.records:
        kept = np.concatenate([np.atleast_1d(record.retain) for record in column.records])
        share = f"{kept[0]:.4g}" if kept.min() == kept.max() else f"{kept.min():.4g} to {kept.max():.4g}"
        from_data = ", domain taken from the data" if column.domain and column.domain.from_data else ""
        if column.records[0].replace == "published":
            return f"perturbed: kept with probability {share}, else another value of the column{from_data}"
        if column.channels:
            return f"perturbed: kept with probability {share}, else one of the values of its sub-table{from_data}"
        return f"perturbed: kept with probability {share}, else one of {column.records[0].size:,} values{from_data}"
    if column.role == "stratum":
        return "the sub-table of the row"
    if column.role == "weight":
        return "how many rows of the table this one stands for"
    if column.role == "copies":
        return "how many copies of this row there are"
    if column.role in BUCKETED:
        return BUCKETED[column.role]
    if column.merged:
        return f"merged: {sum(len(m.values) for m in column.merged)} values became {len(column.merged)}"
    if column.coarsened is not None and column.coarsened.groups is not None:
        values = sum(len(members) for members in column.coarsened.groups.values())
        return f"coarsened: {values} values in {len(column.coarsened.groups)} groups"
    if column.coarsened is not None:
        return "coarsened: " + ", ".join(
            f"{k} = {v}" for k, v in column.coarsened.model_dump(exclude_none=True).items()
        )
    if column.role == "counted":
        return "as it is, in tuples that occur often"
    return "as it is"
