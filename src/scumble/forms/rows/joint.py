"""Questions about several columns that were perturbed as one (FRAPP): kept together, or replaced together.

    estimate = (h - (1 - p) r n) / p        se^2 = sum over rows of w^2 - w,     w = (hit - (1 - p) r) / p

where n rows satisfy what is asked of the public columns, h of them are published with what is asked of the perturbed ones, and r is the
share of the combinations of these that have it. A question about one of the columns is an ordinary one: by itself each went through a
uniform channel of the same retention.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.core.errors import NotEstimable, ParameterError
from scumble.core.parameters import confidence
from scumble.engines.duckdb.engine import Memory
from scumble.engines.engine import TABLE, Engine
from scumble.query.answer import arranged, ask
from scumble.query.compile import Published
from scumble.query.estimates import Estimate, Estimates
from scumble.query.normalize import conjuncts
from scumble.query.parse import Group, Query, parse

MOST = 10_000_000
"""Combinations of the columns of a question, at most."""

WAY_OUT = "estimate it with scumble.mechanisms.frapp.plan"


def ask_joint(sql: str, published: Published, engine: Engine, level: Any, method: str) -> Estimates:
    """The answer to a question: an ordinary one about one perturbed column, COUNT(*) about several."""
    query = parse(sql, published.columns)
    touched = [
        name
        for name in published.domains
        if name in named([*_parts(query), *(a.value for a in query.aggregates if a.value is not None)])
    ]
    if len(touched) < 2:
        return ask(sql, published, engine, level, method)
    share = confidence(level)
    if method != "unbiased":
        raise ParameterError(f"columns perturbed as one are asked together by the method unbiased, not by {method!r}")
    _demand_apart(query, touched)
    return _answer(query, published, engine, touched, share)


def _answer(query: Query, published: Published, engine: Engine, touched: list[str], level: float) -> Estimates:
    p = float(published.channels(touched[0])[0].retain)
    if p == 0:
        raise NotEstimable("the retention is 0, so nothing of the perturbed columns was published")
    domain = combinations({name: published.domains[name] for name in touched})
    hidden_keys, hidden = _split(query, touched, True)
    public_keys, public = _split(query, touched, False)
    shares = cell_counts(Memory(domain), hidden_keys, hidden)
    rows = cell_counts(engine, public_keys, public)
    hits = cell_counts(engine, public_keys | hidden_keys, [*public, *hidden])
    cells = [(a, b) for a in rows for b in shares]
    n, r, h = (
        np.array(numbers, dtype=np.float64)
        for numbers in (
            [rows[a] for a, _ in cells],
            [shares[b] / domain.num_rows for _, b in cells],
            [hits.get(a + b, 0) for a, b in cells],
        )
    )
    hit, miss = (1 - (1 - p) * r) / p, -(1 - p) * r / p
    value, se = h * hit + (n - h) * miss, np.sqrt(np.maximum(0, h * (hit**2 - hit) + (n - h) * (miss**2 - miss)))
    reach = NormalDist().inv_cdf(0.5 + level / 2) * se
    estimates = [Estimate(a.name, value, se, value - reach, value + reach, "unbiased") for a in query.aggregates]
    names = [output.name for output in query.outputs]
    return arranged(Estimates(names, cell_columns(query, [a + b for a, b in cells]), estimates, level, []), query)


def combinations(domains: dict[str, Domain]) -> pa.Table:
    """Each combination of values once."""
    shape = [domain.size for domain in domains.values()]
    count = int(np.prod(np.array(shape, dtype=object)))
    if count > MOST:
        raise NotEstimable(f"{', '.join(domains)} have {count:,} combinations, more than {MOST:,}; {WAY_OUT}")
    places = np.unravel_index(np.arange(count), shape)
    taken = zip(domains.items(), places, strict=True)
    return pa.table({name: domain.values.take(pa.array(place)) for (name, domain), place in taken})


Keys = dict[str, exp.Expression]
Cell = tuple[tuple[str, Any], ...]
"""The values of some groups, each under the name of its key."""


def _split(query: Query, touched: Sequence[str], hidden: bool) -> tuple[Keys, list[exp.Expression]]:
    """The groups and the conditions that are about perturbed columns, or those that are about public ones."""
    keys = {f"g{i}": group.expression for i, group in enumerate(query.groups)}
    conditions = conjuncts(query.where)
    return (
        {name: e for name, e in keys.items() if bool(named([e]) & set(touched)) == hidden},
        [part for part in conditions if bool(named([part]) & set(touched)) == hidden],
    )


def cell_counts(engine: Engine, keys: Keys, conditions: Sequence[exp.Expression]) -> dict[Cell, int]:
    """How many rows of each group satisfy all conditions."""
    statement = exp.select(*[e.copy().as_(name) for name, e in keys.items()], "COUNT(*) AS n").from_(TABLE)
    for part in conditions:
        statement = statement.where(exp.Paren(this=part.copy()))
    if keys:
        places = [str(i + 1) for i in range(len(keys))]
        statement = statement.group_by(*places).order_by(*places)
    lines = engine.run(statement).to_pylist()
    return {tuple((name, _comparable(line[name])) for name in keys): int(line["n"]) for line in lines}


def _comparable(value: Any) -> Any:
    """A value that equals itself: what is not a number does not, and is one group."""
    return np.nan if value != value else value


def cell_columns(query: Query, cells: Sequence[Cell]) -> pa.Table:
    """The group columns of an answer."""
    places = {group.expression: f"g{i}" for i, group in enumerate(query.groups)}
    lines = [dict(cell) for cell in cells]
    outputs = [o for o in query.outputs if isinstance(o, Group)]
    return pa.table({o.name: pa.array([line[places[o.expression]] for line in lines]) for o in outputs})


def named(parts: Sequence[exp.Expression]) -> set[str]:
    """The columns that expressions are about."""
    return {column.name for part in parts for column in part.find_all(exp.Column)}


def _parts(query: Query) -> list[exp.Expression]:
    return [*(group.expression for group in query.groups), *conjuncts(query.where)]


def _demand_apart(query: Query, touched: Sequence[str]) -> None:
    """Counts only, and every condition and group is about public columns or about perturbed ones."""
    for aggregate in query.aggregates:
        if aggregate.kind != "count" or aggregate.value is not None:
            raise NotEstimable(
                f"{aggregate.name!r}: of columns perturbed as one ({', '.join(touched)}) together only COUNT(*) is answered; {WAY_OUT}"
            )
    for part in _parts(query):
        if named([part]) & set(touched) and named([part]) - set(touched):
            raise NotEstimable(
                f"{part.sql(dialect='duckdb')} mixes public columns with columns perturbed as one; ask for them by AND, or {WAY_OUT}"
            )
