"""Attacks on published tables, one a file, each with one Finding: what it gets, and what it gets where the weakness that it looks for is not there.

`audit` runs them on releases, which say themselves what their columns are, and on tables that any other tool made.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.auditing import claims
from scumble.auditing.attacks import (
    altered,
    averaging,
    coins,
    corruption,
    crowds,
    dealing,
    downcoding,
    duplicates,
    encoding,
    generalized,
    homogeneity,
    index,
    inference,
    law,
    linkability,
    linkability_by_values,
    linking,
    metadata,
    noise,
    order,
    rare,
    reconstruction,
    retention,
    sampling,
    scale,
    seeds,
    unsampled,
    whole_rows,
)
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import CROWD, Publication, of_release, of_table
from scumble.auditing.finding import Finding
from scumble.auditing.findings import Findings
from scumble.core.errors import TableError
from scumble.core.readable import readable
from scumble.release.manifest import NAME as MANIFEST
from scumble.release.release import Release, open_release
from scumble.sources.source import Source, read
from scumble.truth import as_published

Attack = Callable[[Case], Finding | None]
"""What it gets, or None where there is nothing to look for."""

Progress = Callable[[int, int | None], None]


def _of(attack: Callable[[Release, Any], Finding], fits: Callable[[Publication], bool]) -> Attack:
    """An attack on some releases only."""

    def fitting(case: Case) -> Finding | None:
        release = case.publication.release
        return attack(release, case.source) if release is not None and fits(case.publication) else None

    return fitting


def _of_tuples(publication: Publication) -> bool:
    return publication.form == "tuples"


def _of_samples(publication: Publication) -> bool:
    return publication.sampled


ATTACKS: list[Attack] = [
    linking.attack,
    crowds.attack,
    generalized.attack,
    downcoding.attack,
    _of(rare.attack, _of_tuples),
    linkability.attack,
    linkability_by_values.attack,
    averaging.attack,
    inference.attack,
    homogeneity.attack,
    corruption.attack,
    _of(scale.attack, _of_samples),
    _of(unsampled.attack, _of_samples),
    _of(reconstruction.attack, _of_samples),
    claims.coins,
    seeds.attack,
    claims.claims,
    retention.attack,
    law.attack,
    coins.attack,
    whole_rows.attack,
    dealing.attack,
    sampling.attack,
    noise.attack,
    altered.attack,
    duplicates.attack,
    order.attack,
    index.attack,
    metadata.attack,
    encoding.attack,
]
"""Every attack, in the order of the questions that they answer: singling out, linkability, inference, integrity."""


def audit(
    target: Any,
    raw: Any = None,
    *,
    others: Iterable[Any] = (),
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int = CROWD,
    progress: Progress | None = None,
) -> Findings:
    """What every attack that fits gets.

    target     a Release, its folder, or any table that somebody published (a path or a data frame)
    raw        the raw table, to score attacks by the truth
    others     other publications of the same people, to link with
    quasi      of a table that is no release: the columns that an attacker may know; guessed when absent
    sensitive  of a table that is no release: the columns that are to be protected; guessed when absent
    k          of a table that is no release: the size of a crowd that it is held to
    progress   called with the number of attacks that are done, and of all
    """
    with readable("what was published"):
        return Findings(run(case_of(target, raw, others, quasi, sensitive, k), progress))


def case_of(
    target: Any,
    raw: Any = None,
    others: Iterable[Any] = (),
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int = CROWD,
) -> Case:
    """What an audit has before it; `case.publication.guesses` says what was guessed."""
    publication = publication_of(target, quasi, sensitive, k)
    if not any(table.num_rows for table in publication.tables):
        raise TableError(f"{publication.name!r} has no rows, so there is nothing to attack")
    if publication.release is None:
        quasi, sensitive = publication.quasi, publication.sensitive
    beside = [publication_of(other, quasi, sensitive, k) for other in others]
    source = None if raw is None else _table(raw)
    if source is not None and publication.manifest is not None:
        source = as_published(source, publication.manifest)
    return Case(publication, source, beside)


def run(case: Case, progress: Progress | None = None) -> list[Finding]:
    """Every attack on one case."""
    findings = []
    for done, attack in enumerate(ATTACKS):
        finding = attack(case)
        findings += [finding] if finding is not None else []
        pa.default_memory_pool().release_unused()
        if progress is not None:
            progress(done + 1, len(ATTACKS))
    return findings


def publication_of(
    target: Any, quasi: Sequence[str] | None, sensitive: Sequence[str] | None, k: int = CROWD
) -> Publication:
    """A release, or any other published table."""
    if isinstance(target, str | Path):
        path = Path(target)
        if path.suffix == ".release" or (path / MANIFEST).exists():
            target = open_release(path)
    if isinstance(target, Release):
        return of_release(target)
    table = _table(target)
    if not isinstance(target, str | Path):
        return of_table(table, "the table", [], quasi, sensitive, k)
    path = Path(target)
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    return of_table(table, path.name, files, quasi, sensitive, k)


def _table(source: Any) -> Source:
    table: Source = source if hasattr(source, "batches") else read(source)
    return table


__all__ = ["ATTACKS", "Attack", "Case", "Finding", "Findings", "audit", "case_of", "run"]
