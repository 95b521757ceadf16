"""The coins of a perturbed column as an auditor with the raw table sees them: of everybody whose row is known the true value, what it was published as, and the law in between.

    Pr[published = y | true = x, sub-table = z] = P_z[y, x]

independently from person to person. A score is a number h(x, y) less its mean under the law, and has a known variance, so that sums of scores, and of products of scores
of different people or columns, have mean 0 whatever the true values are.

Where values are exchanged among rows (`permuted`) people are not independent, but those of one true value are exchangeable: given how often each outcome came out among them, every arrangement is
alike likely. Drawn one after the other without putting back, the mean and variance of each are known from what is left, and the same sums are again those of a fair game.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.publication import Codes, Publication
from scumble.core.channel import Channel
from scumble.core.channel_base import BaseChannel
from scumble.core.entropy import Entropy
from scumble.core.once import once

SIGNS = 3
"""Ways to put a sign to each outcome, drawn once and for all: throws of the same word have the same sign, whatever the channel does with the word."""


@dataclass(frozen=True)
class Score:
    """For each person a number of mean 0 and at most 1 either way, and its variance, both given the true values."""

    of: str
    value: Numbers
    variance: Numbers
    weight: Numbers | None = None
    """What outcomes have the sign of, by true value: the sign of the likeliest one."""


@dataclass(frozen=True, eq=False)
class Trials:
    """The known people of one column, in the order of the raw table."""

    column: str
    place: Codes
    """In the raw table."""
    person: Codes
    """Among those of it who are looked at."""
    row: Codes
    """Among the published rows."""
    true: Codes
    shown: Codes
    """What was published, as a code."""
    stratum: Codes
    channels: list[BaseChannel]
    """The law of each sub-table."""
    exchanged: bool

    @once
    def cell(self) -> Codes:
        """Sub-table and true value: people of one cell have one law."""
        return self.stratum * self.channels[0].size + self.true

    @property
    def codes(self) -> int:
        """How many outcomes there are."""
        return self.channels[0].codes

    @once
    def chance(self) -> Numbers:
        """The probability of what came out."""
        return self.likelihood(self.shown)

    def likelihood(self, codes: Codes) -> Numbers:
        """The probability of a code, for each person."""
        chance = np.zeros(len(self.true))
        for z, channel in enumerate(self.channels):
            here = self.stratum == z
            chance[here] = channel.likelihood(codes[here], self.true[here])
        return chance

    def mean(self, h: Numbers) -> Numbers:
        """The mean of a function of the outcome, for each person."""
        table = np.stack([channel.expect(h) for channel in self.channels])
        return np.asarray(table[self.stratum, self.true])

    @once
    def likeliest(self) -> Codes:
        """The code that each person's value makes likeliest."""
        return np.asarray(np.stack([_likeliest(channel) for channel in self.channels])[self.stratum, self.true])

    @once
    def kept(self) -> Numbers:
        """Who was published as that."""
        return np.asarray(self.shown == self.likeliest, float)

    @once
    def scores(self) -> list[Score]:
        """Whether the published code is the likeliest for the true value; and signs of outcomes."""
        made = [self._score("what was kept", self.kept, self.likelihood(self.likeliest))]
        for k in range(SIGNS):
            sign = np.asarray(Entropy.seeded(0).stream("signs", k).integers(self.codes, 8) % np.uint8(2) - 0.5, float)
            weight = sign[_likeliest(self.channels[0])]
            made.append(replace(self._score("what came out", sign[self.shown], self.mean(sign), 0.25), weight=weight))
        return made

    def _score(self, of: str, seen: Numbers, mean: Numbers, square: float | None = None) -> Score:
        if self.exchanged:
            return Score(of, *without_return(seen, self.cell))
        second = mean if square is None else square
        return Score(of, seen - mean, np.maximum(second - mean**2, 0))


def without_return(seen: Numbers, cell: Codes) -> tuple[Numbers, Numbers]:
    """For numbers of which every arrangement within a cell is alike likely: each less the mean of those that are left in its cell, and the variance of these.

    >>> value, variance = without_return(np.array([1.0, 0.0, 1.0]), np.zeros(3, np.int64))
    >>> value.round(3).tolist(), variance.round(3).tolist()
    ([0.333, -0.5, 0.0], [0.222, 0.25, 0.0])
    """
    order = np.argsort(cell, kind="stable")
    inside = cell[order]
    start = np.flatnonzero(np.diff(inside, prepend=-1))
    size = np.diff(np.append(start, len(inside)))
    left = np.repeat(start + size, size) - np.arange(len(inside))

    def rest(numbers: Numbers) -> Numbers:
        """The sums of those from each on, within its cell."""
        total = np.concatenate([[0.0], np.cumsum(numbers)])
        return np.asarray(np.repeat(total[start + size], size) - total[:-1])

    values = seen[order]
    mean = rest(values) / left
    variance = np.maximum(rest(values**2) / left - mean**2, 0)
    made, spread = np.empty(len(seen)), np.empty(len(seen))
    made[order], spread[order] = values - mean, np.where(variance < 1e-12, 0, variance)
    return made, spread


def _likeliest(channel: BaseChannel) -> Codes:
    """The code that each value makes likeliest, of several alike the first."""
    codes = np.zeros(channel.size, dtype=np.int64)
    for some, columns in channel.column_blocks():
        codes[some] = columns.argmax(axis=0)
    return codes


def law_of(publication: Publication, name: str, truth: Codes) -> list[BaseChannel]:
    """The channel of each sub-table; where replacements follow the column, those of the true values."""
    assert publication.release is not None
    column = publication.release.manifest.column(name)
    channels = [stratum[name] for stratum in publication.release.strata]
    if column is None or not any(record.own for record in column.records):
        return channels
    shares = np.bincount(truth, minlength=channels[0].size) / max(1, len(truth))
    return [Channel(c.retain, shares) if isinstance(c, Channel) else c for c in channels]


def trials_of(case: Case, name: str) -> Trials:
    """Those of a column."""
    people, rows = case.known
    order = np.argsort(people, kind="stable")
    people, rows = people[order], rows[order]
    publication, truth = case.publication, case.truth(name)
    return Trials(
        name,
        case.place[people],
        people,
        rows,
        truth[people],
        publication.codes(name)[rows],
        publication.stratum[rows],
        law_of(publication, name, truth),
        publication.traits.permuted,
    )


def all_trials(case: Case) -> Iterator[Trials]:
    """Those of all perturbed columns, one after the other; none where nobody's row is known."""
    if case.raw is not None and case.publication.perturbed and not case.publication.sampled and len(case.known[0]):
        for name in case.publication.sensitive:
            yield trials_of(case, name)
