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
    by_control,
    coins,
    corruption,
    crowds,
    dealing,
    differencing,
    downcoding,
    duplicates,
    encoding,
    generalized,
    homogeneity,
    index,
    inference,
    intersection,
    law,
    ledgers,
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
from scumble.auditing.evidence.excerpt import Excerpt, salt_of
from scumble.auditing.evidence.publication import CROWD, Publication, of_release, of_table
from scumble.auditing.finding import Finding
from scumble.auditing.findings import Findings
from scumble.core.errors import ParameterError, TableError, did_you_mean
from scumble.core.readable import readable
from scumble.publishing.ledger import Ledger, read_ledger
from scumble.release.manifest import NAME as MANIFEST
from scumble.release.release import Release, open_release
from scumble.sources.address import is_release
from scumble.sources.source import Source, read
from scumble.truth import as_published

Attack = Callable[[Case], Finding | list[Finding] | None]
"""What it gets, or None where there is nothing to look for; several findings, where it looks at each of several columns."""

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


ATTACKS: dict[str, Attack] = {
    "linking": linking.attack,
    "singled out": by_control.singled_out,
    "crowds": crowds.attack,
    "generalised rows": generalized.attack,
    "downcoding": downcoding.attack,
    "rare rows": _of(rare.attack, _of_tuples),
    "linkability": linkability.attack,
    "linked parts": by_control.linked_parts,
    "linkability by values": linkability_by_values.attack,
    "averaging": averaging.attack,
    "intersection": intersection.attack,
    "differencing": differencing.attack,
    "ledger": ledgers.attack,
    "inference": inference.attack,
    "inferred": by_control.inferred,
    "homogeneity": homogeneity.attack,
    "corruption": corruption.attack,
    "scale": _of(scale.attack, _of_samples),
    "not sampled": _of(unsampled.attack, _of_samples),
    "reconstruction": _of(reconstruction.attack, _of_samples),
    "seeded coins": claims.coins,
    "seeds": seeds.attack,
    "claims": claims.claims,
    "retention": retention.attack,
    "law": law.attack,
    "coins": coins.attack,
    "whole rows": whole_rows.attack,
    "dealing": dealing.attack,
    "sampling": sampling.attack,
    "noise": noise.attack,
    "altered values": altered.attack,
    "duplicates": duplicates.attack,
    "order": order.attack,
    "leaked index": index.attack,
    "metadata": metadata.attack,
    "bytes": encoding.attack,
}
"""Every attack by its name, in the order of the questions that they answer: singling out, linkability, inference, integrity."""


def audit(
    target: Any,
    raw: Any = None,
    *,
    others: Iterable[Any] = (),
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int = CROWD,
    ledger: Any = None,
    control: Any = None,
    only: Iterable[str] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Findings:
    """What every attack that fits gets.

    target     a Release, its folder, or any table that somebody published (a path or a data frame)
    raw        the raw table, to score attacks by the truth
    others     other publications of the same people, to link with
    quasi      of a table that is no release: the columns that an attacker may know; guessed when absent
    sensitive  of a table that is no release: the columns that are to be protected; guessed when absent
    k          of a table that is no release: the size of a crowd that it is held to
    ledger     the path of the publisher's ledger
    control    of a table that is no release: people like those of the raw table who are not in it
    only       the names of the attacks that are run; all when absent
    seed       repeats which rows of a table of over a million are looked at; they are drawn afresh when absent
    progress   called with the number of attacks that are done, and of all
    """
    with readable("what was published"):
        case = case_of(target, raw, others, quasi, sensitive, k, ledger, control, seed)
        return Findings(run(case, progress, only))


def case_of(
    target: Any,
    raw: Any = None,
    others: Iterable[Any] = (),
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int = CROWD,
    ledger: Any = None,
    control: Any = None,
    seed: int | None = None,
) -> Case:
    """What an audit has before it; `case.publication.guesses` says what was guessed."""
    salt = salt_of(seed)
    publication = publication_of(target, quasi, sensitive, k, salt=salt)
    if not any(table.num_rows for table in publication.tables):
        raise TableError(f"{publication.name!r} has no rows, so there is nothing to attack")
    if publication.release is None:
        quasi, sensitive = publication.quasi, publication.sensitive
    others = list(others)
    beside = [publication_of(other, quasi, sensitive, k, salt=salt) for other in others]
    if not all(one.excerpt.whole for one in (publication, *beside)) and beside:
        publication, *beside = _in_common([target, *others], [publication, *beside], quasi, sensitive, k, salt)
    if control is not None and (publication.release is not None or raw is None):
        raise ParameterError(
            "a control table is for tables that another tool made, beside the raw table; a release is held to its manifest"
        )
    source, beyond = (None if table is None else _table(table) for table in (raw, control))
    if source is not None and publication.manifest is not None:
        source = as_published(source, publication.manifest)
    return Case(publication, source, beside, None if ledger is None else _ledger(ledger), beyond)


def _in_common(
    targets: list[Any],
    every: list[Publication],
    quasi: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    k: int,
    salt: int,
) -> list[Publication]:
    """Publications of which one is large, in one excerpt: by the columns that all have, so that the same people are in it."""
    names = [name for name in every[0].quasi if all(name in one.table.column_names for one in every)]
    excerpt = Excerpt.of(names, max(sum(one.lengths) for one in every), salt)
    bits = -1
    while bits < excerpt.bits:  # a table that is too large makes it smaller, for those that were read before, too
        bits = excerpt.bits
        every = [publication_of(target, quasi, sensitive, k, excerpt) for target in targets]
    return every


def _ledger(path: Any) -> Ledger:
    read_ledger(path)  # says what is wrong with it
    return Ledger(Path(path))


def run(case: Case, progress: Progress | None = None, only: Iterable[str] | None = None) -> list[Finding]:
    """Every attack on one case, or some."""
    chosen = list(ATTACKS) if only is None else list(only)
    for name in chosen:
        if name not in ATTACKS:
            raise ParameterError(f"there is no attack {name!r}{did_you_mean(name, ATTACKS)}; all: {', '.join(ATTACKS)}")
    findings: list[Finding] = []
    for done, name in enumerate(chosen):
        found = ATTACKS[name](case)
        findings += found if isinstance(found, list) else [found] if found is not None else []
        pa.default_memory_pool().release_unused()
        if progress is not None:
            progress(done + 1, len(chosen))
    return findings


def publication_of(
    target: Any,
    quasi: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    k: int = CROWD,
    excerpt: Excerpt | None = None,
    salt: int | None = None,
) -> Publication:
    """A release, or any other published table."""
    if isinstance(target, str | Path):
        path = Path(target)
        if is_release(target):
            target = open_release(target)
        elif path.suffix == ".release" or (path / MANIFEST).exists():
            target = open_release(path)
    if isinstance(target, Release):
        return of_release(target, excerpt, salt)
    table = _table(target)
    if not isinstance(target, str | Path):
        return of_table(table, "the table", [], quasi, sensitive, k, excerpt, salt)
    path = Path(target)
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    return of_table(table, path.name, files, quasi, sensitive, k, excerpt, salt)


def _table(source: Any) -> Source:
    table: Source = source if hasattr(source, "batches") else read(source)
    return table


__all__ = ["ATTACKS", "Attack", "Case", "Finding", "Findings", "audit", "case_of", "run"]
