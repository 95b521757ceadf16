"""How many people of the raw table are guessed right, and how many the law of the manifest lets be guessed right.

`in_known_rows`: the row is known, being the only one with the person's public values. Seeing y in sub-table z, the attacker guesses d[z, y]. Given the true
value x and z, he is right with probability p [d[z, x] = x] + (1 - p) * (r of all j with d[z, j] = x), row by row independently.

`in_any_row`: the attacker takes a random row with the person's public values for the person's, and its value for the true one.

    T     = sum over published rows of c(g, y) / s(g)
    E[T]  = sum over groups and values of  c(g, j) (p_j c(g, j) + r_j sum_i (1 - p_i) c(g, i)) / n(g)
    V[T] <= sum over groups of  n(g)^2 / s(g) * the variance of c(g, y) / n(g) over one row

where n(g) people of the raw table and s(g) published rows share their public values, and c(g, i) of these people have value i. Nothing has to be
known of which row is whose. The variance is that of rows drawn independently, which is above that of rows with given values.
"""

from dataclasses import dataclass

import numpy as np

from scumble.audit.case import Case
from scumble.audit.cells import Cells
from scumble.audit.exhibit import Codes
from scumble.audit.finding import Z
from scumble.audit.law import Law


@dataclass(frozen=True)
class Guessed:
    """The shares of people who are guessed right, and who are expected to be."""

    success: float
    expected: float
    half: float
    """Half the width of the interval for the success."""
    people: int

    @property
    def ends(self) -> tuple[float, float]:
        """The interval."""
        return max(0.0, self.success - self.half), min(1.0, self.success + self.half)


def _guessed(hits: float, expected: float, variance: float, people: float, largest: float = 1.0) -> Guessed:
    """With an interval whose second part covers what the normal law leaves out in small tables (Bernstein's inequality)."""
    half = Z * variance**0.5 + Z**2 * largest / 6
    people = max(1.0, people)
    return Guessed(hits / people, expected / people, half / people, int(people))


def in_known_rows(
    case: Case, name: str, truth: Codes, law: Law, guess: Codes, *, otherwise: int | None = None
) -> Guessed:
    """The people whose row is known; with a value that is guessed otherwise, all people."""
    groups, exhibit = case.groups, case.exhibit
    known = (groups.rows == 1) & (groups.people == 1)
    own = np.zeros(groups.count, dtype=np.int64)
    own[groups.raw] = truth
    rows = np.flatnonzero(known[groups.published])
    x, y, z = own[groups.published[rows]], exhibit.codes(name)[rows], exhibit.stratum[rows]
    sent = np.zeros_like(law.draw)  # how often a redrawn value leads to each guess
    np.add.at(sent, (np.arange(len(guess))[:, np.newaxis], guess), law.draw)
    keep = law.keep[z, x]
    chance = keep * (guess[z, x] == x) + (1 - keep) * sent[z, x]
    hits, expected, people = float((guess[z, y] == x).sum()), float(chance.sum()), len(rows)
    if otherwise is not None:
        elsewhere = float((truth[~known[groups.raw]] == otherwise).sum())
        hits, expected, people = hits + elsewhere, expected + elsewhere, len(truth)
    return _guessed(hits, expected, float((chance * (1 - chance)).sum()), people)


def in_any_row(case: Case, name: str, truth: Codes, law: Law) -> Guessed:
    """All people whose public values were published, by the published value itself; for releases without sub-tables."""
    exhibit, groups, (p,), (r,) = case.exhibit, case.groups, law.keep, law.draw
    s = np.bincount(groups.published, weights=exhibit.weights, minlength=groups.count)
    n, seen = groups.people.astype(np.float64), s > 0
    cells = Cells(groups.raw, truth, len(law.prior))
    found = cells.at(groups.published, exhibit.codes(name))
    hits = float((exhibit.weights * found / s[groups.published]).sum())
    part = cells.times / n[cells.group]
    redrawn = np.bincount(cells.group, weights=(1 - p[cells.value]) * part, minlength=groups.count)
    chance = p[cells.value] * part + r[cells.value] * redrawn[cells.group]
    first, second = (np.bincount(cells.group, weights=chance * part**power, minlength=groups.count) for power in (1, 2))
    variance = float((n[seen] ** 2 / s[seen] * np.maximum(second - first**2, 0)[seen]).sum())
    largest = float((n[seen] / s[seen]).max(initial=1))
    return _guessed(hits, float((n * first)[seen].sum()), variance, float(n[seen].sum()), largest)
