"""Questions to a release of counted tuples: which table answers, what is summed over its tuples, and what the answer is of.

A tuple is published X times. The rows that it truly stands for are estimated by X where X > k and by k - r/(1-r) where X = k, with variance
2r/(1-r)^2 and r/(1-r)^2 (`ClampedCounts.estimate`): unbiased, given which tuples were published. COUNT, SUM and AVG are sums of these, of these
times the value that a tuple has, and quotients of the two (query/counted_sums.py, query/counted_estimate.py).

What was suppressed cannot be estimated. Where the number of all rows is public, and for SUM and AVG what values they can have, it is bounded
(query/suppressed.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.core.errors import NotEstimable
from scumble.core.parameters import confidence
from scumble.engines.duckdb.tuples import CountedFiles, Rule, Summed
from scumble.forms.tuples.estimate import Known, estimate
from scumble.forms.tuples.sums import Sums
from scumble.forms.tuples.suppressed import Span, Whole
from scumble.forms.tuples.values import possible, summed
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.query.answer import arranged
from scumble.query.estimates import Estimates
from scumble.query.parse import Group, Query, parse


@dataclass(frozen=True)
class CountedTable:
    """A published table: its attributes (columns, or items of transactions) and its files."""

    name: str
    attributes: Sequence[Any]
    files: Sequence[Path]
    rows: int = 0


@dataclass(frozen=True)
class CountedRelease:
    """The tables of a release, and what was done to their counts."""

    columns: Sequence[str]
    tables: Sequence[CountedTable]
    noise: ClampedCounts | None
    """None: counts are exact."""
    total: int | None
    transactions: dict[str, str] | None
    domains: dict[str, Domain] | None
    """Where every tuple of the domain was counted."""
    c_star: int
    complete: bool = False
    """Whether every row was published, as boxes are."""
    declared: Mapping[str, Domain] = field(default_factory=dict)
    """What values columns can have, where that was declared and not every tuple of them was counted."""
    engines: dict[tuple[str, ...], "Counting"] = field(default_factory=dict, compare=False)
    """What was set up for earlier questions, by the tables that were asked."""

    def asked(self, tables: Sequence[CountedTable]) -> "Counting":
        """The tuples of some of the tables, counted once for all questions."""
        names = tuple(table.name for table in tables)
        if names not in self.engines:
            self.engines[names] = Counting.of(self, tables)
        return self.engines[names]


@dataclass(frozen=True)
class Counting:
    """Counted tuples, and what all of them together count."""

    files: CountedFiles
    all: Sums

    @classmethod
    def of(cls, release: CountedRelease, tables: Sequence[CountedTable]) -> "Counting":
        """Counts the tuples of the tables."""
        columns = release.columns if release.transactions else tables[0].attributes
        held = [(table.files, table.attributes) for table in tables]
        files = CountedFiles(held, list(columns), release.transactions, release.domains, _rule(release.noise))
        return cls(files, _sums_of(files.sums([], None, [Summed()]), Summed(), 0))

    @property
    def rows(self) -> float:
        """The rows behind published tuples."""
        return float(self.all.count.value[0])

    def whole(self, release: CountedRelease) -> Whole | None:
        """All of them beside the rows there are, where that is public and some may have been suppressed."""
        if release.total is None or release.transactions is not None or release.domains is not None:
            return None
        count = self.all.count
        return Whole(release.total, self.rows, float(count.variance[0]), float(count.tuples[0]))


def _rule(noise: ClampedCounts | None) -> Rule:
    if noise is None:
        return Rule()
    values, variances = noise.estimate([noise.floor, noise.floor + 1])
    return Rule(noise.floor, float(values[0]), float(variances[0]), float(variances[1]))


def _sums_of(found: pa.Table, of: Summed, place: int) -> Sums:
    """The sums of one value; over no tuples they are 0, and no value is the least."""
    names = [name for name in found.schema.names if name.endswith(f"_{place}")]
    sums = {name.rpartition("_")[0]: found.column(name).to_numpy().astype(np.float64) for name in names}
    return Sums(of, {n: x if n in ("least", "most") else np.nan_to_num(x) for n, x in sums.items()})


def ask_counts(sql: str, release: CountedRelease, level: Any) -> Estimates:
    """The answer to COUNT, SUM and AVG with WHERE and GROUP BY."""
    share = confidence(level)
    query = parse(sql, release.columns, ("_se", "_low", "_high", "_bound", "_least"))
    tables = _answering(query, release)
    counting = release.asked(tables)
    values = [summed(a, counting.files, query.where, release.complete) for a in query.aggregates]
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    keys = [(f"g{i}", group.expression) for i, group in enumerate(query.groups)]
    found = counting.files.sums(keys, query.where, list(places))
    spans = [possible(a, counting.files, query.where, release.declared) for a in query.aggregates]
    known = _known(release, counting, share)
    estimates = [
        estimate(a, _sums_of(found, value, places[value]), span, known)
        for a, value, span in zip(query.aggregates, values, spans, strict=True)
    ]
    names = [output.name for output in query.outputs]
    notes = [*_notes(release, tables, counting), *_boundless(query, spans, known, release)]
    return arranged(Estimates(names, _groups(query, found), estimates, share, notes), query)


def _known(release: CountedRelease, counting: Counting, share: float) -> Known:
    whole = counting.whole(release)
    exactly = release.noise is None and whole is not None and whole.rows == whole.value
    return Known(release.noise, whole, release.complete or exactly or release.domains is not None, share)


def _answering(query: Query, release: CountedRelease) -> list[CountedTable]:
    """The tables that a question is put to: one that has all its columns, or all of the transactions."""
    if release.transactions is not None:
        _refuse_pseudonyms(query, release.transactions)
        return list(release.tables)
    asked = _asked(query)
    fitting = [table for table in release.tables if asked <= set(table.attributes)]
    if fitting:
        return [max(fitting, key=lambda table: table.rows)]
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


def _groups(query: Query, found: pa.Table) -> pa.Table:
    places = {group.expression: f"g{i}" for i, group in enumerate(query.groups)}
    return pa.table({o.name: found.column(places[o.expression]) for o in query.outputs if isinstance(o, Group)})


def _notes(release: CountedRelease, tables: Sequence[CountedTable], counting: Counting) -> list[str]:
    notes: list[str] = []
    if release.domains is not None or release.complete:
        return notes
    if release.transactions is None and len(release.tables) > 1:
        notes.append(f"answered from {tables[0].name}: {', '.join(map(str, tables[0].attributes))}")
    if len(release.tables) > release.c_star:
        notes.append(
            f"each tuple stayed in at most {release.c_star} of {len(release.tables)} columns of the schema; where it was taken out it counts as suppressed"
        )
    what = "the value is exact" if release.noise is None else "the interval is"
    if release.total is None or release.transactions is not None:
        notes.append(f"{what} for what was published; rare tuples were suppressed, how many rows is not known")
    else:
        missing = f"{'' if release.noise is None else 'about '}{max(release.total - counting.rows, 0):,.0f}"
        notes.append(
            f"{what} for what was published; {missing} of {release.total:,} rows were suppressed, and any of them may match"
        )
    return notes


def _boundless(query: Query, spans: Sequence[Span | None], known: Known, release: CountedRelease) -> list[str]:
    """Why nothing bounds what suppressed rows add, where an answer without them says nothing of the table, or all but this is public."""
    bare = [a.value for a, span in zip(query.aggregates, spans, strict=True) if span is None and a.value is not None]
    if known.every or not bare or (known.whole is None and known.noise is not None):
        return []
    told = "with the suppressed rows sums and averages have no bound"
    asked = dict.fromkeys(c.name for value in bare for c in value.find_all(exp.Column))
    unknown = " and ".join(repr(name) for name in asked if name not in release.declared)
    if not unknown:
        return [f"{told} where they are of several columns with too many values to try; ask for each column by itself"]
    values = f"which values {unknown} can have (a sensitive column with low and high)"
    stated = f"{values}, nor how many rows there are (total)" if known.whole is None else values
    return [f"{told}: the publisher did not declare {stated}"]
