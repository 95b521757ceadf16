"""Questions to a release of Anatomy: each row counts for every value of its bucket, by its share of the bucket.

    estimate = sum over buckets of  T / n,      T = pairs of a row and a value of the bucket that match

Its error is that of values dealt at random within each bucket, which is the estimator's model and not how the table came about.
"""

from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.core.errors import QueryError
from scumble.core.parameters import confidence
from scumble.engines.duckdb.buckets import Buckets
from scumble.query.answer import arranged
from scumble.query.estimates import Estimate, Estimates
from scumble.query.parse import Group, parse

NOTE = (
    "the interval takes the values of a bucket as dealt at random among its rows; a condition on public columns that follow the value is estimated with a "
    "bias that it does not cover, and suppressed rows are not counted"
)


def ask_anatomy(sql: str, buckets: Buckets, level: Any) -> Estimates:
    """The answer to COUNT(*) with WHERE and GROUP BY."""
    share = confidence(level)
    query = parse(sql, buckets.columns)
    for aggregate in query.aggregates:
        if aggregate.kind != "count" or aggregate.value is not None:
            raise QueryError(f"a release of anatomy answers COUNT(*), and not {aggregate.name!r}")
    places = {group.expression: f"g{i}" for i, group in enumerate(query.groups)}
    found = buckets.sums([(name, e) for e, name in places.items()], query.where)
    value, variance = (np.nan_to_num(found.column(n).to_numpy().astype(np.float64)) for n in ("v", "s"))
    se = np.sqrt(np.where(variance > 1e-9 * (1 + value), variance, 0))
    reach = NormalDist().inv_cdf(0.5 + share / 2) * se
    estimates = [Estimate(a.name, value, se, value - reach, value + reach, "buckets") for a in query.aggregates]
    groups = {o.name: found.column(places[o.expression]) for o in query.outputs if isinstance(o, Group)}
    names = [output.name for output in query.outputs]
    return arranged(Estimates(names, pa.table(groups), estimates, share, [NOTE]), query)
