"""What noisy marginals will answer: for forecasts, before a coin is flipped.

The form answers questions by the rows that each cell stands for, and how uncertain that is. Given the true counts and the variances to be expected in their
place, it answers with the truth and the errors to come.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.engines import open_engine
from scumble.engines.engine import TABLE, Engine
from scumble.forms.tuples.marginals import Marginal, dense
from scumble.forms.tuples.opened import CountedRelease, CountedTable
from scumble.mechanisms.marginals.plan import MarginalsPlan
from scumble.query.compile import Published

ONE = "scumble one"


@dataclass(frozen=True, eq=False)
class ExpectedRelease:
    """What a form asks of a release, of one that is not there yet."""

    engine: Engine
    prepared: dict[Any, Any]
    manifest: None = None
    published: Published = field(default_factory=lambda: Published([], {}, []))


def expected(table: pa.Table, plan: MarginalsPlan) -> ExpectedRelease:
    """The release of a table whose columns are in memory."""
    rows = table.append_column(ONE, pa.array(np.ones(table.num_rows)))
    prepared: dict[Any, Any] = {}
    tables = []
    for place, marginal in enumerate(plan.marginals, 1):
        name = f"marginal-{place:02d}"
        counts = dense(rows, {column: plan.domains[column] for column in marginal.columns}, ONE)
        variances = marginal.noise.expected_variance(counts)
        prepared[f"marginal {name}"] = Marginal(marginal.columns, marginal.noise, counts, variances)
        tables.append(CountedTable(name, list(marginal.columns), name, marginal.noise))
    prepared["counted"] = CountedRelease(list(plan.domains), tables, None, None, plan.domains, len(tables))
    return ExpectedRelease(open_engine({TABLE: table.slice(0, 0)}), prepared)
