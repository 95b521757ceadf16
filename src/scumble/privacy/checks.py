"""Whether channels give what a guarantee states, computed anew from them: a check for each kind of guarantee."""

import math
from collections.abc import Callable, Sequence

from scumble.core.channel import Channel, gamma_bound
from scumble.privacy.breach import breach_limit, product_limit, swapping_posterior
from scumble.privacy.guarantee import ROUNDING, Guarantee, joint_amplification, sampled_gamma
from scumble.privacy.reconstruction import keeps
from scumble.privacy.values import within

Strata = Sequence[dict[str, Channel]]
Check = Callable[[Guarantee, Strata], bool]


def _in_each(check: Callable[[dict[str, float], list[Channel]], bool]) -> Check:
    """A check that every stratum has to pass, of the parameters and the channels of the columns."""
    return lambda given, strata: all(
        check(given.parameters, [channels[name] for name in given.columns]) for channels in strata
    )


def _within(value: float, bound: float) -> bool:
    return value <= bound * (1 + ROUNDING)


def _joint(channels: list[Channel]) -> float:
    return math.prod(channel.amplification for channel in channels)


def _sampled(given: dict[str, float], channels: list[Channel]) -> float:
    return sampled_gamma(_joint(channels), given["k"])


def _own_distribution(given: dict[str, float], channels: list[Channel]) -> bool:
    rows = given.get("rows", math.inf)
    return all(swapping_posterior(channel.retain, given["rho1"], rows) < given["rho2"] for channel in channels)


def _breach(given: dict[str, float], channels: list[Channel]) -> bool:
    largest = max(float(channel.retention.max()) for channel in channels)
    return _within(given["s"], breach_limit(largest, given["rho1"], given["rho2"], len(channels)))


def _product_breach(given: dict[str, float], channels: list[Channel]) -> bool:
    limit = product_limit([float(channel.retention.max()) for channel in channels], given["rho1"], given["rho2"])
    return _within(given["s"], limit)


def _reconstruction(given: dict[str, float], channels: list[Channel]) -> bool:
    """No sample of the stated sizes has a tail below the stated delta, with the retention of the channel."""
    (channel,) = channels
    sizes = {float(key.rsplit(" ", 1)[1]): int(size) for key, size in given.items() if key.startswith("size at f <= ")}
    same = channel.retain == given["retain"] and channel.size == given["values"]
    delta = given["delta"] * (1 - ROUNDING)
    law = (float(channel.retain), channel.size, given["lambda"], delta)
    return bool(same and sizes and all(keeps(size, f, *law) for f, size in sizes.items()))


def _value_odds(given: Guarantee, strata: Strata) -> bool:
    channels = [channels[name] for channels in strata for name in given.columns]
    return within(channels, given.bounds or [], bool(given.parameters["downward"]), ROUNDING)


def _subtable_posterior(given: Guarantee, strata: Strata) -> bool:
    """The channels keep the odds that the priors in the sub-tables allow, and what that came to is not above rho2."""
    reached = _within(given.parameters["largest_posterior"], given.parameters["rho2"])
    return reached and _value_odds(given, strata)


def _membership(given: dict[str, float]) -> bool:
    """(alpha + beta) / beta is within what rho1 and rho2 allow, and all are probabilities."""
    alpha, beta = given["alpha"], given["beta"]
    bound = min(given["gamma"], gamma_bound(given["rho1"], given["rho2"]))
    return 0 < beta <= alpha + beta <= 1 + ROUNDING and _within((alpha + beta) / beta, bound)


CHECKS: dict[str, Check] = {
    "amplification": _in_each(lambda given, channels: _within(_joint(channels), given["gamma"])),
    "breach": _in_each(_breach),
    "product_breach": _in_each(_product_breach),
    "joint_amplification": _in_each(lambda given, channels: _within(joint_amplification(channels), given["gamma"])),
    "l_diversity": lambda given, strata: _within(given.parameters["largest_share"] * given.parameters["l"], 1),
    "own_distribution": _in_each(_own_distribution),
    "reconstruction": _in_each(_reconstruction),
    "rho": _in_each(lambda given, channels: _within(_joint(channels), gamma_bound(given["rho1"], given["rho2"]))),
    "sampled_amplification": _in_each(
        lambda given, channels: (
            _within(_sampled(given, channels), given["gamma"]) and _within(_joint(channels), given["channel_gamma"])
        )
    ),
    "sampled_rho": _in_each(
        lambda given, channels: _within(_sampled(given, channels), gamma_bound(given["rho1"], given["rho2"]))
    ),
    "subtable_posterior": _subtable_posterior,
    "tuple_membership": lambda given, strata: _membership(given.parameters),
    "value_odds": _value_odds,
}
"""Of the guarantees that follow from channels; those of counts are checked beside their matrices (mechanisms/checks.py)."""
