"""What the manifest says becomes of a true value, and how many people an attacker may then guess right.

A person's row lies in sub-table z with probability q[z, i] (most releases have one), where value i is kept with probability p[z, i] and
otherwise redrawn from r[z]. The attacker finds a row with the person's public values, sees y in sub-table z, and guesses d[z, y].

    T     = sum over people of Pr[guess = x]  =  sum over published rows of c(g, d[z, y]) / s(g)
    E[T]  = sum over groups g, values j, sub-tables z of  c(g, d[z, j]) (q p c(g, j) [kept] + r S(g)) / n(g)
    V[T] <= sum over groups of  n(g)^2 / s(g) * Var of c(g, d) / n(g) over one row

where n(g) people of the raw table and s(g) published rows share their public values, c(g, i) of these people have value i, and S(g) is the
expected number of redrawn ones. Nothing has to be known of which row is whose. The variance is that of rows drawn independently, which
is above that of rows with given values.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.audit.case import Case
from scumble.audit.cells import Cells
from scumble.audit.exhibit import Codes, Exhibit
from scumble.audit.finding import Z
from scumble.channel import Channel
from scumble.release.manifest import ChannelRecord

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Law:
    """The channels of a column, one row of each array for each sub-table, and the distribution of its true values."""

    share: Numbers
    keep: Numbers
    draw: Numbers
    prior: Numbers

    def guesses(self) -> Codes:
        """The likeliest true value behind each published one, in each sub-table: itself, or one that stands behind most redrawn ones."""
        behind = self.prior * self.share * (1 - self.keep)
        other = behind.argmax(axis=1)[:, np.newaxis]
        itself = self.prior * self.share * (self.keep + (1 - self.keep) * self.draw)
        face = np.arange(len(self.prior))[np.newaxis, :]
        return np.where(itself >= self.draw * np.take_along_axis(behind, other, 1), face, other)

    def success(self) -> float:
        """The share of values that these guesses get right, where the row is known and public columns tell nothing."""
        guess = self.guesses()
        face = np.arange(len(self.prior))[np.newaxis, :]
        right = self.prior[guess] * np.take_along_axis(self.share * (1 - self.keep), guess, 1) * self.draw
        return float((right + np.where(guess == face, self.prior * self.share * self.keep, 0)).sum())

    @property
    def face_value(self) -> float:
        """The share of published values that are the true ones."""
        return float((self.prior * self.share * (self.keep + (1 - self.keep) * self.draw)).sum())


def law_of(exhibit: Exhibit, name: str, truth: Codes | None = None) -> Law:
    """The law of a perturbed column; with the true codes, the prior is theirs, and so are replacements that follow the data."""
    assert exhibit.release is not None
    channels = [stratum[name] for stratum in exhibit.release.strata]
    column = exhibit.release.manifest.column(name)
    assert column is not None
    counts = exhibit.release.published_counts(name)
    estimates = np.stack([_estimate(c, r, n) for c, r, n in zip(channels, column.records, counts, strict=True)])
    total = estimates.sum(axis=0)
    prior = np.bincount(truth, minlength=len(total)) if truth is not None else total
    prior = prior / max(1e-300, prior.sum())
    held = np.stack([each.retention + each.replace > 0 for each in channels]) / len(channels)
    share = np.where(total > 0, estimates / np.where(total > 0, total, 1), held / np.maximum(held.sum(axis=0), 1e-300))
    own = truth is not None and any(record.replace == "published" for record in column.records)
    draw = np.stack([prior if own else each.replace for each in channels])
    return Law(share, np.stack([each.retention for each in channels]), draw, prior)


def _estimate(channel: Channel, record: ChannelRecord, counts: Codes) -> Numbers:
    """The true counts behind published ones, none below 0; values that cannot be told apart share alike."""
    members = np.arange(channel.size) if record.members is None else np.array(record.members)
    within = Channel(
        record.retain, channel.replace[members] if record.replace == "published" else None, size=len(members)
    )
    found = np.zeros(channel.size)
    lost = within.never_retained
    if len(lost) > 1:
        found[members] = counts[members]
    else:
        found[members] = np.maximum(within.solve(counts[members]), 0)
    return found


@dataclass(frozen=True)
class Guessed:
    """What guessing gets on the raw table, and what the law lets it get."""

    success: float
    expected: float
    half: float
    """Half the width of the interval for the success."""
    people: int

    @property
    def ends(self) -> tuple[float, float]:
        """The interval."""
        return max(0.0, self.success - self.half), min(1.0, self.success + self.half)


def guessed(case: Case, name: str, truth: Codes, law: Law, guess: Codes, *, known: bool = False) -> Guessed:
    """T / n, E[T] / n, and an interval, for the people whose public values were published.

    known   guess so only where the row is known, being the only one with its public values, and elsewhere the most frequent value
    """
    exhibit, groups, size = case.exhibit, case.groups, len(law.prior)
    weights, y, z = exhibit.weights, exhibit.codes(name), exhibit.stratum
    s = np.bincount(groups.published, weights=weights, minlength=groups.count)
    cells = Cells(groups.raw, truth, size)
    n, seen = groups.people.astype(np.float64), s > 0
    tried = (groups.rows == 1) & (groups.people == 1) if known else seen
    here = tried[groups.published]
    hits = float((weights * cells.at(groups.published, guess[z, y]) / s[groups.published])[here].sum())
    elsewhere = float(cells.at(np.flatnonzero(seen & ~tried), np.array(law.prior.argmax())).sum())
    first, second = _moments(cells, n, law, guess)
    variance = float((n[tried] ** 2 / s[tried] * np.maximum(second - first**2, 0)[tried]).sum())
    people = float(n[seen].sum())
    largest = float((n[tried] / s[tried]).max(initial=1))
    half = (
        Z * variance**0.5 + Z**2 * largest / 6
    )  # the second part covers what the normal law leaves out in small tables
    expected = float((n * first)[tried].sum())
    return Guessed((hits + elsewhere) / people, (expected + elsewhere) / people, half / people, int(people))


def _moments(cells: Cells, n: Numbers, law: Law, guess: Codes) -> tuple[Numbers, Numbers]:
    """Mean and mean square, for each group, of c(g, d) / n(g) over one published row."""
    groups, size, group, value = len(n), len(law.prior), cells.group, cells.value
    part = cells.times / n[group]
    first, second = np.zeros(groups), np.zeros(groups)
    for z in range(len(law.share)):
        kept = law.share[z, value] * law.keep[z, value] * part
        redrawn = np.bincount(group, weights=law.share[z, value] * (1 - law.keep[z, value]) * part, minlength=groups)
        face = guess[z] == np.arange(size)
        chance = np.where(face[value], kept + law.draw[z, value] * redrawn[group], 0)
        first += np.bincount(group, weights=chance * part, minlength=groups)
        second += np.bincount(group, weights=chance * part**2, minlength=groups)
        for other in np.unique(guess[z][~face]):
            sent = (guess[z] == other) & ~face
            chance_of_other = np.bincount(group, weights=np.where(sent[value], kept, 0), minlength=groups)
            chance_of_other += law.draw[z][sent].sum() * redrawn
            held = cells.at(np.arange(groups), np.full(groups, other)) / np.maximum(n, 1)
            first += chance_of_other * held
            second += chance_of_other * held**2
    return first, second
