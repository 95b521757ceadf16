"""The channel of a grouped column, between one of its values and all others.

Each line of an answer is about one value. Which other one a row has, it does not ask, so that these go together: all of them where one retention holds, and
those of one retention where there are several.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.once import once

MOST_RETENTIONS = 6
"""Retentions of a grouped column that are told apart; of more, neighbours are taken for one."""


@dataclass(frozen=True)
class Classes:
    """The retentions of a column, few of them."""

    of: npt.NDArray[np.intp]
    count: int
    retain: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Alone:
    """Each value against the others; what was worked out for one is kept, because many lines and questions about them ask for it."""

    channel: BaseChannel
    _known: dict[int, Channel] = field(default_factory=dict)

    @once
    def others(self) -> Classes:
        """What the other values are told apart by: one class where one retention holds."""
        if self.channel.against_others is not None or self.channel.recoded:
            return Classes(np.zeros(self.channel.size, dtype=np.intp), 1, np.zeros(1))
        retention = replacement_of(self.channel).retention
        values, of = np.unique(retention.round(12), return_inverse=True)
        if len(values) > MOST_RETENTIONS:
            of = np.minimum(np.argsort(np.argsort(retention)) * MOST_RETENTIONS // len(retention), MOST_RETENTIONS - 1)
        count = int(of.max()) + 1
        means = np.bincount(of, weights=retention, minlength=count) / np.maximum(np.bincount(of, minlength=count), 1)
        return Classes(of.astype(np.intp), count, means)

    def against(self, value: int) -> Channel:
        """The channel between a value and all others: these are one, or as many as there are retentions."""
        known = self._known.get(value)
        return known if known is not None else self._known.setdefault(value, self._against(value))

    def _against(self, value: int) -> Channel:
        if (alone := self.channel.against_others) is not None:
            share = float(alone[1][value])
            return Channel(alone[0], [share, 1 - share])
        own, classes = replacement_of(self.channel), self.others
        others = np.arange(own.size) != value
        drawn = np.bincount(classes.of[others], weights=own.replace[others], minlength=classes.count)
        return Channel([float(own.retention[value]), *classes.retain], [float(own.replace[value]), *drawn])
