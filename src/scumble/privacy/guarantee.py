"""A guarantee: a statement that was proved, with its parameters and the conditions under which it holds."""

import math
from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict

from scumble.channel import Channel, gamma_bound
from scumble.errors import InternalError
from scumble.privacy.breach import breach_limit, identity_safe
from scumble.privacy.values import within


class Guarantee(BaseModel):
    """What holds, for which columns, with which numbers, and when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    columns: list[str]
    statement: str
    parameters: dict[str, float]
    conditions: list[str]
    bounds: list[list[float | None]] | None = None
    """Where values or sub-tables have bounds of their own: for each stratum a factor for each value, or one for all."""

    def holds(self, strata: Sequence[dict[str, Channel]]) -> bool:
        """Whether the channels, in every stratum, give what is stated, computed anew from them."""
        if self.kind in BOUNDED:
            return BOUNDED[self.kind](self, strata)
        if self.kind not in CHECKS:
            raise InternalError(f"no check is known for a guarantee of kind {self.kind!r}")
        check = CHECKS[self.kind]
        return all(check(self.parameters, [channels[name] for name in self.columns]) for channels in strata)


ROUNDING = 1e-9
"""Relative slack of a check: it is computed in floating point, the coins are not."""

CONDITIONS = [
    "Each person is one row of the table.",
    "The same person is not published again with fresh coins; repeated publication uses a key.",
    "The attacker may know the manifest, the public columns, the coins' probabilities and every other row.",
]

NOT_COVERED = [
    "Singling out: public columns are published as they are, so a row can be recognised by them.",
    "Presence: whoever recognises a row knows that the person is in the table.",
    "What holds for a group: statistics are meant to be learnt, and may tell about members of the group.",
]


def amplification(channels: dict[str, Channel]) -> float:
    """The amplification of all columns together: coins are independent, so the factors multiply."""
    return math.prod(channel.amplification for channel in channels.values())


def amplification_guarantee(channels: dict[str, Channel]) -> Guarantee:
    """What the channels give jointly, whatever the columns' correlation."""
    gamma = amplification(channels)
    if math.isinf(gamma):
        raise InternalError("an unbounded amplification guarantees nothing")
    columns = " and ".join(channels)
    return Guarantee(
        kind="amplification",
        columns=list(channels),
        statement=f"Seeing a published row changes the odds of anything about the row's {columns} by a factor of at most {gamma:.6g} "
        f"(local differential privacy with epsilon = {math.log(gamma):.6g}).",
        parameters={"gamma": gamma, "epsilon": math.log(gamma)},
        conditions=CONDITIONS,
    )


def rho_guarantee(channels: dict[str, Channel], rho1: float, rho2: float) -> Guarantee:
    """No prior up to rho1 becomes a posterior above rho2, nor the reverse."""
    columns = " and ".join(channels)
    return Guarantee(
        kind="rho",
        columns=list(channels),
        statement=f"Whatever about the row's {columns} was believed with probability at most {rho1:.6g} is believed with at most {rho2:.6g} "
        f"after seeing the row; and what was believed with more than {rho2:.6g} is still believed with at least {rho1:.6g}.",
        parameters={"rho1": rho1, "rho2": rho2},
        conditions=CONDITIONS,
    )


BREACH = (0.1, 0.95)
"""The (rho1, rho2) of the breach guarantee where the publisher gave none: unlikely before, nearly certain after."""


def breach_guarantee(channels: dict[str, Channel], rho1: float, rho2: float) -> Guarantee:
    """Which rare properties stay unlikely where a row is seen to have them."""
    largest = max(float(channel.retention.max()) for channel in channels.values())
    s = breach_limit(largest, rho1, rho2, len(channels))
    columns = " and ".join(channels)
    return Guarantee(
        kind="breach",
        columns=list(channels),
        statement=f"A property of the row's {columns} that was at most {s:.4g} times as likely as its share of the replacements, and believed "
        f"with at most {rho1:.6g}, is believed with less than {rho2:.6g} after seeing that the published row has it.",
        parameters={"s": s, "rho1": rho1, "rho2": rho2},
        conditions=[
            *CONDITIONS,
            "The (s, rho1, rho2) notion uses that the published row has the property, not its exact value; the factor above holds for that too.",
        ],
    )


def _joint(channels: list[Channel]) -> float:
    return math.prod(channel.amplification for channel in channels)


def dependence_of_domains(from_data: list[str]) -> list[str]:
    """What a domain that was taken from the data tells."""
    return [
        f"The domain of {name!r} was taken from the data: each of its values was somebody's, and no other value occurred."
        for name in from_data
    ]


def _own_distribution(given: dict[str, float], channels: list[Channel]) -> bool:
    return all(identity_safe(channel.retain, given["rho1"], given["rho2"]) for channel in channels)


def _breach(given: dict[str, float], channels: list[Channel]) -> bool:
    largest = max(float(channel.retention.max()) for channel in channels)
    return given["s"] <= breach_limit(largest, given["rho1"], given["rho2"], len(channels)) * (1 + ROUNDING)


def _reconstruction(given: dict[str, float], channels: list[Channel]) -> bool:
    """No sample of the stated sizes has a tail below the stated delta, with the retention of the channel."""
    from scumble.privacy.reconstruction import keeps

    (channel,) = channels
    sizes = {float(key.rsplit(" ", 1)[1]): int(size) for key, size in given.items() if key.startswith("size at f <= ")}
    same = channel.retain == given["retain"] and channel.size == given["values"]
    delta = given["delta"] * (1 - ROUNDING)
    law = (float(channel.retain), channel.size, given["lambda"], delta)
    return bool(same and sizes and all(keeps(size, f, *law) for f, size in sizes.items()))


CHECKS: dict[str, Callable[[dict[str, float], list[Channel]], bool]] = {
    "reconstruction": _reconstruction,
    "amplification": lambda given, channels: _joint(channels) <= given["gamma"] * (1 + ROUNDING),
    "own_distribution": _own_distribution,
    "breach": _breach,
    "rho": lambda given, channels: _joint(channels) <= gamma_bound(given["rho1"], given["rho2"]) * (1 + ROUNDING),
}


def _value_odds(given: Guarantee, strata: Sequence[dict[str, Channel]]) -> bool:
    channels = [channels[name] for channels in strata for name in given.columns]
    return within(channels, given.bounds or [], bool(given.parameters["downward"]), ROUNDING)


def _subtable_posterior(given: Guarantee, strata: Sequence[dict[str, Channel]]) -> bool:
    """The channels keep the odds that the priors in the sub-tables allow, and what that came to is not above rho2."""
    reached = given.parameters["largest_posterior"] <= given.parameters["rho2"] * (1 + ROUNDING)
    return reached and _value_odds(given, strata)


BOUNDED: dict[str, Callable[[Guarantee, Sequence[dict[str, Channel]]], bool]] = {
    "value_odds": _value_odds,
    "subtable_posterior": _subtable_posterior,
}
"""Checks against bounds of single values or sub-tables, which look at all strata."""
