"""Questions to a release of the (alpha, beta) algorithm: published tuples that match, less those that were made up.

estimate = (published that match - beta D) / alpha,       D = tuples of the domain that match
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from scumble.core.domain import Domain
from scumble.core.errors import QueryError
from scumble.core.parameters import confidence
from scumble.engines.duckdb.engine import Memory
from scumble.engines.engine import Engine
from scumble.forms.rows.joint import Cell, cell_columns, cell_counts, combinations, named
from scumble.mechanisms.alpha_beta.plan import AlphaBeta
from scumble.query.answer import arranged
from scumble.query.estimates import Estimate, Estimates
from scumble.query.normalize import conjuncts
from scumble.query.parse import parse

NOTE = "the table is a set of tuples, and the estimate counts different ones"


def ask_alpha_beta(
    sql: str, domains: dict[str, Domain], alpha: float, beta: float, engine: Engine, level: Any
) -> Estimates:
    """The answer to COUNT(*) with WHERE and GROUP BY, for every group of the domain."""
    share = confidence(level)
    query = parse(sql, list(domains))
    for aggregate in query.aggregates:
        if aggregate.kind != "count" or aggregate.value is not None:
            raise QueryError(f"a release of alpha_beta answers COUNT(*), and not {aggregate.name!r}")
    keys = {f"g{i}": group.expression for i, group in enumerate(query.groups)}
    conditions = conjuncts(query.where)
    asked = named([*keys.values(), *conditions]) or {next(iter(domains))}
    touched = {name: domain for name, domain in domains.items() if name in asked}
    cells = cell_counts(Memory(combinations(touched)), keys, conditions)
    rest = float(np.prod([float(domain.size) for name, domain in domains.items() if name not in touched]))
    seen = cell_counts(engine, keys, conditions)
    made = AlphaBeta(tuple(domain.size for domain in domains.values()), alpha, beta)
    value, se = _estimated(made, list(cells), [count * rest for count in cells.values()], seen)
    reach = NormalDist().inv_cdf(0.5 + share / 2) * se
    estimates = [Estimate(a.name, value, se, value - reach, value + reach, "unbiased") for a in query.aggregates]
    names = [output.name for output in query.outputs]
    return arranged(Estimates(names, cell_columns(query, list(cells)), estimates, share, [NOTE]), query)


def _estimated(made: AlphaBeta, cells: Sequence[Cell], sizes: Sequence[float], seen: dict[Cell, int]) -> Any:
    found = [made.estimate(seen.get(cell, 0), size) for cell, size in zip(cells, sizes, strict=True)]
    return np.array(found, dtype=np.float64).reshape(-1, 2).T
