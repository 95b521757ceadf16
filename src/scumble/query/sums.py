"""Sums of perturbed columns with many values.

A perturbed column x that is summed makes the weight a line of the published number: with one retention p, replacement moments
m_c = sum_{i in c} r_i x_i, and G the weights over the other columns,

    W = a + b y,   a = -(1 - p) / p * sum_c m_c G_c,   b = G_{c(y)} / p           (with x^2 for the weights of the square)

so that no cell is needed for each value.
"""

import numpy as np

from scumble.core.channel import Channel, IndistinguishableValues, replacement_of
from scumble.query.normalize import Perturbed
from scumble.query.slope import covariances, steepness
from scumble.query.stratum import Flags, Stratum, Tensor


def number_weights(part: Stratum, table: Tensor, column: str, power: int) -> tuple[Tensor, Tensor]:
    """a and b of W = a + b y^power for the sum of x^power times a table over the cells."""
    place, axis, channel = _of(part, column)
    g = part.weights(table, skip=place)
    p = float(channel.retain)
    if p == 0:
        raise IndistinguishableValues(channel.never_retained)
    x = np.nan_to_num(axis.domain.numbers) ** power
    moments = np.bincount(axis.cells, weights=channel.replace * x, minlength=axis.count)
    drawn = np.tensordot(moments, np.moveaxis(g, place, 0), axes=1)
    a = np.expand_dims(-(1 - p) / p * drawn, place)
    return np.broadcast_to(a, g.shape), g / p


def _of(part: Stratum, column: str) -> tuple[int, Perturbed, Channel]:
    place = next(i for i, axis in enumerate(part.question.others) if axis.name == column)
    return place, part.question.others[place], replacement_of(part.channels[column])


def number_steepness(part: Stratum, column: str, truth: Flags) -> Tensor:
    """k / u of the values that coins draw: most rows, where few match; where many do it hardly matters."""
    _, axis, channel = _of(part, column)
    k, u = covariances(np.nan_to_num(axis.domain.numbers) * truth[axis.cells], channel.weights, channel.expect)
    return steepness(channel.replace @ k, channel.replace @ u, k, u)
