"""What a report is about: a release, and in the internal edition the table that it was made from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.auditing import Finding, audit
from scumble.core.domain import Domain
from scumble.core.errors import InputError
from scumble.core.once import once
from scumble.engines import open_engine
from scumble.engines.engine import TABLE
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.facts import Terms
from scumble.mechanisms.words import Words
from scumble.publishing.dependence import Dependence, dependence_in
from scumble.query.estimates import Estimate, Estimates
from scumble.query.model import sql_of
from scumble.release.manifest import Manifest
from scumble.release.release import Release
from scumble.release.verify import Check, verify
from scumble.sources.source import Source
from scumble.truth import kept, true_table

Counts = dict[tuple[Any, ...], float]
"""By the values of the groups."""


@dataclass
class Subject:
    """The release with everything that several sections look at, each computed once."""

    release: Release
    raw: Source | None = None
    compare: bool = False
    """Whether other mechanisms are tried on the raw table."""

    @property
    def manifest(self) -> Manifest:
        """What is public about it."""
        return self.release.manifest

    @property
    def terms(self) -> Terms:
        """What it promises, derived."""
        return self.release.terms

    @property
    def parts(self) -> Sequence[Release]:
        """The release, or those that are read as one."""
        return self.release.parts or [self.release]

    @property
    def words(self) -> list[Words]:
        """What is said of their mechanisms, each once."""
        return [find_mechanism(name).words for name in dict.fromkeys(part.manifest.mechanism for part in self.parts)]

    @property
    def internal(self) -> bool:
        """Whether the truth is on the page."""
        return self.raw is not None

    @property
    def protected(self) -> list[str]:
        """The columns whose distribution has to be estimated, or was published without its rare values."""
        public = set(self.manifest.public)
        return [name for name in kept(self.manifest) if name not in public]

    @property
    def beside_public(self) -> bool:
        """Whether other columns stand beside the perturbed ones, as they are or as ranges, and tell what they tell."""
        return 0 < len(self.manifest.sensitive) < len(self.manifest.columns)

    @property
    def suppressed(self) -> bool:
        """Whether rare rows were left out, so that the truth has rows that no interval is about."""
        return self.manifest.view.suppressed

    @once
    def checks(self) -> list[Check]:
        """What the verifier found, this moment."""
        return verify(self.release)

    @property
    def findings(self) -> list[Finding]:
        """What attacks got."""
        return self._audited[0]

    @property
    def scored(self) -> bool:
        """Whether attacks were scored by the raw table."""
        return self._audited[1]

    @once
    def _audited(self) -> tuple[list[Finding], bool]:
        """Findings by the raw table, and without it where it cannot be laid beside the published one."""
        if self.truth is not None:
            try:
                return audit(self.release, self.raw), True
            except InputError:
                pass
        if self.release.parts:
            return [replace(f, attack=f"{part.title}: {f.attack}") for part in self.parts for f in audit(part)], False
        return audit(self.release), False

    @once
    def alone(self) -> int | None:
        """Rows that are alone with the values of their public columns; None where no column is published row by row."""
        return self.release.unique_rows() if self.manifest.public else None

    @once
    def truth(self) -> pa.Table | None:
        """The raw table with the columns and values of the release, before any coin; None where ranges were published instead."""
        return None if self.raw is None or self.manifest.view.ranges else true_table(self.raw, self.release)

    @once
    def dependences(self) -> list[Dependence]:
        """What public columns tell of sensitive ones, as publishing printed it; nothing without the raw table."""
        manifest, truth = self.manifest, self.truth
        if truth is None:
            return []
        sensitive = [column.name for column in manifest.columns if column.role in ("sensitive", "apart")]
        for name, domain in manifest.domains.items():  # as codes, as publishing has them: then ties are broken alike
            codes = pa.array(domain.encode(truth.column(name).combine_chunks(), name))
            truth = truth.set_column(truth.column_names.index(name), name, codes)
        return dependence_in(truth, manifest.public, sensitive)

    @once
    def total(self) -> float:
        """How many rows the table has, by the release."""
        return float(self.ask([]).estimates[0].value[0])

    @once
    def domains(self) -> dict[str, Domain]:
        """The domains that are declared."""
        kinds = {column.name: column.type for column in self.manifest.columns}
        return self.manifest.domains | {
            name: domain.domain(kinds[name]) for name, domain in self.manifest.view.domains.items()
        }

    def ask(
        self, groups: Sequence[exp.Expression], where: exp.Expression | None = None, method: str = "unbiased"
    ) -> Estimates:
        """COUNT(*) AS n of the release, by groups g0, g1, ..."""
        return self.release.query(sql_of(_count(groups, where)), method=method)

    def count(self, where: exp.Expression | None) -> Estimate:
        """One count."""
        return self.ask([], where).estimates[0]

    def true_counts(self, groups: Sequence[exp.Expression], where: exp.Expression | None = None) -> Counts | None:
        """Counts of the raw table by groups."""
        if self.truth is None:
            return None
        rows = open_engine({TABLE: self.truth}).run(_count(groups, where)).to_pylist()
        return {tuple(row[f"g{i}"] for i in range(len(groups))): float(row["n"]) for row in rows}

    def published(self, groups: Sequence[exp.Expression], most: int) -> Counts | None:
        """How often values stand in the published rows, as they are; None where there are more than `most`."""
        weight = self.manifest.role("weight")
        counted = exp.func("SUM", exp.column(weight, quoted=True)) if weight else exp.Count(this=exp.Star())
        named = [group.as_(f"g{i}") for i, group in enumerate(groups)]
        query = exp.select(*named, counted.as_("n")).from_(TABLE).limit(most + 1)
        rows = self.release.engine.run(query.group_by(*[str(i + 1) for i in range(len(groups))])).to_pylist()
        if len(rows) > most:
            return None
        return {tuple(row[f"g{i}"] for i in range(len(groups))): float(row["n"]) for row in rows}


def _count(groups: Sequence[exp.Expression], where: exp.Expression | None) -> exp.Select:
    named = [group.copy().as_(f"g{i}") for i, group in enumerate(groups)]
    query = exp.select(*named, exp.Count(this=exp.Star()).as_("n")).from_(TABLE)
    query = query.where(where) if where is not None else query
    return query.group_by(*[exp.column(f"g{i}") for i in range(len(groups))]) if groups else query


def shares(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Counts that may be estimates as a distribution: none negative, summing to 1."""
    kept = np.maximum(counts, 0)
    return np.asarray(kept / kept.sum() if kept.sum() else np.full(len(kept), 1 / len(kept)))
