"""Hits where values that are not kept are exchanged among rows, so that rows are not independent of each other.

A person takes part with probability 1 - p, each for himself, and the values of those who take part are put into random order among them. Among the people of
some part A, hits are those who do not take part, and those who get their own value back. Three things are left to chance, each with a bound of its own:

    who does not take part              independent coins                                    Bennett
    who gets his own value back, Y      a sum over a random permutation, given who takes part  Pr[Y - g >= t] <= exp(-t^2 / (4 g + 2 t)), Chatterjee 2007
    its mean g, by who takes part       g = sum_v c_v(A) c_v / c                              McDiarmid, where c >= c_low

c_v people of value v take part, c_v(A) of these in A, c in all. Whoever joins or leaves changes g by at most

    d = max( (n_v(A) + [in A] n_v) / c_low,  sum_v n_v(A) n_v / c_low^2 )

where c is at least c_low, which it is but for a probability of RARE. The distance is divided among the three in proportion to their spreads, and the bounds are added up.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from scumble.auditing.evidence.parts import LEAST_ROWS, HitCount, Numbers, Summands, frequent, summed
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.evidence.tails import bennett

RARE = 1e-16
"""The probability with which fewer take part than is supposed."""


@dataclass(frozen=True)
class ExchangedCount(HitCount):
    """Hits among exchanged values; the variance is that of who does not take part."""

    returned: float = 0.0
    """How many are expected to get their own value back."""
    moved: float = 0.0
    """The sum of the squares of d."""

    def bound(self, above: float) -> float:
        """The three bounds, and what is left out, added up."""
        if above <= 0:
            return 0.0
        spread = np.sqrt([self.variance, 2 * self.returned + 1, self.moved / 4])
        kept, back, mean = (above * spread / spread.sum()).tolist()
        exponents = [
            float(bennett(kept, self.variance)),
            -(back**2) / (4 * (self.returned + mean) + 2 * back),
            -2 * mean**2 / max(self.moved, 1e-300),
            float(np.log(RARE)),
        ]
        return min(0.0, float(np.logaddexp.reduce(exponents)))


@dataclass(frozen=True, eq=False)
class Exchanged(Summands):
    """People whose values were exchanged, each with the true value; `retain` is p, `counts` how many of the whole table have each value."""

    value: Codes = None  # type: ignore[assignment]
    counts: Numbers = None  # type: ignore[assignment]
    retain: float = 0.0

    @classmethod
    def of(cls, hits: Codes, value: Codes, counts: Numbers, retain: float) -> "Exchanged":
        """With the exact chances: whoever takes part gets the value of himself or of any other who does, all alike."""
        n = float(counts.sum())
        itself = (1 - retain**n) / max(n * (1 - retain), 1e-300)  # the mean of 1/c, given that the person takes part
        back = itself + (counts[value] - 1) / max(n - 1, 1) * (1 - itself)
        chance = np.minimum(retain + (1 - retain) * back, 1.0)
        kept = np.full(len(value), retain * (1 - retain))
        return cls(hits.astype(np.float64), chance, kept, np.ones(len(value)), 1.0, value, counts, retain)

    def by(self, codes: Codes, named: Callable[[int], str], least: int = LEAST_ROWS) -> list[HitCount]:
        """One sum for every frequent code."""
        count, size = int(codes.max(initial=0)) + 1, len(self.counts)
        hits, expected, variance, people = (
            summed(codes, term, count) for term in (self.hits, self.expected, self.variance, self.people)
        )
        inside = np.bincount(codes * size + self.value, minlength=count * size).reshape(count, size).astype(np.float64)
        low = max(1.0, float(binom.ppf(RARE, self.counts.sum(), 1 - self.retain)))
        made = []
        for k in frequent(people, least):
            all_of = float(inside[k] @ self.counts) / low**2
            outer, inner = np.maximum(inside[k] / low, all_of), np.maximum((inside[k] + self.counts) / low, all_of)
            moved = float((self.counts - inside[k]) @ outer**2 + inside[k] @ inner**2)
            sums = (float(hits[k]), float(expected[k]), float(variance[k]), float(people[k]), 1.0, named(k))
            made.append(
                ExchangedCount(*sums, returned=float(expected[k] - self.retain * people[k]), moved=moved)
            )
        return made
