"""Counts of releases whose tuples stayed in c* columns of a schema at most: put right by a histogram of columns, or lower counts.

With the histogram (mechanisms/kept_columns.py) each published tuple stands for F times as many, and gets the variance of the choice. What all tuples of
a table have in common, the variance of F, is added group by group. The upper end of a count has what was suppressed, too: F (K - B) tuples, B of the K
that were kept being published, of which each may match. Without a histogram nobody knows how many were taken out, and a count has no upper end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.engines.engine import registered
from scumble.engines.expressions import column, count, select
from scumble.forms.tuples.capped_table import PLACE, CappedTable
from scumble.forms.tuples.counted_tables import Counting, sums_of
from scumble.forms.tuples.counting import CountedTuples, owned
from scumble.forms.tuples.estimate import Known, estimate
from scumble.forms.tuples.linear import Floats
from scumble.forms.tuples.statement import Summed
from scumble.forms.tuples.sums import Sums
from scumble.forms.tuples.suppressed import Span
from scumble.query.estimates import Estimate
from scumble.query.groups import Keys, keys_of
from scumble.query.model import Aggregate, Query
from scumble.query.normalize import conjuncts

ITEMS = "scumble_items"
"""The items that a question may ask for, with the table that answers for each."""

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Capped:
    """The lines of an answer table by table, and how many rows of a suppressed tuple may match in each."""

    tables: Sequence[CappedTable]
    lines: Places
    places: Places
    parts: Sequence[Sums]
    matching: Floats
    """For each line and table how many rows of one tuple can match."""

    @classmethod
    def of(
        cls,
        query: Query,
        counting: Counting,
        whole: pa.Table,
        values: Sequence[Summed],
        roles: Mapping[str, str] | None,
        attributes: Sequence[Sequence[Any]],
    ) -> "Capped | None":
        """Asks for the sums of each table; nothing where no cap took tuples out."""
        if counting.capped is None:
            return None
        keys = keys_of(query)
        found = counting.tuples.sums({**keys, PLACE: column(PLACE)}, query.where, values)
        lines, places = by_table(whole, found, keys)
        parts = [sums_of(found, value, place) for place, value in enumerate(values)]
        matching = _matching(query, whole, counting.tuples, attributes, roles)
        return cls(counting.capped, lines, places, parts, matching)

    def estimate(self, aggregate: Aggregate, whole: Sums, place: int, span: Span | None, known: Known) -> Estimate:
        """One aggregate: put right with an upper end for what was suppressed, or a lower count."""
        result = estimate(aggregate, self._shared(whole, place), span, known)
        if any(table.column is None for table in self.tables):
            result = _open(aggregate.kind, result, span)
        if aggregate.kind != "count":
            return result
        high, least, most = self._ends(result, place, known.share)
        if not all(table.column for table in self.tables):
            return replace(result, high=np.minimum(high, result.high))
        result = replace(result, high=high)
        return replace(result, least=np.minimum(least, result.low), bound=np.maximum(most, result.high))

    def _shared(self, whole: Sums, place: int) -> Sums:
        """The sums with the variance that the tuples of a table have in common: (sum of w F v)^2 times that of F, relatively."""
        relative = np.array([0.0 if t.column is None else t.column.shared for t in self.tables])[self.places]
        sums, parts = dict(whole.sums), self.parts[place].sums
        for name, (a, b) in _PRODUCTS.items():
            if name in sums:
                sums[name] = sums[name] + np.bincount(self.lines, relative * parts[a] * parts[b], len(whole.weight))
        return replace(whole, sums=sums)

    def _ends(self, e: Estimate, place: int, share: float) -> tuple[Floats, Floats, Floats]:
        """The upper end of a count: what is published, and as many suppressed tuples as there may be, each with the most rows that match.

        And the ends of what it can be if those that match stayed less or more often than others.
        """
        whole = e.value
        value, variance, least, most = (np.zeros_like(whole) for _ in range(4))
        for number, table in enumerate(self.tables):
            rows, own, sums = self.matching[:, number], self.places == number, self.parts[place].sums
            if table.column is None:
                value[rows > 0] = most[rows > 0] = np.inf
                least += np.bincount(self.lines[own], sums["count"][own], len(whole))
                continue
            count, noise = (
                np.bincount(self.lines[own], sums[name][own], len(whole)).astype(np.float64)
                for name in ("count", "s02")
            )
            above, spread, fewest, all_of_them = table.beyond(count, noise, rows)
            value, variance, least, most = value + above, variance + spread, least + fewest, most + all_of_them
        z = NormalDist().inv_cdf(0.5 + share / 2)
        reach = z * np.sqrt(variance)
        return np.maximum(value + reach, whole), least - np.maximum(whole - e.low, 0), most + reach


_PRODUCTS = {"s02": ("count", "count"), "s11": ("spread", "count"), "s20": ("spread", "spread")}
"""Sums of variances and covariances, and what they are of."""


def _open(kind: str, e: Estimate, span: Span | None) -> Estimate:
    """An estimate of what was left of the truth: its ends are those that are sure, with all that may have been taken out."""
    if e.bound is not None:
        least = e.low if e.least is None else e.least
        return replace(e, low=least, high=e.bound, bound=None, least=None)
    low, high = np.full_like(e.low, -np.inf), np.full_like(e.high, np.inf)
    if span is None:
        return replace(e, low=low, high=high)
    if kind == "avg":
        return replace(e, low=np.full_like(low, span[0]), high=np.full_like(high, span[1]))
    return replace(e, low=e.low if span[0] >= 0 else low, high=e.high if span[1] <= 0 else high)


def by_table(whole: pa.Table, parts: pa.Table, keys: Keys) -> tuple[Places, Places]:
    """For each line of `parts`, which has a table beside its keys, the line of the whole answer that it belongs to, and the table."""
    lines = np.zeros(len(parts), np.int64)
    if keys:
        codes = np.stack([_codes(whole.column(name), parts.column(name)) for name in keys], axis=1)
        numbers = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
        line_of = np.zeros(int(numbers.max(initial=0)) + 1, np.int64)
        line_of[numbers[: len(whole)]] = np.arange(len(whole))
        lines = line_of[numbers[len(whole) :]]
    return lines, parts.column(PLACE).to_numpy().astype(np.int64)


def _codes(whole: pa.ChunkedArray, parts: pa.ChunkedArray) -> Places:
    both = pa.chunked_array([*whole.chunks, *parts.chunks], whole.type).combine_chunks()
    return np.asarray(both.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False), np.int64)


def _matching(
    query: Query,
    lines: pa.Table,
    tuples: CountedTuples,
    attributes: Sequence[Sequence[Any]],
    roles: Mapping[str, str] | None,
) -> Floats:
    """For each line and table the most rows of one tuple that match: of a table of rows 1, of transactions the items that are asked for.

    attributes   of each table: of transactions, items
    """
    if roles is None:
        return np.ones((len(lines), 1))
    item, kind = roles["item"], tuples.kind(roles["item"])
    items = [pa.array(own).cast(kind) for own in owned(attributes)]
    grouped = [name for name, key in keys_of(query).items() if isinstance(key, exp.Column) and key.name == item]
    if grouped:
        asked, owners = lines.column(grouped[0]).to_pylist(), [set(own.to_pylist()) for own in items]
        return np.array([[float(value in own) for own in owners] for value in asked]).reshape(-1, len(items))
    own = [part for part in conjuncts(query.where) if {c.name for c in part.find_all(exp.Column)} == {item}]
    places = np.repeat(np.arange(len(items)), [len(part) for part in items])
    with registered(tuples.engine, {ITEMS: pa.table({item: pa.chunked_array(items, kind), PLACE: places})}):
        counted = tuples.engine.run(select({PLACE: column(PLACE), "n": count()}, ITEMS, own, 1))
    rows = np.zeros(len(items))
    rows[counted.column(PLACE).to_numpy()] = counted.column("n").to_numpy()
    return np.tile(rows, (len(lines), 1))
