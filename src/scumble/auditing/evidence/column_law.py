"""What the manifest says becomes of a true value of a perturbed column, and how well it can then be guessed.

A person's row lies in sub-table z with probability q[z, i] (most releases have one), where value i is kept with probability p[z, i] and
otherwise redrawn from r[z]:

    Pr[z, y | i] = q[z, i] (p[z, i] [y = i] + (1 - p[z, i]) r[z, y])
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.auditing.evidence.publication import Codes, Publication
from scumble.core.channel import Channel
from scumble.release.records import ChannelRecord

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ColumnLaw:
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
        return min(1.0, float((right + np.where(guess == face, self.prior * self.share * self.keep, 0)).sum()))

    @property
    def face_value(self) -> float:
        """The share of published values that are the true ones."""
        return min(1.0, float((self.prior * self.share * (self.keep + (1 - self.keep) * self.draw)).sum()))

    def same_channel(self, other: "ColumnLaw") -> bool:
        """Whether values are kept and redrawn alike, in one table each: keyed coins are then the same coins."""
        alike = self.keep.shape == other.keep.shape and len(self.keep) == 1
        return alike and bool((self.keep == other.keep).all() and (self.draw == other.draw).all())


def column_law(publication: Publication, name: str, truth: Codes | None = None) -> ColumnLaw:
    """The law of a perturbed column; with the true codes, the prior is theirs, and so are replacements that follow the data."""
    assert publication.release is not None
    channels = [stratum[name] for stratum in publication.release.strata]
    column = publication.release.manifest.column(name)
    assert column is not None
    counts = publication.release.published_counts(name)
    estimates = np.stack([_estimate(c, r, n) for c, r, n in zip(channels, column.records, counts, strict=True)])
    total = estimates.sum(axis=0)
    prior = np.bincount(truth, minlength=len(total)) if truth is not None else total
    prior = prior / max(1e-300, prior.sum())
    held = np.stack([channel.retention + channel.replace > 0 for channel in channels]) / len(channels)
    share = np.where(total > 0, estimates / np.where(total > 0, total, 1), held / np.maximum(held.sum(axis=0), 1e-300))
    own = truth is not None and any(record.replace == "published" for record in column.records)
    draw = np.stack([prior if own else channel.replace for channel in channels])
    return ColumnLaw(share, np.stack([channel.retention for channel in channels]), draw, prior)


def _estimate(channel: Channel, record: ChannelRecord, counts: Codes) -> Numbers:
    """The true counts behind published ones, none below 0; values that cannot be told apart share alike."""
    members = np.arange(channel.size) if record.members is None else np.array(record.members)
    within = Channel(
        record.retain, channel.replace[members] if record.replace == "published" else None, size=len(members)
    )
    shares = np.zeros(channel.size)
    lost = within.never_retained
    if len(lost) > 1:
        shares[members] = counts[members]
    else:
        shares[members] = np.maximum(within.solve(counts[members]), 0)
    return shares
