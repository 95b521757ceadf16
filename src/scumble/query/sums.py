"""Sums of perturbed columns.

A perturbed column x that is summed makes the weight a polynomial in the published number: with one retention p, replacement moments
m_c = sum_{i in c} r_i x_i, and G the weights over the other axes,

    W = a + b y,   a = -(1 - p) / p * sum_c m_c G_c,   b = G_{c(y)} / p           (with x^2 for the weights of the square)

Where each value is a cell, x is a function of the cell, and W is found as for a count.
"""

from typing import TYPE_CHECKING

import numpy as np

from scumble.core.channel import Channel, IndistinguishableValues, replacement_of
from scumble.query.moments import Ratio, quotient
from scumble.query.normalize import Perturbed
from scumble.query.sampled import of_average, public_share, sample_of, smaller
from scumble.query.slope import covariances, steepness
from scumble.query.stratum import Flags, Gathered, Tensor

if TYPE_CHECKING:
    from scumble.query.reconstruct import Reconstruction


def grouped_sum(part: "Reconstruction", column: str) -> Ratio:
    """The sum of a column that is grouped by: each row of the answer has one number."""
    place = next(i for i, axis in enumerate(part.question.grouped) if axis.name == column)
    shape = [1] * (1 + len(part.cells.lines))
    shape[1 + place] = -1
    x = np.nan_to_num(part.question.grouped[place].domain.numbers).reshape(shape)
    count = part.count(present=column)
    return Ratio(count.times(x), count, count.variance * x)


def perturbed_sum(part: "Reconstruction", column: str, place: int, average: bool) -> Ratio:
    """The sum of another perturbed column, whose sums stand at a place."""
    axis_place = next(i for i, axis in enumerate(part.question.others) if axis.name == column)
    axis = part.question.others[axis_place]
    if axis.count == axis.domain.size:
        return _valued_sum(part, column, axis_place, average)
    channel = replacement_of(part.channels[column])
    numbers = part.cells.numbers
    first = [numbers("n"), numbers(f"v{place}_s")]
    sums = [numbers("n", 2), numbers(f"v{place}_s", 2), numbers(f"v{place}_q")]

    def polynomial(w: Tensor, power: int) -> tuple[Tensor, Tensor]:
        return _polynomial(part.rest_weights(w, skip=axis_place), axis, channel, axis_place, power)

    def top(f: Tensor) -> Gathered:
        (a, b), (a2, b2) = polynomial(f, 1), polynomial(f, 2)
        return (
            part.line([a, b], first),
            part.line([a**2, 2 * a * b, b**2], sums),
            part.line([a2, b2], [sums[0], sums[2]]),
        )

    def cross(f: Tensor) -> Gathered:
        a, b = polynomial(f, 1)
        w = part.rest_weights(f)
        return part.line([a, b], first), part.line([a * w, b * w], sums[:2]), part.line([a, b], sums[:2])

    total = part.moments_of_truth(top, column)
    if not average and len(part.cells.rest) == 1 and not part.cells.shape:
        total = total.leaning(_number_steepness(axis, channel, part.truth & part.present(column)))
    return Ratio(total, part.drawn_count(present=column), part.moments_of_truth(cross, column).variance)


def _number_steepness(axis: Perturbed, channel: Channel, truth: Flags) -> Tensor:
    """k / u of the values that coins draw: most rows, where few match; where many do it hardly matters."""
    k, u = covariances(np.nan_to_num(axis.domain.numbers) * truth[axis.cells], channel.weights, channel.expect)
    return steepness(channel.replace @ k, channel.replace @ u, k, u)


def _valued_sum(part: "Reconstruction", column: str, place: int, average: bool) -> Ratio:
    """Each value is a cell, so the summed number is a function of the cell."""
    shape = [1] * (part.truth.ndim - len(part.cells.lines))
    shape[place] = -1
    x = np.nan_to_num(part.question.others[place].domain.numbers).reshape(shape)
    first, second, third = (part.cells.numbers("n", order) for order in (1, 2, 3))
    gather = part.cells.gather

    def moments(f: Tensor, g: Tensor) -> Gathered:
        w, v = part.rest_weights(f), part.rest_weights(g)
        return gather(w, first), gather(w * v, second), gather(part.rest_weights(f * g), second)

    top = part.moments_of_truth(lambda f: moments(f * x, f * x), column)
    if not average:
        top = part.leaning(top, second, third, column, x)
    cross = part.moments_of_truth(lambda f: moments(f * x, f), column).variance
    bottom = part.moments_of_truth(lambda f: moments(f, f), column)
    if part.cells.sampled is None:
        return Ratio(top, part.drawn_count(present=column), cross)
    added = _sampling_of_values(part, x, column, average, quotient(top.value, bottom.value))
    return Ratio(top.widened(added[0]), bottom.widened(added[2]), cross + added[1])


def _sampling_of_values(part: "Reconstruction", x: Tensor, column: str, average: bool, ratio: Tensor) -> Tensor:
    """What sampling adds to the variance of a sum of the perturbed column, its covariance with the count, and that of the count."""
    truth = (part.truth & part.present(column)).astype(np.float64)
    assert part.cells.sampled is not None
    second = part.cells.numbers("n", 2) * part.cells.sampled
    squares = part.over(second)
    powers = [truth * x**2, truth * x, truth]
    estimated = np.stack([part.cells.gather(part.rest_weights(f), second) for f in powers])
    if not average:
        return np.stack([smaller(public_share(part.question, powers[1]), estimated[0], squares) * squares] * 3)
    asked, numbers = truth.max(axis=tuple(range(1, truth.ndim))), x.reshape(-1)
    halves = [0.5 * asked @ numbers**power / sample_of(part.question) for power in (2, 1, 0)]
    return of_average(np.stack([half * squares for half in halves]), estimated, ratio)


def _polynomial(g: Tensor, axis: Perturbed, channel: Channel, place: int, power: int) -> tuple[Tensor, Tensor]:
    """a and b of W = a + b y^power for the sum of x^power times a condition whose weights over the other axes are g."""
    p = float(channel.retain)
    if p == 0:
        raise IndistinguishableValues(channel.never_retained)
    x = np.nan_to_num(axis.domain.numbers) ** power
    moments = np.bincount(axis.cells, weights=channel.replace * x, minlength=axis.count)
    drawn = np.tensordot(moments, np.moveaxis(g, place, 0), axes=1)
    a = np.expand_dims(-(1 - p) / p * drawn, place)
    return np.broadcast_to(a, g.shape), g / p
