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
from sqlglot import exp

from scumble.core.channel import replacement_of
from scumble.core.errors import NotEstimable, ParameterError
from scumble.core.parameters import confidence
from scumble.engines.engine import TABLE, Engine, registered
from scumble.engines.expressions import count, either, number, select
from scumble.forms.form import Opened
from scumble.query.answer import answer_rows
from scumble.query.ask import Answer
from scumble.query.compile import Published
from scumble.query.estimates import Estimate, Estimates
from scumble.query.groups import (
    Cell,
    Keys,
    cell_columns,
    cell_counts,
    cell_of,
    combinations,
    keys_of,
    named,
    ordered,
    parts_of,
)
from scumble.query.model import Query, sql_of
from scumble.query.normalize import conjuncts

WAY_OUT = "estimate it with scumble.mechanisms.frapp.plan"

DOMAIN = "scumble_combinations"
"""The table of all that the perturbed columns can be."""


def answer_joint(release: Opened, query: Query, level: Any, method: str) -> Answer:
    """The answer to a question: an ordinary one about one perturbed column, COUNT(*) about several."""
    published, values = release.published, [a.value for a in query.aggregates if a.value is not None]
    asked = named([*parts_of(query), *values])
    touched = [name for name in published.domains if name in asked]
    if len(touched) < 2:
        return answer_rows(query, published, release.engine, level, method)
    share = confidence(level)
    if method != "unbiased":
        raise ParameterError(f"columns perturbed as one are asked together by the method unbiased, not by {method!r}")
    _demand_apart(query, touched)
    return _answer(query, published, release.engine, touched, share)


def _answer(query: Query, published: Published, engine: Engine, touched: list[str], level: float) -> Answer:
    p = float(replacement_of(published.channels(touched[0])[0]).retain)
    if p == 0:
        raise NotEstimable("the retention is 0, so nothing of the perturbed columns was published")
    domain = combinations({name: published.domains[name] for name in touched}, WAY_OUT)
    hidden, public = (_split(query, touched, which) for which in (True, False))
    with registered(engine, {DOMAIN: domain}):
        shares = cell_counts(engine, *hidden, DOMAIN)
    rows, hits = _counts(engine, public, hidden)
    cells = [(a, b) for a in rows for b in shares]
    n = np.array([rows[a] for a, _ in cells], dtype=np.float64)
    r = np.array([shares[b] / domain.num_rows for _, b in cells], dtype=np.float64)
    h = np.array([hits.get(a + b, 0) for a, b in cells], dtype=np.float64)
    hit, miss = (1 - (1 - p) * r) / p, -(1 - p) * r / p
    value, se = h * hit + (n - h) * miss, np.sqrt(np.maximum(0, h * (hit**2 - hit) + (n - h) * (miss**2 - miss)))
    reach = NormalDist().inv_cdf(0.5 + level / 2) * se
    estimates = [Estimate(a.name, value, se, value - reach, value + reach, "unbiased") for a in query.aggregates]
    names = [output.name for output in query.outputs]
    return Answer(Estimates(names, cell_columns(query, [a + b for a, b in cells]), estimates, level, []))


Wanted = tuple[Keys, list[exp.Expression]]
"""The groups and the conditions that a question has of some columns."""


def _counts(engine: Engine, public: Wanted, hidden: Wanted) -> tuple[dict[Cell, int], dict[Cell, int]]:
    """The rows of each public group, and those of each group that also have what is asked of the perturbed columns."""
    hit = exp.and_(*hidden[1]) if hidden[1] else exp.true()
    keys = {**public[0], **{name: either(hit, e) for name, e in hidden[0].items()}}
    flag = either(hit, number(1), number(0))
    table = engine.run(select({**keys, "h": flag, "n": count()}, TABLE, public[1], len(keys) + 1))
    rows, hits = dict[Cell, int](), dict[Cell, int]()
    for line in ordered(table, list(keys)).to_pylist():
        cell = cell_of(line, public[0])
        rows[cell] = rows.get(cell, 0) + line["n"]
        if line["h"]:
            hits[cell + cell_of(line, hidden[0])] = line["n"]
    return rows if rows or public[0] else {(): 0}, hits


def _split(query: Query, touched: Sequence[str], hidden: bool) -> Wanted:
    """The groups and the conditions that are about perturbed columns, or those that are about public ones."""
    return (
        {name: e for name, e in keys_of(query).items() if bool(named([e]) & set(touched)) == hidden},
        [part for part in conjuncts(query.where) if bool(named([part]) & set(touched)) == hidden],
    )


def _demand_apart(query: Query, touched: Sequence[str]) -> None:
    """Counts only, and every condition and group is about public columns or about perturbed ones."""
    for aggregate in query.aggregates:
        if aggregate.kind != "count" or aggregate.value is not None:
            raise NotEstimable(
                f"{aggregate.name!r}: of columns perturbed as one ({', '.join(touched)}) together only COUNT(*) is answered; {WAY_OUT}"
            )
    for part in parts_of(query):
        if named([part]) & set(touched) and named([part]) - set(touched):
            raise NotEstimable(
                f"{sql_of(part)} mixes public columns with columns perturbed as one; ask for them by AND, or {WAY_OUT}"
            )
