"""Questions to a release of Anatomy: each row counts for every value of its bucket, by its share of the bucket.

    estimate = sum over buckets of  T / n,      T = pairs of a row and a value of the bucket that match

Its error is that of values dealt at random within each bucket, which is the estimator's model and not how the table came about.
"""

from statistics import NormalDist
from typing import Any

import numpy as np

from scumble.core.parameters import confidence
from scumble.forms.buckets.pairs import prepare, sums
from scumble.forms.form import Opened, demand_unbiased
from scumble.query.estimates import Estimate, Estimates
from scumble.query.form_answer import Answer
from scumble.query.groups import demand_counts, keys_of, line_columns, ordered
from scumble.query.model import Query

NOTE = (
    "the interval takes the values of a bucket as dealt at random among its rows; a condition on public columns that follow the value is estimated with a "
    "bias that it does not cover, and suppressed rows are not counted"
)


def columns(release: Opened) -> list[str]:
    """The public columns, and the one whose values were published apart."""
    return [*release.manifest.public, str(release.manifest.role("apart"))]


def answer(release: Opened, query: Query, level: Any, method: str) -> Answer:
    """The answer to COUNT(*) with WHERE and GROUP BY."""
    demand_unbiased(method, release.manifest.mechanism)
    share = confidence(level)
    demand_counts(query, release.manifest.mechanism)
    prepare(release)
    keys = keys_of(query)
    table = ordered(release.engine.run(sums(columns(release), keys, query.where)), list(keys))
    sums_of = {
        name: np.nan_to_num(table.column(name).to_numpy().astype(np.float64)) for name in ("v", "s", "least", "most")
    }
    value, variance = sums_of["v"], sums_of["s"]
    se = np.sqrt(np.where(variance > 1e-9 * (1 + value), variance, 0))
    reach = NormalDist().inv_cdf(0.5 + share / 2) * se
    estimates = [Estimate(a.name, value, se, value - reach, value + reach, "buckets") for a in query.aggregates]
    names = [output.name for output in query.outputs]
    limits = {a.name: (sums_of["least"], sums_of["most"]) for a in query.aggregates}
    lines = Estimates(names, line_columns(query, table), estimates, share, [])
    return Answer(lines, lambda shown: [NOTE], limits=lambda: limits)
