"""What a table that another tool made tells of those it was made from, beyond what it tells of anybody: the same attacks on people of the raw table, and on people of a control table who are not in it. For synthetic tables above all, in which no
row is anybody's (after Giomi and others, "A Unified Framework for Quantifying Privacy Risk in Synthetic Data", 2023, which Anonymeter implements).

    singled out    predicates that fit one published row (`predicates`): how many fit exactly one person
    linked parts   two halves of a person's columns, each with its most alike published records (`nearest`): how often they share one
    inferred       the sensitive value of the most alike published record, by the columns that an attacker may know

With a control table the baseline is the success on it, and the risk is the part of what is left that the attack gets on the people of the table: (a - c) / (1 - c). Without one it is a random guess, and what is general knowledge counts as success.
"""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.nearest import nearest
from scumble.auditing.evidence.predicates import (
    Columns,
    Flags,
    Predicate,
    at_random,
    numeric,
    of_rows,
    rare_values,
)
from scumble.auditing.finding import Finding, Question, wilson
from scumble.core.arrow_types import decoded, is_number
from scumble.core.entropy import Entropy

ATTACKED = 1000
"""People, or predicates, that are attacked at most."""
MOST_ROWS = 50_000
"""Published records that are compared with, and people that predicates are tried on, at most."""
TOLERANCE = 0.05
"""How far a number may be off, as a part of the guess, to count as guessed."""
COLUMNS = 4
"""Columns of a predicate about several."""
NEIGHBOURS = 10
"""Most alike records of each half."""


@dataclass(frozen=True)
class _Tables:
    """The published table, people it was made from, and people it was not made from."""

    published: pa.Table
    people: pa.Table
    control: pa.Table | None


def _tables(case: Case) -> _Tables | None:
    if case.publication.manifest is not None or case.source is None or not case.publication.quasi:
        return None
    names = [name for name in case.publication.table.column_names if name in case.people.column_names]
    published, people = case.publication.table.select(names), case.people.select(names)
    control = None if case.control is None else case.control.select(names)
    return _Tables(_sample(published, MOST_ROWS, "published"), people, control)


def singled_out(case: Case) -> list[Finding]:
    """By one column, and by several."""
    tables = _tables(case)
    if tables is None:
        return []
    numbers = numeric(tables.published, tables.people)
    ways = [
        (1, rare_values(tables.published, numbers)[:ATTACKED]),
        (COLUMNS, of_rows(tables.published, numbers, COLUMNS, ATTACKED)),
    ]
    return [_singled(tables, numbers, columns, predicates) for columns, predicates in ways if predicates]


def _singled(tables: _Tables, numbers: set[str], columns: int, predicates: list[Predicate]) -> Finding:
    """People and control are made equally many: the more there are, the fewer predicates fit one."""
    size = min(len(tables.people), MOST_ROWS, *([] if tables.control is None else [len(tables.control)]))

    def hits(people: pa.Table, tried: list[Predicate]) -> Flags:
        some = Columns(_sample(people, size, "people"), numbers)
        return np.array([int(some.fits(predicate).sum()) == 1 for predicate in tried], dtype=np.bool_)

    found = hits(tables.people, predicates)
    held = None if tables.control is None else hits(tables.control, predicates)
    chance = float(hits(tables.people, at_random(tables.published, numbers, columns, len(predicates))).mean())
    words = "a column" if columns == 1 else f"{columns} columns"
    of = f"of {len(predicates):,} predicates about {words} that fit one published row {int(found.sum()):,} fit exactly one of {size:,} people"
    return _finding("singled out", found, held, chance, of, "singling out")


def linked_parts(case: Case) -> Finding | None:
    """Two halves of the known columns."""
    tables = _tables(case)
    names = [] if tables is None else [n for n in case.publication.quasi if n in tables.people.column_names]
    if tables is None or len(names) < 2:
        return None
    published, halves = tables.published, (names[::2], names[1::2])

    def links(people: pa.Table) -> Flags:
        first, second = (nearest(people, published, half, NEIGHBOURS).tolist() for half in halves)
        return np.array([not set(a).isdisjoint(b) for a, b in zip(first, second, strict=True)], dtype=np.bool_)

    hits = links(_sample(tables.people, ATTACKED, "targets"))
    held = None if tables.control is None else links(_sample(tables.control, ATTACKED, "targets"))
    chance = 1 - (1 - min(1.0, NEIGHBOURS / max(1, published.num_rows))) ** NEIGHBOURS
    of = f"{', '.join(halves[0])} and {', '.join(halves[1])} of one person lead to a common published record for {int(hits.sum()):,} of {len(hits):,} people"
    return _finding("linked parts", hits, held, chance, of, "linkability")


def inferred(case: Case) -> list[Finding]:
    """Every sensitive column, by the most alike record."""
    tables = _tables(case)
    if tables is None:
        return []
    there = set(tables.people.column_names)
    known = {s: [q for q in case.publication.quasi if q != s and q in there] for s in case.publication.sensitive}
    return [_inferred(tables, name, columns) for name, columns in known.items() if columns and name in there]


def _inferred(tables: _Tables, name: str, known: list[str]) -> Finding:
    def guessed(people: pa.Table) -> Flags:
        guess = tables.published.column(name).take(pa.array(nearest(people, tables.published, known)[:, 0]))
        return same(guess, people.column(name))

    hits = guessed(_sample(tables.people, ATTACKED, "targets"))
    held = None if tables.control is None else guessed(_sample(tables.control, ATTACKED, "targets"))
    truths, guesses = _sample(tables.people, ATTACKED, "targets"), _sample(tables.published, ATTACKED, "guesses")
    size = min(len(truths), len(guesses))
    chance = float(same(guesses.column(name).slice(0, size), truths.column(name).slice(0, size)).mean())
    of = f"{name} of the most alike published record is right for {int(hits.sum()):,} of {len(hits):,} people"
    return _finding("inferred", hits, held, chance, of, "inference")


def same(guess: pa.ChunkedArray, truth: pa.ChunkedArray) -> Flags:
    """Which guesses are right: numbers within a twentieth of the guess, all else exactly, what is missing where it is."""
    ours, theirs = decoded(guess), decoded(truth)
    if is_number(ours.type) and is_number(theirs.type):
        a, b = (np.asarray(c.cast(pa.float64(), safe=False).to_numpy()) for c in (ours, theirs))
        return np.asarray((np.abs(a - b) <= TOLERANCE * np.abs(a)) | (np.isnan(a) & np.isnan(b)))
    pairs = zip(ours.to_pylist(), theirs.to_pylist(), strict=True)
    return np.array([(a is None) == (b is None) and str(a) == str(b) for a, b in pairs], dtype=np.bool_)


def _sample(table: pa.Table, size: int, name: str) -> pa.Table:
    if table.num_rows <= size:
        return table
    lot = Entropy.seeded(0).stream("sample", name).integers(table.num_rows, 32)
    return table.take(pa.array(np.sort(np.argsort(lot, kind="stable")[:size])))


def _finding(attack: str, hits: Flags, held: Flags | None, chance: float, of: str, question: Question) -> Finding:
    """Success on people, beside that on who is not in the table or a random guess; and the risk that is left."""
    rate, (low, high) = float(hits.mean()), wilson(int(hits.sum()), len(hits))
    measures = {"attacked": len(hits), "attack": rate, "random": chance}
    if held is None:
        told = f"a random guess gets {chance:.2%}; no control table (--control) tells what is general knowledge"
        return Finding(attack, rate, chance, low, high, f"{of}; {told}", question, measures=measures)
    control, (least, most) = float(held.mean()), wilson(int(held.sum()), len(held))
    risk, error = residual(hits, held)
    ends = (max(0.0, risk - error), min(1.0, max(0.0, risk + error)))
    measures |= {"control": control, "risk": max(0.0, risk), "risk_low": ends[0], "risk_high": ends[1]}
    spread = math.hypot(high - low, most - least) / 2
    told = f"{control:.2%} of {len(held):,} who are not in the table; the risk that is left is {max(0.0, risk):.1%} ({ends[0]:.1%} to {ends[1]:.1%} at 95%)"
    low, high = max(0.0, rate - spread), min(1.0, rate + spread)
    return Finding(
        attack, rate, control, low, high, f"{of}; {told}", question, exposed=max(0.0, risk), measures=measures
    )


def residual(hits: Flags, held: Flags, z: float = 1.959964) -> tuple[float, float]:
    """(a - c) / (1 - c) and half of its interval at 95%, by the score intervals of both rates.

    >>> [round(x, 4) for x in residual(np.arange(500) < 100, np.arange(500) < 50)]
    [0.1106, 0.047]
    """
    (a, da), (c, dc) = (_score(float(flags.sum()), len(flags), z) for flags in (hits, held))
    left = max(1e-9, 1 - c)
    return (a - c) / left, math.hypot(da / left, dc * (1 - a) / left**2)


def _score(hits: float, count: int, z: float) -> tuple[float, float]:
    """The middle and half of the score interval."""
    scale = count + z * z
    return (hits + z * z / 2) / scale, z / scale * math.sqrt(hits * (count - hits) / count + z * z / 4)
