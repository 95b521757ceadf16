"""What was counted in a whole table and in parts of it, each against what is expected there, judged together at one level.

A table as a whole can be as its manifest says while some of its people are not: one value that is never replaced, one region with other coins. So the rows of every
value of some columns are looked at by themselves. Which rows these are depends on no coin. Half of the error goes to the whole, the other half to all parts in
equal shares (Bonferroni), so that a sound table is called broken, by the whole or by any part, with probability at most `error`: the bound of each is
Bennett's (`tails`), which holds for every number of rows.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.evidence.tails import bennett_of, hoeffding_of, least_above
from scumble.auditing.finding import Finding, Question
from scumble.core.once import once

Numbers = npt.NDArray[np.float64]

MOST_PARTS, LEAST_ROWS = 200, 20
"""Of each column the most frequent values are looked at, so many at most, and none with fewer rows."""


@dataclass(frozen=True)
class HitCount:
    """How many were counted among some people, and the mean and variance of that number."""

    hits: float
    expected: float
    variance: float
    people: float
    largest: float = 1.0
    """The most that one row can add to the hits."""
    of: str = ""
    """Which rows these are, in words; nothing for the whole table."""

    @classmethod
    def of_chances(cls, hits: float, chance: Numbers, of: str = "") -> "HitCount":
        """Among people who are hits each for himself, with these chances."""
        chance = at_most_one(chance)
        return cls(hits, float(chance.sum()), float((chance * (1 - chance)).sum()), len(chance), of=of)

    def log_p(self) -> float:
        """The logarithm of a bound on the probability of so many hits or more."""
        return self.bound(self.hits - self.expected)

    def bound(self, above: float) -> float:
        """The same for any number above the mean."""
        wide = bennett_of(above, self.variance, self.largest)
        if self.largest > 1 or self.people < self.expected + above:
            return wide
        return min(wide, hoeffding_of(self.expected + above, self.expected, self.people))

    def half(self, error: float) -> float:
        """How far above its mean the number has to lie for the bound to be at most the error."""
        return least_above(self.bound, error, self.largest)


@dataclass(frozen=True)
class Judged:
    """A sum as shares of people, with an interval, as one of several that were looked at."""

    sum: HitCount
    error: float
    """Of all of them together."""
    looked_at: float = 1.0

    @property
    def people(self) -> int:
        """How many there are."""
        return int(max(1.0, self.sum.people))

    @property
    def of(self) -> str:
        """Which rows these are."""
        return self.sum.of

    @property
    def success(self) -> float:
        """The share of them that was counted."""
        return self.sum.hits / max(1.0, self.sum.people)

    @property
    def expected(self) -> float:
        """The share that is expected."""
        return self.sum.expected / max(1.0, self.sum.people)

    @once
    def log_p(self) -> float:
        """The logarithm of a bound on the probability of so many hits or more, over all sums that were looked at."""
        return min(0.0, self.sum.log_p() + math.log(self.looked_at))

    @property
    def broken(self) -> bool:
        """Whether that is at most the error."""
        return self.log_p <= math.log(self.error)

    @once
    def half(self) -> float:
        """Half the width of an interval for the success that leaves the expected share out where the law is broken."""
        return self.sum.half(self.error / self.looked_at) / max(1.0, self.sum.people)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval."""
        return max(0.0, self.success - self.half), min(1.0, self.success + self.half)

    def finding(self, attack: str, detail: str, question: Question = "integrity", uncovered: str = "") -> Finding:
        """What it says, as a finding."""
        p = math.exp(self.log_p)
        return Finding(
            attack, self.success, self.expected, *self.ends, detail, question, uncovered, p=p, error=self.error
        )

    @property
    def shows(self) -> float:
        """The share of people who would have to be hits without any chance for half of such tables to be found out."""
        return min(1.0, self.half / max(1e-9, 1 - self.expected))


def worst(whole: HitCount, parts: Sequence[HitCount], error: float) -> Judged:
    """The whole, unless it holds and a part of it does not: then the part that is farthest off."""
    first = Judged(whole, error, 2 if parts else 1)
    if first.broken or not parts:
        return first
    second = Judged(min(parts, key=HitCount.log_p), error, 2 * len(parts))
    return second if second.broken else first


@dataclass(frozen=True, eq=False)
class Summands:
    """What each row, or each group of rows, adds to the sums; rows are independent of each other."""

    hits: Numbers
    expected: Numbers
    variance: Numbers
    people: Numbers
    largest: float = 1.0

    @classmethod
    def of_chances(cls, hits: npt.NDArray[np.bool_], chance: Numbers) -> "Summands":
        """Rows of one person each, who are hits with these chances."""
        chance = at_most_one(chance)
        return cls(hits.astype(np.float64), chance, chance * (1 - chance), np.ones(len(hits)))

    def whole(self) -> HitCount:
        """All of them."""
        return self.by(np.zeros(len(self.hits), dtype=np.int64), lambda code: "", least=0)[0]

    def by(self, codes: Codes, named: Callable[[int], str], least: int = LEAST_ROWS) -> list[HitCount]:
        """One sum for every frequent code."""
        count = int(codes.max(initial=0)) + 1
        hits, expected, variance, people = (
            summed(codes, term, count) for term in (self.hits, self.expected, self.variance, self.people)
        )
        return [
            HitCount(float(hits[k]), float(expected[k]), float(variance[k]), float(people[k]), self.largest, named(k))
            for k in frequent(people, least)
        ]


def at_most_one(chance: Numbers) -> Numbers:
    """Probabilities, of which the last bit of a sum may say 1 + 4e-16: what is certain would have a variance below 0.

    >>> at_most_one(np.array([0.25, 1 + 4e-16])).tolist()
    [0.25, 1.0]
    """
    return np.asarray(np.minimum(chance, 1.0))


def summed(codes: Codes, weights: Numbers, count: int) -> Numbers:
    """The sum of the weights of each code."""
    return np.bincount(codes, weights=weights, minlength=count).astype(np.float64)


def frequent(rows: Numbers | Codes, least: int = LEAST_ROWS) -> list[int]:
    """The values that are looked at, by how many rows each has."""
    most = np.argsort(-rows, kind="stable")[:MOST_PARTS]
    return [int(k) for k in most if rows[k] >= least]


def columns_of(table: pa.Table, names: Sequence[str]) -> Iterator[tuple[Codes, Callable[[int], str]]]:
    """Columns as codes, one at a time, with the words for each code; columns in which every value is rare are left out."""
    for name in names:
        (codes,), count = together([name], table)
        if frequent(np.bincount(codes, minlength=count).astype(np.float64)):
            yield codes, _named(table.column(name), codes, name)


def _named(column: pa.ChunkedArray, codes: Codes, name: str) -> Callable[[int], str]:
    first = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes] = np.arange(len(codes))
    return lambda code: f"{name} = {column[int(first[code])].as_py()}"
