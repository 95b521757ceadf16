"""Hits where values that are not kept are exchanged among rows, so that rows are not independent of each other.

A person takes part with probability 1 - p, each for himself, and the values of those who take part are put into random order among them. Among the people of
some part A, hits are the K who do not take part, and the Y who get their own value back. Given who takes part, Y is a sum over a random permutation with the mean

    g = sum_v c_v(A) c_v / c        c_v people of value v take part, c_v(A) of these in A, c in all

and E exp(t (Y - g)) <= exp(g t^2 / (1 - t)) for 0 <= t < 1 (Chatterjee 2007). K + g is a function of independent coins, of which one changes it by at most

    D = max(1 + g_most / c_low, (n_v(A) + n_v) / c_low)   of people in A,    max(n_v(A), g_most) / c_low   of others

where c is at least c_low and g at most g_most, as they are but for a probability of RARE each (binomial; McDiarmid). By Bennett, E exp(t (K + g - E)) <= exp(p (1 - p) sum D^2 (e^(tM) - 1 - tM) / M^2), M the largest D.
Both bounds are multiplied, and t is chosen for what was seen (Chernoff).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from scumble.auditing.evidence.parts import LEAST_ROWS, HitCount, Numbers, Summands, frequent, summed
from scumble.auditing.evidence.publication import Codes

RARE = 1e-16
"""The probability with which fewer take part than is supposed."""


TILTS = np.linspace(0.005, 0.9, 180)
"""The t that are tried."""


@dataclass(frozen=True)
class ExchangedCount(HitCount):
    """Hits among exchanged values; the variance is that of who takes part, with what follows from it, and the largest is M."""

    returned: float = 0.0
    """How many get their own value back, at most."""

    def bound(self, above: float) -> float:
        """The Chernoff bound, and what is left out."""
        if above <= 0:
            return 0.0
        steps = TILTS * self.largest
        coins = self.variance * (np.expm1(steps) - steps) / self.largest**2
        exponents = coins + self.returned * TILTS**2 / (1 - TILTS) - TILTS * above
        return min(0.0, float(np.logaddexp(exponents.min(), np.log(2 * RARE))))


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
        hits, expected, people = (summed(codes, term, count) for term in (self.hits, self.expected, self.people))
        inside = np.bincount(codes * size + self.value, minlength=count * size).reshape(count, size).astype(np.float64)
        low = max(1.0, float(binom.ppf(RARE, self.counts.sum(), 1 - self.retain)))
        made = list[HitCount]()
        for k in frequent(people, least):
            mean, own = float(expected[k] - self.retain * people[k]), inside[k]
            most = self._most_returned(own, low, mean)
            outer = np.maximum(own, most) / low
            inner = np.maximum(1 + most / low, (own + self.counts) / low)
            spread = self.retain * (1 - self.retain) * float((self.counts - own) @ outer**2 + own @ inner**2)
            largest = float(max(inner[own > 0].max(initial=1.0), outer.max(initial=0.0)))
            made.append(
                ExchangedCount(float(hits[k]), float(expected[k]), spread, float(people[k]), largest, named(k), most)
            )
        return made

    def _most_returned(self, own: Numbers, low: float, mean: float) -> float:
        """What g is at most, but for a probability of RARE: whoever joins or leaves changes it by at most the larger one of two amounts."""
        all_of = float(own @ self.counts) / low**2
        outer, inner = np.maximum(own / low, all_of), np.maximum((own + self.counts) / low, all_of)
        moved = float((self.counts - own) @ outer**2 + own @ inner**2)
        return mean + float(np.sqrt(-np.log(RARE) * moved / 2))
