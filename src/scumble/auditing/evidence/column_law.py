"""What the manifest says becomes of a true value of a perturbed column, and how well it can then be guessed.

A person's row lies in sub-table z with probability q[z, i] (most releases have one), where value i is kept with probability p[z, i] and
otherwise redrawn from r[z]:

    Pr[z, y | i] = q[z, i] (p[z, i] [y = i] + (1 - p[z, i]) r[z, y])

Where codes are published, an attacker reads each as the likeliest value behind it (`CodedLaw`), and what is read is looked at as a published value is.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.auditing.evidence.publication import Codes, Publication
from scumble.core.channel import Channel, replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.once import once
from scumble.release.records import ChannelRecord, ColumnRecord

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ColumnLaw:
    """The channels of a column, one row of each array for each sub-table, and the distribution of its true values."""

    share: Numbers
    keep: Numbers
    draw: Numbers
    prior: Numbers

    @property
    def whole(self) -> bool:
        """Whether there are no sub-tables, and published values are values."""
        return len(self.keep) == 1

    def read(self, published: Codes) -> Codes:
        """Published codes as values: they are."""
        return published

    def guesses(self) -> Codes:
        """The likeliest true value behind each published one, in each sub-table: itself, or one that stands behind most redrawn ones."""
        behind = self.prior * self.share * (1 - self.keep)
        other = behind.argmax(axis=1)[:, np.newaxis]
        itself = self.prior * self.share * (self.keep + (1 - self.keep) * self.draw)
        face = np.arange(len(self.prior))[np.newaxis, :]
        return np.where(itself >= self.draw * np.take_along_axis(behind, other, 1), face, other)

    def chance(self, guess: Codes) -> Numbers:
        """How probably a guess for each published value is right, by sub-table and true value."""
        sent = np.zeros_like(self.draw)  # how often a redrawn value leads to each guess
        np.add.at(sent, (np.arange(len(guess))[:, np.newaxis], guess), self.draw)
        face = np.arange(len(self.prior))[np.newaxis, :]
        return np.asarray(self.keep * (guess == face) + (1 - self.keep) * sent)

    def success(self) -> float:
        """The share of values that these guesses get right, where the row is known and public columns tell nothing."""
        guess = self.guesses()
        face = np.arange(len(self.prior))[np.newaxis, :]
        right = self.prior[guess] * np.take_along_axis(self.share * (1 - self.keep), guess, 1) * self.draw
        return min(1.0, float((right + np.where(guess == face, self.prior * self.share * self.keep, 0)).sum()))

    @property
    def shown(self) -> Numbers:
        """How probably a value is published as itself, by sub-table and value."""
        return np.asarray(self.keep + (1 - self.keep) * self.draw)

    @property
    def face_value(self) -> float:
        """The share of published values that are the true ones."""
        return min(1.0, float((self.prior * self.share * self.shown).sum()))

    def likelihood(self, stratum: Codes, seen: Codes, value: Codes) -> Numbers:
        """Pr[sub-table, published | value] of each person."""
        p, r = self.keep[stratum, value], self.draw[stratum, seen]
        return np.asarray(self.share[stratum, value] * ((1 - p) * r + p * (seen == value)))

    def same_channel(self, other: "ColumnLaw") -> bool:
        """Whether values are kept and redrawn alike, in one table each: keyed coins are then the same coins."""
        alike = self.keep.shape == other.keep.shape and self.whole and other.whole
        return alike and bool((self.keep == other.keep).all() and (self.draw == other.draw).all())


class CodedLaw(ColumnLaw):
    """The law of a column that is published as codes."""

    def __init__(self, channel: BaseChannel, prior: Numbers) -> None:
        one = np.ones((1, channel.size))
        super().__init__(one, 0 * one, 0 * one, prior)
        object.__setattr__(self, "channel", channel)

    channel: BaseChannel

    @property
    def whole(self) -> bool:
        """Codes are no values."""
        return False

    @once
    def best(self) -> Codes:
        """The likeliest value behind each code, by the prior."""
        return self.channel.likeliest(self.prior)[0]

    def read(self, published: Codes) -> Codes:
        """As the likeliest values."""
        return self.best[published]

    def guesses(self) -> Codes:
        """What was read."""
        return np.arange(len(self.prior))[np.newaxis, :]

    @property
    def shown(self) -> Numbers:
        """How probably a value is read as itself."""
        right = self.channel.likelihood(np.arange(self.channel.codes), self.best)
        return np.bincount(self.best, weights=right, minlength=self.channel.size).astype(np.float64)[np.newaxis, :]

    def chance(self, guess: Codes) -> Numbers:
        """The same: a guess is what was read."""
        return self.shown

    def success(self) -> float:
        """The share of values that are read right."""
        return self.face_value

    def likelihood(self, stratum: Codes, seen: Codes, value: Codes) -> Numbers:
        """Pr[code | value]."""
        return self.channel.likelihood(seen, value)


def column_law(publication: Publication, name: str, truth: Codes | None = None) -> ColumnLaw:
    """The law of a perturbed column; with the true codes, the prior is theirs, and so are replacements that follow the data."""
    assert publication.release is not None
    channels = [stratum[name] for stratum in publication.release.strata]
    column = publication.release.manifest.column(name)
    assert column is not None
    counts = publication.release.published_counts(name)
    if column.records[0].coded is not None:
        return _coded(channels[0], counts[0], truth)
    return _replaced([replacement_of(channel) for channel in channels], column, counts, truth)


def _coded(channel: BaseChannel, counts: Codes, truth: Codes | None) -> ColumnLaw:
    known = np.bincount(truth, minlength=channel.size) if truth is not None else np.maximum(channel.solve(counts), 0)
    return CodedLaw(channel, known / max(1e-300, known.sum()))


def _replaced(channels: list[Channel], column: ColumnRecord, counts: Codes, truth: Codes | None) -> ColumnLaw:
    estimates = np.stack([_estimate(c, r, n) for c, r, n in zip(channels, column.records, counts, strict=True)])
    total = estimates.sum(axis=0)
    prior = np.bincount(truth, minlength=len(total)) if truth is not None else total
    prior = prior / max(1e-300, prior.sum())
    held = np.stack([channel.retention + channel.replace > 0 for channel in channels]) / len(channels)
    share = np.where(total > 0, estimates / np.where(total > 0, total, 1), held / np.maximum(held.sum(axis=0), 1e-300))
    own = truth is not None and any(record.own for record in column.records)
    draw = np.stack([prior if own else channel.replace for channel in channels])
    return ColumnLaw(share, np.stack([channel.retention for channel in channels]), draw, prior)


def _estimate(channel: Channel, record: object, counts: Codes) -> Numbers:
    """The true counts behind published ones, none below 0; values that cannot be told apart share alike."""
    assert isinstance(record, ChannelRecord)
    members = np.arange(channel.size) if record.members is None else np.array(record.members)
    within = Channel(record.retain, channel.replace[members], size=len(members))
    true = np.zeros(channel.size)
    lost = within.never_retained
    if len(lost) > 1:
        true[members] = counts[members]
    else:
        true[members] = np.maximum(within.solve(counts[members]), 0)
    return true
