"""Noise: do published counts differ from the true ones as the manifest says? Counts of a small epsilon that are nearly right keep no promise.

With the raw table, for each table of the release and each tuple that has a law there (`tuple_counts`):

    suppressed   how many tuples are not published
    exact        how many are published as often as they occur
    within d     how many are published at most d times more than they occur, for several d on both sides: the whole distribution
    alike        whether noise goes with that of another tuple, or of the same tuple in another table

over all tuples, and the first two among those of each value of each column. Counts that are published exactly (k_dgs) must be the true ones. Without the raw table, of a full count: whatever the
true counts are, a tuple is published with 0 at most with probability 1/(1+r), so that more of them than that show that noise is missing.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc
from scipy.stats import binom

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.parts import HitCount, columns_of, frequent
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.evidence.serial import Series
from scumble.auditing.evidence.signs import Sign, finding_of
from scumble.auditing.evidence.tuple_counts import TupleCounts, counted_tables, declared_tuples
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.forms.tuples.record import Exact, Full, Practical, TuplesRecord

NAME = "noise"

WIDTHS = (0.0, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Distances from the true count, in scales of the noise."""


def attack(case: Case) -> Finding | None:
    """The most improbable sign that noise is missing, or another one."""
    record = case.publication.manifest.form if case.publication.manifest is not None else None
    if not isinstance(record, TuplesRecord):
        return None
    if isinstance(record.counting, Exact):
        return _exact(case)
    if case.source is None:
        families = [list(_zeros(case, record))] if record.every else []
        return finding_of(NAME, families, error_of(NAME), "the noise of the manifest")
    tables = [table for table in counted_tables(case) if not math.isnan(table.stayed)]
    families = [
        [sign for table in tables for sign in _by_distance(table)],
        [sign for table in tables for sign in _by_part(table)],
        list(_alike(tables)),
    ]
    return finding_of(NAME, families, error_of(NAME), "the noise of the manifest")


def _exact(case: Case) -> Finding | None:
    """Counts that are published without noise are the true ones, of all tuples that occur often enough and of no others."""
    tables = list(counted_tables(case))
    if not tables:
        return None
    wrong = sum(
        int((t.shown != np.where(t.true >= t.counting.k, t.true, 0)).sum())
        for t in tables
        if isinstance(t.counting, Exact)
    )
    tuples = sum(len(table.true) for table in tables)
    sentence = f"{wrong:,} of {tuples:,} tuples are not published as often as they occur, or are and occur too seldom"
    return Finding.of_facts(NAME, wrong, tuples, sentence, "integrity")


def _signs(hits: float, chance: np.ndarray, of: Callable[[float], str]) -> Iterator[Sign]:
    """Too many, and too few."""
    count = max(1, len(chance))
    for seen, odds in ((hits, chance), (len(chance) - hits, 1 - chance)):
        log_p = HitCount.of_chances(seen, odds).log_p()
        yield Sign(log_p, hits / count, float(chance.sum()) / count, of(float(chance.sum())))


def _by_distance(table: TupleCounts) -> Iterator[Sign]:
    """The distribution of published counts around the true ones."""
    where = f" of {table.name}" if table.name else ""
    if table.absent:
        yield from _signs_of_absent(table, where)
    true, shown = table.true[table.looked_at], table.shown[table.looked_at]
    if not len(true):
        return
    middle = np.rint(true * table.stayed).astype(np.int64)
    nothing, never = np.zeros_like(true), np.full_like(true, -1)
    if isinstance(table.counting, Practical):
        yield from _signs(
            float((shown == 0).sum()),
            table.chance(true, nothing, nothing),
            _words(f"{{hits:,.0f}} of {{n:,}} tuples{where} are not published", shown == 0),
        )
    yield from _signs(
        float((shown == middle).sum()),
        table.chance(true, middle, middle),
        _words(f"{{hits:,.0f}} of {{n:,}} tuples{where} are published as often as they occur", shown == middle),
    )
    for d in _distances(table):
        within = (shown > 0) & (shown <= middle + d)
        chance = table.chance(true, np.maximum(nothing, 1), np.maximum(middle + d, never))
        words = f"{{hits:,.0f}} of {{n:,}} tuples{where} are published at most {d:+d} times as often as they occur"
        yield from _signs(float(within.sum()), chance, _words(words, within))


def _words(words: str, hits: np.ndarray) -> Callable[[float], str]:
    return lambda expected: words.format(hits=hits.sum(), n=len(hits)) + f", where {expected:,.1f} are expected"


def _distances(table: TupleCounts) -> list[int]:
    scale = max(1.0, 1 / table.law.rate)
    if table.stayed < 1:
        scale += float(np.sqrt(table.true.max(initial=1)))
    steps = {round(width * scale) for width in WIDTHS}
    return sorted(steps | {-step for step in steps} | {-1})


def _signs_of_absent(table: TupleCounts, where: str) -> Iterator[Sign]:
    """Tuples of a full count that nobody has: how many are published more than d times."""
    nobody = table.shown[table.true == 0]
    tuples, zero = table.absent + len(nobody), np.zeros(1, np.int64)
    for d in (d for d in _distances(table) if d >= 0):
        often = int((nobody > d).sum())
        chance = float(table.chance(zero, zero + d + 1, zero + (1 << 60))[0])
        of = f"{often:,} of {tuples:,} tuples{where} that nobody has are published more than {d} times, where {tuples * chance:,.1f} are expected"
        for log_p in (binom.logsf(often - 1, tuples, chance), binom.logcdf(often, tuples, chance)):
            yield Sign(float(log_p), often / tuples, chance, of)


def _by_part(table: TupleCounts) -> Iterator[Sign]:
    """Tuples of each value of each column: published exactly, or not at all."""
    chosen = table.looked_at
    true, shown = table.true[chosen], table.shown[chosen]
    middle, nothing = np.rint(true * table.stayed).astype(np.int64), np.zeros_like(true)
    events = [("published as often as they occur", shown == middle, table.chance(true, middle, middle))]
    if isinstance(table.counting, Practical):
        events.append(("not published", shown == 0, table.chance(true, nothing, nothing)))
    for codes, named in columns_of(table.tuples.take(chosen), table.tuples.column_names):
        for k in frequent(np.bincount(codes).astype(np.float64)):
            here = codes == k
            for words, hit, chance in events:
                of = _words(f"{{hits:,.0f}} of {{n:,}} tuples with {named(k)} are {words}", hit[here])
                yield from _signs(float(hit[here].sum()), chance[here], of)


def _alike(tables: list[TupleCounts]) -> Iterator[Sign]:
    """The noise of a tuple against that of others, and that of other tables."""
    series = []
    for table in tables:
        chosen, place = _in_order(table)
        if len(chosen):
            true, shown = table.true[chosen], table.shown[chosen]
            middle = np.rint(true * table.stayed).astype(np.int64)
            chance = table.chance(true, middle + 1, np.full_like(true, 1 << 60))
            series.append((table, (shown > middle) - chance, chance * (1 - chance), place))
    longest = max((int(place.max()) + 1 for *_, place in series), default=0)
    made = [(table, Series(score, variance, place, longest)) for table, score, variance, place in series]
    for at, (table, one) in enumerate(made):
        beside = made[at + 1 :] if table.stayed == 1 else []  # who stays in one table is missing from another
        for other_table, other in [(table, None), *beside]:
            sign = one.by_distance(other)
            of = f"the sign of the noise {sign.of.replace('row', 'tuple')}" + (
                f", of {other_table.name}" if other else ""
            )
            yield replace(sign, of=f"{of}, a correlation of {sign.seen:.3f}")


def _in_order(table: TupleCounts) -> tuple[Codes, Codes]:
    """The tuples that are looked at, with their places in the order in which noise is drawn: of a full count among all tuples of the domain, else by their values."""
    chosen = table.looked_at
    if isinstance(table.counting, Full):
        chosen = chosen[table.cell[chosen] >= 0]
        return chosen, table.cell[chosen]
    keys = [(name, "ascending") for name in table.tuples.column_names]
    order = pc.sort_indices(table.tuples.take(chosen), sort_keys=keys).to_numpy()
    return np.asarray(chosen[order]), np.arange(len(order))


def _zeros(case: Case, record: TuplesRecord) -> Iterator[Sign]:
    """Without the raw table: tuples of the domain that are not published, table by table."""
    for place, table in enumerate(case.publication.tables):
        counting = record.counting_of(place)
        assert isinstance(counting, Full)
        tuples = declared_tuples(case, counting)
        published = table.group_by(table.column_names).aggregate([]).num_rows
        most = 1 / (1 + math.exp(-counting.epsilon))
        silent, where = tuples - published, f" of {record.tables[place].name}" if record.tables else ""
        of = f"{silent:,} of {tuples:,} tuples{where} are published with 0, of which noise leaves {tuples * most:,.1f} at most"
        yield Sign(float(binom.logsf(silent - 1, tuples, most)), silent / tuples, most, of)
