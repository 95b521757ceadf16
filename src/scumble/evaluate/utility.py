"""What a release keeps: of single records, and of the distribution of a sensitive column."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.core.arrow_types import decoded
from scumble.core.domain import Grid
from scumble.engines.engine import TABLE
from scumble.engines.sql import quoted
from scumble.evaluate.distances import earth_movers, hellinger, kullback_leibler, shares, total_variation
from scumble.mechanisms.channel_utility import record_utility
from scumble.release.release import Release
from scumble.truth import Truth


@dataclass(frozen=True)
class DistributionError:
    """How far the reconstructed distribution of a column is from the true one."""

    column: str
    total_variation: float
    hellinger: float
    kullback_leibler: float
    """Of the reconstructed distribution from the true one, in nats."""
    earth_movers: float
    """In units of the column; NaN where its values have no order."""
    mean_relative_error: float
    """Of the counts of the values that occur: what the thesis calls the reconstruction error, and its aggregate utility."""


def reconstruction(release: Release, raw: Any) -> list[DistributionError]:
    """Each sensitive column as the release gives it back, beside the truth; negative estimates count as 0."""
    truth = Truth.of(raw, release)
    return [_reconstructed(release, truth, name) for name in truth.sensitive]


def _reconstructed(release: Release, truth: Truth, name: str) -> DistributionError:
    column = quoted(name)
    answer = release.query(f"SELECT {column}, COUNT(*) AS n FROM {TABLE} GROUP BY {column}")
    domain = truth.domains[name]
    estimate = np.zeros(domain.size)
    estimate[domain.encode(answer.groups.column(0).combine_chunks(), name)] = answer["n"].value
    true = truth.counts(name)
    p, q, seen = shares(true), shares(estimate), true > 0
    return DistributionError(
        name,
        total_variation(p, q),
        hellinger(p, q),
        kullback_leibler(p, q),
        earth_movers(p, q, domain.numbers) if isinstance(domain, Grid) else math.nan,  # a missing value is nowhere
        float(np.mean(np.abs(estimate[seen] - true[seen]) / true[seen])),
    )


@dataclass(frozen=True)
class Records:
    """How many rows are published with their true value of a column."""

    column: str
    expected: float
    """From the channel and the true counts; NaN where rows go through no channel."""
    measured: float
    """Among the rows that can be told which they are; NaN where there are none."""
    rows: int
    """How many rows are alone, in the table and in the release, with the values of their public columns."""


def records(release: Release, raw: Any) -> list[Records]:
    """The share of rows that keep their true value, as it is to be expected and as it came out.

    Published rows are shuffled, so the measured share is of those that their public columns tell apart.
    """
    truth = Truth.of(raw, release)
    columns = [name for name in release.manifest.sensitive if name in truth.domains]
    return [Records(name, _expected(release, truth, name), *_measured(release, truth, name)) for name in columns]


def _expected(release: Release, truth: Truth, name: str) -> float:
    strata = [stratum[name] for stratum in release.strata]
    if len(strata) == 1:
        return record_utility(strata[0], truth.counts(name))
    parts = [np.maximum(c.solve(n), 0) for c, n in zip(strata, release.published_counts(name), strict=True)]
    kept = [float(part.sum()) * record_utility(c, part) for c, part in zip(strata, parts, strict=True)]
    return sum(kept) / float(sum(part.sum() for part in parts))


def _measured(release: Release, truth: Truth, name: str) -> tuple[float, int]:
    if any(channels[name].recoded for channels in release.strata):
        return math.nan, 0  # codes are published, and no values
    public = [name for name in truth.public if name in release.manifest.public]
    if not public:
        return math.nan, 0
    before, after = (_alone(table.select([*public, name]), public) for table in (truth.table, release.table()))
    both = before.join(after, keys=public, join_type="inner", right_suffix=" published")
    if not both.num_rows:
        return math.nan, 0
    same = pa.compute.equal(both.column(name), both.column(f"{name} published").cast(both.column(name).type))
    return float(pa.compute.sum(same.cast(pa.int64())).as_py() or 0) / both.num_rows, both.num_rows


def _alone(table: pa.Table, public: Sequence[str]) -> pa.Table:
    """The rows whose public columns no other row has."""
    plain = pa.table({name: decoded(table.column(name)) for name in table.column_names})
    grouped = plain.group_by(list(public)).aggregate([([], "count_all"), (plain.column_names[-1], "min")])
    alone = grouped.filter(pa.compute.equal(grouped.column("count_all"), 1)).drop_columns(["count_all"])
    return alone.rename_columns(
        [name.removesuffix("_min") if name == f"{plain.column_names[-1]}_min" else name for name in alone.column_names]
    )
