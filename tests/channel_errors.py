"""Standard errors of the count of each value, by formula, for tests that compare channels."""

from typing import Any

import numpy as np

from scumble.core.channel_base import BaseChannel, Vector


def standard_errors(channel: BaseChannel, counts: Any) -> Vector:
    """Of one channel over all rows."""
    n = np.asarray(counts, dtype=np.float64)
    return np.asarray(np.sqrt([n @ channel.variance(own) for own in np.eye(len(n))]))


def by_parts(partition: Any) -> Vector:
    """Of sub-tables, each with a channel over its own values."""
    squares = np.zeros(partition.subtables.shape[1])
    for row, own, channel in zip(partition.subtables, partition.values, partition.channels, strict=True):
        squares[own] += standard_errors(channel, row[own]) ** 2
    return np.sqrt(squares)
