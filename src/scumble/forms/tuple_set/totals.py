"""Questions to a release of the (alpha, beta) algorithm: published tuples that match, less those that were made up.

estimate = (published that match - beta D) / alpha,       D = tuples of the domain that match
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from scumble.core.domain import Domain
from scumble.core.parameters import confidence
from scumble.engines.engine import registered
from scumble.forms.form import Opened, demand_unbiased
from scumble.forms.tuple_set.debias import debiased
from scumble.forms.tuple_set.record import TupleSetRecord
from scumble.query.estimates import Estimate, Estimates
from scumble.query.form_answer import Answer
from scumble.query.groups import Cell, cell_columns, cell_counts, combinations, demand_counts, keys_of, named
from scumble.query.model import Query
from scumble.query.normalize import conjuncts

NOTE = "the table is a set of tuples, and the estimate counts different ones"

WAY_OUT = "ask about fewer columns at once"

DOMAIN = "scumble_combinations"
"""The table of all that the columns of a question can be."""


def columns(release: Opened) -> list[str]:
    """All columns of the tuples."""
    return list(release.manifest.form.domains)


def answer(release: Opened, query: Query, level: Any, method: str) -> Answer:
    """The answer to COUNT(*) with WHERE and GROUP BY, for every group of the domain."""
    demand_unbiased(method, release.manifest.mechanism)
    share, domains = confidence(level), _domains(release)
    demand_counts(query, release.manifest.mechanism)
    keys, conditions = keys_of(query), conjuncts(query.where)
    asked = named([*keys.values(), *conditions]) or {next(iter(domains))}
    touched = {name: domain for name, domain in domains.items() if name in asked}
    with registered(release.engine, {DOMAIN: combinations(touched, WAY_OUT)}):
        cells = cell_counts(release.engine, keys, conditions, DOMAIN)
    rest = float(np.prod([float(domain.size) for name, domain in domains.items() if name not in touched]))
    seen = cell_counts(release.engine, keys, conditions)
    value, se = _estimated(release.manifest.form, list(cells), [count * rest for count in cells.values()], seen)
    reach = NormalDist().inv_cdf(0.5 + share / 2) * se
    estimates = [Estimate(a.name, value, se, value - reach, value + reach, "unbiased") for a in query.aggregates]
    names = [output.name for output in query.outputs]
    lines = Estimates(names, cell_columns(query, list(cells)), estimates, share, [])
    sizes = np.array([float(count) * rest for count in cells.values()])
    limits = {a.name: (np.zeros_like(sizes), sizes) for a in query.aggregates}
    return Answer(lines, lambda shown: [NOTE], limits=lambda: limits)


def _domains(release: Opened) -> dict[str, Domain]:
    kinds = {column.name: column.type for column in release.manifest.columns}
    return {name: record.domain(kinds[name]) for name, record in release.manifest.form.domains.items()}


def _estimated(record: TupleSetRecord, cells: Sequence[Cell], sizes: Sequence[float], seen: dict[Cell, int]) -> Any:
    totals = [
        debiased(record.alpha, record.beta, seen.get(cell, 0), size) for cell, size in zip(cells, sizes, strict=True)
    ]
    return np.array(totals, dtype=np.float64).reshape(-1, 2).T
