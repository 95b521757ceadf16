"""Questions to a release of counted tuples: which table answers, what is summed over its tuples, and what the answer is of.

A tuple is published X times. The rows that it truly stands for are estimated by X where X > k and by k - r/(1-r) where X = k, with variance
2r/(1-r)^2 and r/(1-r)^2 (`ClampedCounts.estimate`): unbiased, given which tuples were published. COUNT, SUM and AVG are sums of these, of these
times the value that a tuple has, and quotients of the two (sums.py, estimate.py).

What was suppressed cannot be estimated. Where the number of all rows is public, and for SUM and AVG what values they can have, it is bounded
(suppressed.py).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlglot import exp

from scumble.core.errors import NotEstimable
from scumble.core.parameters import confidence
from scumble.forms.form import Opened, demand_unbiased
from scumble.forms.tuples.capped import Capped
from scumble.forms.tuples.counted_tables import Counting, sums_of
from scumble.forms.tuples.counting import COUNT, tuples_of
from scumble.forms.tuples.estimate import Known, estimate
from scumble.forms.tuples.marginals import Marginal, Together
from scumble.forms.tuples.opened import CountedRelease, CountedTable, counted_release
from scumble.forms.tuples.suppressed import Span
from scumble.forms.tuples.values import ends_of, possible, summed
from scumble.query.aggregates.aggregation import LINEAR
from scumble.query.estimates import Estimates
from scumble.query.form_answer import Answer
from scumble.query.groups import keys_of, line_columns
from scumble.query.model import Query

CORRECTED = (
    "counts are put right by how many columns tuples have values in, which is right where those that match have as many as others (else a count lies between "
    "_least and _bound), and the upper end of a count has all that may have been suppressed"
)
LOWER = "how many were taken out of a column was not published: counts and sums are what was left, lower than the truth, and only their lower end is known"


def columns(release: Opened) -> list[str]:
    """All that were published."""
    return [column.name for column in release.manifest.columns]


def answer(release: Opened, query: Query, level: Any, method: str) -> Answer:
    """The answer to COUNT, SUM and AVG with WHERE and GROUP BY."""
    demand_unbiased(method, "counted tuples")
    _demand_sums(query)
    share, counted = confidence(level), _opened(release)
    tables = _answering(query, counted)
    asked = [name for name in counted.columns if name in _asked(query)]
    counting = _cells(release, counted, tables, asked) if counted.marginals else _counting(release, counted, tables)
    tuples, where = counting.tuples, query.where
    ends = ends_of(query.aggregates, tuples, where)
    values = [summed(a, ends, counted.complete) for a in query.aggregates]
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    sums = tuples.sums(keys_of(query), where, list(places))
    capped = Capped.of(query, counting, sums, list(places), counted.transactions, [t.attributes for t in tables])
    spans = [possible(a, tuples, where, counted.declared, ends) for a in query.aggregates]
    names, groups = [output.name for output in query.outputs], line_columns(query, sums)

    def at(level: float) -> Answer:
        known = _known(counted, counting, level)
        estimates = []
        for aggregate, value, span in zip(query.aggregates, values, spans, strict=True):
            own = sums_of(sums, value, places[value])
            if capped is None:
                estimates.append(estimate(aggregate, own, span, known))
            else:
                estimates.append(capped.estimate(aggregate, own, places[value], span, known))
        notes = [*_notes(query, counted, tables, counting), *_boundless(query, spans, known, counted)]
        every = np.full(len(sums), np.inf if counted.total is None or counted.transactions else float(counted.total))
        limits = {a.name: (np.zeros(len(sums)), every) for a in query.aggregates if a.kind == "count"}
        return Answer(Estimates(names, groups, estimates, level, []), lambda shown: notes, at=at, limits=lambda: limits)

    return at(share)


def _demand_sums(query: Query) -> None:
    """Refuses what is more than counts and sums: rare tuples, which decide it, were suppressed."""
    for aggregate in query.aggregates:
        if aggregate.kind not in LINEAR:
            raise NotEstimable(
                f"{aggregate.how.name.upper()} cannot be answered of counted tuples: rare ones, which decide it, may be suppressed; ask for COUNT, SUM, AVG or STDDEV"
            )


def _opened(release: Opened) -> CountedRelease:
    """What is known of its tables, which is worked out once."""
    if "counted" not in release.prepared:
        release.prepared["counted"] = counted_release(release.manifest)
    counted: CountedRelease = release.prepared["counted"]
    return counted


def _counting(release: Opened, counted: CountedRelease, tables: Sequence[CountedTable]) -> Counting:
    """The tuples of some of the tables, counted once for all questions."""
    name = "tuples of " + " ".join(table.name for table in tables)
    if name not in release.prepared:
        release.prepared[name] = Counting.of(counted, tables, release.engine)
    counting: Counting = release.prepared[name]
    return counting


def _cells(release: Opened, counted: CountedRelease, tables: Sequence[CountedTable], columns: list[str]) -> Counting:
    """The cells of the columns of a question, put together of all marginals that have them; each set of columns once for all questions."""
    domains, prepared = counted.domains or {}, release.prepared
    name = "cells of " + " ".join(map(repr, columns))
    if name not in prepared:
        marginals = [marginal_of(release, counted, table) for table in tables]
        own = {column: domains[column] for column in columns}
        prepared[name] = Counting.of_cells(Together.of(marginals, columns), own, release.engine)
    counting: Counting = prepared[name]
    return counting


def marginal_of(release: Opened, counted: CountedRelease, table: CountedTable) -> Marginal:
    """One of the tables, read once for all questions."""
    name = f"marginal {table.name}"
    if name not in release.prepared:
        assert counted.domains is not None
        assert table.noise is not None
        domains = {column: counted.domains[column] for column in table.attributes}
        tuples = tuples_of(release.engine, table.place, table.attributes)
        release.prepared[name] = Marginal.of(domains, table.noise, tuples, COUNT)
    marginal: Marginal = release.prepared[name]
    return marginal


def _known(release: CountedRelease, counting: Counting, share: float) -> Known:
    all_tuples = counting.all_tuples(release)
    exactly = counting.noise is None and all_tuples is not None and all_tuples.rows == all_tuples.value
    return Known(counting.noise, all_tuples, release.complete or exactly or release.domains is not None, share)


def _answering(query: Query, release: CountedRelease) -> list[CountedTable]:
    """The tables that a question is put to: one that has all its columns, or all of the transactions."""
    if release.transactions is not None:
        _refuse_pseudonyms(query, release.transactions)
        return list(release.tables)
    asked = _asked(query)
    fitting = [table for table in release.tables if asked <= set(table.attributes)]
    if fitting:
        return fitting if release.marginals else [max(fitting, key=lambda table: table.rows)]
    if release.marginals:
        raise NotEstimable(_apart(asked, release))
    held = "; ".join(
        f"{name!r} is in "
        + " and ".join(
            f"{t.name} ({', '.join(map(str, t.attributes))})" for t in release.tables if name in t.attributes
        )
        for name in sorted(asked)
    )
    raise NotEstimable(
        f"no column of the schema has all of {', '.join(sorted(asked))}, and what was published apart cannot be put together: {held}. "
        "Ask for each part by itself"
    )


def _apart(asked: set[str], release: CountedRelease) -> str:
    names = ", ".join(sorted(asked))
    held = "; ".join(", ".join(map(str, table.attributes)) for table in release.tables[:20])
    return (
        f"no marginal of this release has all of {names}: it has {held}{'; ...' if len(release.tables) > 20 else ''}. "
        f"Ask for columns of one of them, or its publisher for a marginal of {names}"
    )


def _asked(query: Query) -> set[str]:
    parts = [*(g.expression for g in query.groups), *(a.value for a in query.aggregates), query.where]
    return {column.name for part in parts if part is not None for column in part.find_all(exp.Column)}


def _refuse_pseudonyms(query: Query, roles: dict[str, str]) -> None:
    asked = _asked(query) & {roles["user"], roles["pattern"]}
    if asked:
        raise NotEstimable(
            f"{sorted(asked)[0]!r} numbers published copies anew and stands for nobody; ask about {roles['item']!r}"
            + (f" and {roles['value']!r}" if "value" in roles else "")
        )


def _notes(query: Query, release: CountedRelease, tables: Sequence[CountedTable], counting: Counting) -> list[str]:
    notes: list[str] = []
    if release.marginals:
        return [_put_together(tables)]
    if release.domains is not None or release.complete:
        return notes
    if release.transactions is None and len(release.tables) > 1:
        notes.append(f"answered from {tables[0].name}: {', '.join(map(str, tables[0].attributes))}")
    if counting.capped is not None:
        notes.append(
            f"each tuple stayed in at most {release.c_star} of {len(release.tables)} columns of the schema; "
            + (CORRECTED if counting.corrected else LOWER)
        )
        if counting.corrected and all(aggregate.kind == "count" for aggregate in query.aggregates):
            return notes
    what = "the interval is" if release.noisy else "the value is exact"
    if release.total is None or release.transactions is not None:
        notes.append(f"{what} for what was published; rare tuples were suppressed, how many rows is not known")
    else:
        missing = f"{'about ' if release.noisy else ''}{max(release.total - counting.rows, 0):,.0f}"
        notes.append(
            f"{what} for what was published; {missing} of {release.total:,} rows were suppressed, and any of them may match"
        )
    return notes


def _put_together(tables: Sequence[CountedTable]) -> str:
    """Which marginals an answer is from."""
    first, *others = tables
    if not others:
        return f"answered from {first.name}: {', '.join(map(str, first.attributes))}"
    return (
        f"put together of {len(tables)} marginals that have these columns, each weighted by the inverse of its variance"
    )


def _boundless(query: Query, spans: Sequence[Span | None], known: Known, release: CountedRelease) -> list[str]:
    """Why nothing bounds what suppressed rows add, where an answer without them says nothing of the table, or all but this is public."""
    bare = [a.value for a, span in zip(query.aggregates, spans, strict=True) if span is None and a.value is not None]
    if known.every or not bare or (known.all_tuples is None and known.noise is not None):
        return []
    sentence = "with the suppressed rows sums and averages have no bound"
    asked = dict.fromkeys(c.name for value in bare for c in value.find_all(exp.Column))
    unknown = " and ".join(repr(name) for name in asked if name not in release.declared)
    if not unknown:
        return [
            f"{sentence} where they are of several columns with too many values to try; ask for each column by itself"
        ]
    values = f"which values {unknown} can have (a sensitive column with low and high)"
    stated = f"{values}, nor how many rows there are (total)" if known.all_tuples is None else values
    return [f"{sentence}: the publisher did not declare {stated}"]
