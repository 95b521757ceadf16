"""Upward and downward breaches of (rho1, rho2), amplification gamma, and exact posteriors.

A property of a person that an attacker believed with probability at most rho1 is, after seeing the published value,
believed with probability at most rho2. An operator of amplification gamma gives this, for every prior, when

    gamma <= rho2 (1 - rho1) / (rho1 (1 - rho2))

because Bayes' rule multiplies the odds of a property by at most gamma: posterior odds <= gamma * prior odds. The bound
is reached, so a breach is a posterior strictly ABOVE rho2. The same factor bounds the fall of the odds, so nothing
believed with more than rho2 falls below rho1.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel import gamma_bound
from scumble.core.channel_base import BaseChannel
from scumble.core.errors import ParameterError
from scumble.core.parameters import number

gamma = gamma_bound


def posterior_bound(amplification: float, prior: Any) -> float:
    """The largest posterior that a prior can become under an amplification.

    >>> round(posterior_bound(4 / 3, 1 / 5), 12)
    0.25
    """
    before = number(prior, "prior")
    return amplification * before / (1 + (amplification - 1) * before) if amplification < np.inf else float(before > 0)


def posteriors(channel: BaseChannel, prior: Any) -> npt.NDArray[np.float64]:
    """Pr[true = i | published = j] in row j, column i, exactly, for the given prior; a row that cannot occur is NaN.

    >>> from scumble.core.channel import Channel
    >>> posteriors(Channel(0.5, size=2), [0.5, 0.5]).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    before = np.asarray(prior, dtype=np.float64)
    if before.shape != (channel.size,) or np.any(before < 0) or before.sum() <= 0:
        raise ParameterError(f"a prior needs {channel.size} non-negative weights, not all zero")
    joint = channel.matrix() * (before / before.sum())
    with np.errstate(invalid="ignore"):
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))
