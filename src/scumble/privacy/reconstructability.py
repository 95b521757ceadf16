"""How well counts come back: the rows that are needed for an accuracy, and the condition number of the operator."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble.core.channel_base import BaseChannel
from scumble.core.errors import ParameterError
from scumble.core.parameters import number, probability

CONSTANTS = {"hoeffding": 0.5, "chernoff": 4.0}


def rows_needed(
    retain: Any, epsilon: Any, delta: Any, *, shares: Sequence[Any] | None = None, bound: str = "hoeffding"
) -> int:
    """The rows from which a fraction comes back within epsilon with probability above 1 - delta, whatever the table.

        n >= c ln(2 / delta) (R / epsilon)^2,        R <= prod_r 1 / p_r

    where p_r = `retain`, a number or one for each column of the condition, R = the range of a row's debias weight (1/p exactly for one
    column), c = 1/2 by Hoeffding's inequality, which needs rows to be perturbed independently and nothing else. The constant
    that was published, for one column, is c = 4: `bound="chernoff"`.

    shares   the replacement probability of each column's condition, which makes R exact for several columns

    >>> rows_needed(0.2, 0.05, 0.05), rows_needed(0.2, 0.05, 0.05, bound="chernoff")
    (18445, 147556)
    >>> rows_needed([0.5, 0.5], 0.05, 0.05), rows_needed([0.5, 0.5], 0.05, 0.05, shares=[0.5, 0.5])
    (11805, 6640)
    """
    retentions = [probability(p, "retain") for p in ([retain] if np.ndim(retain) == 0 else retain)]
    error, risk = number(epsilon, "epsilon"), number(delta, "delta")
    if not (error > 0 and 0 < risk < 1 and retentions and min(retentions) > 0):
        raise ParameterError(
            f"epsilon > 0, 0 < delta < 1 and retentions above 0 must hold, not {epsilon}, {delta}, {retain}"
        )
    if bound not in CONSTANTS or (bound == "chernoff" and len(retentions) > 1):
        raise ParameterError(
            f"bound {bound!r} is not known for {len(retentions)} columns; 'hoeffding' holds for any number, 'chernoff' for one"
        )
    spread = _weight_range(retentions, shares)
    return max(1, math.ceil(CONSTANTS[bound] * math.log(2 / risk) * (spread / error) ** 2))


def condition_number(channels: Sequence[BaseChannel]) -> float:
    """The largest over the smallest singular value of P_1 (x) ... (x) P_k: the product of the factors'.

    p^-k when every replacement distribution is uniform, larger otherwise; infinite where a question is not estimable.

    >>> from scumble import Channel
    >>> round(condition_number([Channel(0.2, size=2)] * 3), 6), round(condition_number([Channel(0.2, [0.9, 0.1])]), 3)
    (125.0, 7.107)
    """
    return math.prod(_condition(channel) for channel in channels)


def _condition(channel: BaseChannel) -> float:
    values = channel.singular_values()
    return float(values.max() / values.min()) if values.min() > 1e-15 * values.max() else math.inf


def _weight_range(retentions: list[float], shares: Sequence[Any] | None) -> float:
    """The largest less the smallest product of one weight a column, each (1 - (1-p) m) / p where it holds and -(1-p) m / p elsewhere."""
    if shares is None:
        return math.prod(1 / p for p in retentions)
    if len(shares) != len(retentions):
        raise ParameterError(f"{len(shares)} shares do not fit {len(retentions)} retentions; give one for each column")
    low = high = 1.0
    for p, m in zip(retentions, (probability(m, "a share") for m in shares), strict=True):
        ends = [w * e for w in ((1 - (1 - p) * m) / p, -(1 - p) * m / p) for e in (low, high)]
        low, high = min(ends), max(ends)
    return high - low
