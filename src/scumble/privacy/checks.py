"""Whether coins give what a publisher asked of them: of numbers that no manifest can derive, because somebody chose them, it is checked that they hold."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from scumble.core.channel import Channel, gamma_bound
from scumble.core.errors import ParameterError
from scumble.privacy.breach import swapping_posterior
from scumble.privacy.guarantee import ROUNDING
from scumble.privacy.values import Bounds, within

SLACK = 1 + Fraction(ROUNDING)

Parameters = Mapping[str, float]


def meets_rho(gamma: Fraction, given: Parameters) -> bool:
    """Whether odds that change by at most gamma keep every belief up to rho1 within rho2."""
    try:
        return gamma <= Fraction(gamma_bound(given.get("rho1"), given.get("rho2"))) * SLACK
    except ParameterError:
        return False


def meets_own_distribution(retain: float, given: Parameters, rows: float = math.inf) -> bool:
    """Whether replacement by the column's own values keeps a belief of rho1 below rho2."""
    low, high = given.get("rho1", 0), given.get("rho2", 0)
    return 0 < low < high < 1 and swapping_posterior(retain, low, rows) < high


def meets_bounds(channels: Sequence[Channel], bounds: Bounds | None, downward: float) -> bool:
    """Whether no odds rise by more than the values' own factors (nor fall, where that is asked), in any sub-table."""
    return within(channels, bounds or [], bool(downward), ROUNDING)


def meets_posterior(given: Parameters) -> bool:
    """Whether the largest belief that the publisher computed from the table's frequencies is one, and not above rho2."""
    low, high, reached = (given.get(name, math.nan) for name in ("rho1", "rho2", "largest_posterior"))
    return 0 < low <= 1 and 0 < high < 1 and 0 <= reached <= high * (1 + ROUNDING)


def meets_theta(bounds: Bounds | None, theta: float) -> bool:
    """Whether factors can be those of a tolerance: gamma = theta (1 - f) / (1 - theta f) gives each value's frequency f, and all come to no more than 1."""
    if not theta > 1:
        return False
    own = [bound for row in bounds or [] for bound in row]
    shares = [(gamma - theta) / (theta * (gamma - 1)) for gamma in own if gamma is not None and gamma > 1]
    return sum(shares) <= 1 + 1e-6 and min(shares, default=0) >= -ROUNDING
