"""What a published value does to the belief in each single value: exact, one number a value, at O(m).

    odds of i rise by at most    (p_i + (1 - p_i) r_i) / (r_i (1 - M_i))                  M_i: the largest retention of the others
    odds of i fall by at most    max_{k != i} (p_k + (1 - p_k) r_k) / r_k  /  (1 - p_i)

both over the values that the channel can publish (r > 0); a sub-table's channel knows no others. For a given prior f the posteriors are

    Pr[i | j] = f_i P[j, i] / (p_j f_j + r_j D),        D = sum_i (1 - p_i) f_i

where p = `channel.retention`, r = `channel.replace`. Proofs: docs/proofs/fine_grain.md, docs/proofs/partition.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, Vector, replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.errors import ParameterError

Bounds = Sequence[Sequence[float | None]]
"""For each stratum a factor for each value, or one for all; None: the value needs no protection."""


def rise(channel: Channel) -> Vector:
    """How much the odds of each value can rise at most; 1 for a value that is not the channel's.

    >>> rise(Channel([0.5, 0.25, 0.0], size=3)).round(9).tolist()
    [2.666666667, 3.0, 2.0]
    """
    p, r, own = _own(channel)
    with np.errstate(divide="ignore"):
        ratio = (p + (1 - p) * r) / (r * (1 - largest_other(p)))
    return _placed(ratio, own, channel.size)


def fall(channel: Channel) -> Vector:
    """How much the odds of each value can fall at most; 1 for a value that is not the channel's."""
    p, r, own = _own(channel)
    with np.errstate(divide="ignore"):
        ratio = largest_other((p + (1 - p) * r) / r) / (1 - p)
    return _placed(ratio, own, channel.size)


def within(strata: Sequence[Channel], bounds: Bounds, downward: bool, slack: float) -> bool:
    """Whether no odds rise (nor fall, where that is asked) by more than the bounds, in any stratum."""
    if len(strata) != len(bounds):
        return False
    for channel, row in zip(strata, bounds, strict=True):
        if len(row) not in (1, channel.size):
            return False
        allowed = np.array([np.inf if bound is None else bound for bound in row]) * (1 + slack)
        if np.any(rise(channel) > allowed) or (downward and np.any(fall(channel) > allowed)):
            return False
    return True


@dataclass(frozen=True)
class Worst:
    """The posteriors of each value, over all that can be published."""

    largest: Vector
    smallest: Vector


def worst_posteriors(channel: BaseChannel, prior: Any) -> Worst:
    """The largest and the smallest posterior of each value, exactly, for a prior; without the m x m matrix.

    >>> worst_posteriors(Channel(0.5, size=2), [0.5, 0.5]).largest.tolist()
    [0.75, 0.75]
    """
    f = np.asarray(prior, dtype=np.float64)
    if f.shape != (channel.size,) or np.any(f < 0) or f.sum() <= 0:
        raise ParameterError(f"a prior needs {channel.size} non-negative weights, not all zero")
    f = f / f.sum()
    if channel.recoded:
        return Worst(*channel.posterior_range(f))
    known = replacement_of(channel)
    p, r = known.retention, known.replace
    seen = p * f + r * ((1 - p) @ f)
    shows = seen > 0
    own = np.divide(f * (p + (1 - p) * r), seen, out=np.zeros_like(f), where=shows)
    share = np.divide(r, seen, out=np.full_like(f, np.nan), where=shows)
    moved = f * (1 - p)
    most = moved * largest_other(np.where(shows, share, -np.inf))
    least = moved * -largest_other(np.where(shows, -share, -np.inf))
    return Worst(
        np.fmax(np.where(shows, own, -np.inf), np.where(np.isfinite(most), most, -np.inf)),
        np.fmin(np.where(shows, own, np.inf), np.where(np.isfinite(least), least, np.inf)),
    )


def _own(channel: Channel) -> tuple[Vector, Vector, npt.NDArray[np.bool_]]:
    own = np.asarray(channel.replace > 0)
    return channel.retention[own], channel.replace[own], own


def _placed(factors: Vector, own: npt.NDArray[np.bool_], size: int) -> Vector:
    whole = np.ones(size)
    whole[own] = factors
    return whole


def largest_other(numbers: Vector) -> Vector:
    """For each place the largest number at another; that of a single place is none, and says so as infinity of no use."""
    if len(numbers) < 2:
        return np.ones(len(numbers))
    top = int(np.argmax(numbers))
    others = np.full(len(numbers), numbers[top])
    others[top] = np.delete(numbers, top).max()
    return others
