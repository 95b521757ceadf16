"""Personal groups as an attacker reads them off a release, and as the raw table has them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.channel import replacement_of
from scumble.core.errors import ParameterError
from scumble.engines.engine import TABLE
from scumble.engines.sql import rows_drawn
from scumble.mechanisms.sps.personal_groups import Counts, PersonalGroups, distinct_rows, personal_groups, regrouped
from scumble.release.release import Release
from scumble.truth import merged

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublishedGroups:
    """What anybody sees of the groups."""

    keys: pa.Table
    size: Counts
    """n: the people of each group, which weights or duplicates add up to."""
    counts: Counts
    """How often each value was published in it, among the sampled rows: a row for each group, a column for each value."""
    retain: float

    @property
    def sampled(self) -> Counts:
        """s: the sampled rows of each group."""
        return np.asarray(self.counts.sum(axis=1))

    def estimates(self) -> Numbers:
        """F = (O/s - b)/p for every value, b = (1-p)/m, not below 0 nor above 1: what the sample size is to keep inexact."""
        other = (1 - self.retain) / self.counts.shape[1]
        share = self.counts / np.maximum(self.sampled, 1)[:, np.newaxis]
        return np.asarray(np.clip((share - other) / self.retain, 0, 1))


def sensitive_column(release: Release) -> str:
    """The one perturbed column; groups are personal with respect to it."""
    names = release.manifest.sensitive
    if len(names) != 1 or len(release.strata) != 1 or not release.strata[0][names[0]].constant:
        raise ParameterError("this looks at releases with one perturbed column and one retention (uniform, sps)")
    return names[0]


def read_groups(release: Release) -> PublishedGroups:
    """The groups of a release."""
    name, manifest = sensitive_column(release), release.manifest
    weight, copies = manifest.role("weight"), manifest.role("copies")
    keys = [exp.column(n, quoted=True) for n in [*manifest.public, name]]
    people = exp.Sum(this=exp.column(weight, quoted=True)) if weight else exp.Count(this=exp.Star())
    counted = [rows_drawn(copies).as_("scumble n", quoted=True), people.as_("scumble people", quoted=True)]
    select = exp.select(*keys, *counted).from_(TABLE)
    lines = release.engine.run(select.group_by(*[str(i + 1) for i in range(len(keys))]))
    domain = manifest.domains[name]
    codes = domain.encode(lines.column(name).combine_chunks(), name).astype(np.int64)
    public = lines.select(manifest.public) if manifest.public else pa.table({"": pa.nulls(lines.num_rows)})
    groups = regrouped(public, codes, lines.column("scumble n").to_numpy().astype(np.int64), domain.size)
    _, group = distinct_rows(public)
    people_of = np.bincount(group, weights=lines.column("scumble people").to_numpy(), minlength=len(groups))
    retain = float(replacement_of(release.strata[0][name]).retain)
    return PublishedGroups(groups.keys, np.rint(people_of).astype(np.int64), groups.dense(), retain)


def true_counts(release: Release, groups: PublishedGroups, raw: Any) -> Counts:
    """The counts of the raw table, for the groups of the release."""
    name, manifest = sensitive_column(release), release.manifest
    coarsened = {c.name: c.coarsened for c in manifest.columns if c.role == "public"}
    merged = _merged(release, personal_groups(raw, coarsened, name, manifest.domains[name]))
    keys = merged.keys.cast(groups.keys.schema) if manifest.public else groups.keys
    _, place = distinct_rows(pa.concat_tables([groups.keys, keys]))
    at = {int(number): row for row, number in enumerate(place[len(groups.keys) :])}
    try:
        rows = [at[int(number)] for number in place[: len(groups.keys)]]
    except KeyError:
        raise ParameterError(
            "the raw table has not the groups of the release; is it the table that was published?"
        ) from None
    return merged.dense()[rows]


def _merged(release: Release, groups: PersonalGroups) -> PersonalGroups:
    records = [column for column in release.manifest.columns if column.merged]
    if not records:
        return groups
    keys = groups.keys
    for record in records:
        place = keys.column_names.index(record.name)
        keys = keys.set_column(place, record.name, merged(keys.column(record.name), record))
    return regrouped(keys.take(pa.array(groups.group)), groups.code, groups.records, groups.values)
