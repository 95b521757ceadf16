"""Perturbed generalization (Tao, Xiao, Li and Zhang, 2008): perturb the value, generalise to groups of k, publish one row of each.

    estimate of a count = sum over groups of  |g| * overlap(g, condition) * phi(published value)

where phi are the debias weights of the uniform channel, and the overlap is the part of the group's box that the condition
covers. Groups are boxes of the public columns, halved at the median of the widest column as long as both halves have k rows (Mondrian).

Against whoever knows all others of a group, a person's value is published with probability 1/k, and then perturbed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.channel import Channel
from scumble.coins import Coins
from scumble.domain import Codes
from scumble.entropy import Stream
from scumble.errors import ParameterError
from scumble.mechanisms.draws import below
from scumble.privacy.guarantee import Guarantee, amplification_guarantee

Matrix = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Generalized:
    """A release: boxes of the public columns (ends included), how many rows each stands for, and one perturbed value of it."""

    low: Matrix
    high: Matrix
    size: npt.NDArray[np.int64]
    value: Codes
    channel: Channel

    def guarantee(self, column: str) -> Guarantee:
        """What the channel gives, whoever is sampled."""
        return amplification_guarantee({column: self.channel})

    def count(
        self, low: npt.NDArray[np.int64], high: npt.NDArray[np.int64], values: npt.NDArray[np.bool_]
    ) -> tuple[float, float]:
        """How many rows lie in the box low .. high and have one of the values, with its standard error over coins alone."""
        width = np.minimum(self.high, high) - np.maximum(self.low, low) + 1
        overlap = np.prod(np.maximum(width, 0) / (self.high - self.low + 1), axis=1)
        phi = self.channel.weights(values.astype(float))[self.value]
        weight = self.size * overlap
        return float(weight @ phi), float(np.sqrt(max(0.0, float(weight**2 @ (phi**2 - phi)))))


def publish(public: Matrix, codes: Codes, size: int, k: int, gamma: float, stream: Stream) -> Generalized:
    """The release of rows with coded public columns and a column of true codes."""
    if not 1 <= k <= len(codes):
        raise ParameterError(f"k is a number of rows, from 1 to the {len(codes)} of the table, not {k}")
    coins = Coins.of(Channel.from_gamma(size, gamma))
    perturbed = coins.flip(codes, stream)
    groups = list(halved(public, np.arange(len(codes)), k))
    sizes = np.array([len(group) for group in groups])
    chosen = [group[place] for group, place in zip(groups, below(stream, sizes).tolist(), strict=True)]
    return Generalized(
        np.array([public[group].min(axis=0) for group in groups]),
        np.array([public[group].max(axis=0) for group in groups]),
        sizes,
        perturbed[chosen],
        coins.channel(),
    )


def halved(public: Matrix, rows: npt.NDArray[np.intp], k: int) -> Iterator[npt.NDArray[np.intp]]:
    """Groups of k rows or more, by halving at the median of the column that spans most.

    >>> [group.tolist() for group in halved(np.array([[1], [9], [2], [8]]), np.arange(4), 2)]
    [[0, 2], [1, 3]]
    """
    waiting = [rows]
    while waiting:
        rows = waiting.pop()
        part = public[rows]
        for column in np.argsort(-(part.max(axis=0) - part.min(axis=0)), kind="stable"):
            left = part[:, column] <= np.median(part[:, column])
            if left.all():
                left = part[:, column] < part[:, column].max()
            if k <= left.sum() <= len(rows) - k:
                waiting += [rows[~left], rows[left]]
                break
        else:
            yield rows
