"""Uniform perturbation: one retention for all values of a column, replacements uniform on its domain.

A target that is given for the table is shared by its k sensitive columns, each at the k-th root of gamma. Columns may be
correlated as much as they like (one a function of the other, say): coins are independent, so the likelihood ratio of the
whole row is the product of the columns' and stays within gamma. A column with a target of its own is outside the share;
the guarantee of the whole row is then computed from all channels and says what it comes to.
"""

import math

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.errors import SchemaError
from scumble.core.parameters import number, plain
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.guarantee import (
    BREACH,
    Guarantee,
    amplification,
    amplification_guarantee,
    breach_guarantee,
    dependence_of_domains,
    rho_guarantee,
)
from scumble.spec.spec import NoSettings, Spec, Target

AS_IT_IS = 1e-6
"""A probability to be perturbed below which a column is as good as published as it is; coins never keep with quite 1."""
UNPROTECTED = 1000
"""The factor from which on the publisher is warned."""


def plan(profile: Profile, spec: Spec) -> Plan:
    """One channel for each sensitive column."""
    spec.settings_as(NoSettings)
    own = {name: target for name in profile.domains if (target := spec.columns[name].privacy) is not None}
    sharing = [name for name in profile.domains if name not in own]
    coins = {
        name: _coins(name, domain.size, own.get(name, spec.privacy), 1 if name in own else len(sharing))
        for name, domain in profile.domains.items()
    }
    return Plan(
        "uniform",
        [coins],
        _guarantees(coins, spec.privacy, own, sharing),
        dependence_of_domains(profile.from_data),
        warnings=[text for name, each in coins.items() if (text := _extreme(name, each.channel()))],
    )


def _extreme(name: str, channel: Channel) -> str | None:
    if channel.retain == 0:
        return f"nothing of {name!r} will be published: its retention is 0, so no question about it can be answered"
    if channel.retain > 1 - AS_IT_IS:
        return f"nothing of {name!r} will be perturbed: its retention is 1, so every true value is published as it is"
    if channel.amplification > UNPROTECTED:
        factor = plain(channel.amplification, 3)
        return f"{name!r} is hardly protected: a published value makes the true one {factor} times as likely as another"
    return None


def _coins(name: str, size: int, target: Target, share: int) -> Coins:
    if size < 2:
        raise SchemaError(f"the domain of {name!r} has {size} value(s); a sensitive column needs at least 2")
    return Coins.of(target.channel(size, share))


def _guarantees(coins: dict[str, Coins], shared: Target, own: dict[str, Target], sharing: list[str]) -> list[Guarantee]:
    channels = {name: each.channel() for name, each in coins.items()}
    found = []
    if shared.rho1 is not None and sharing:
        together = {name: channels[name] for name in sharing}
        found.append(rho_guarantee(together, number(shared.rho1, "rho1"), number(shared.rho2, "rho2"), alone=bool(own)))
    for name, target in own.items():
        if target.rho1 is not None:
            found.append(
                rho_guarantee(
                    {name: channels[name]},
                    number(target.rho1, "rho1"),
                    number(target.rho2, "rho2"),
                    alone=len(channels) > 1,
                )
            )
    if not math.isinf(amplification(channels)):
        found.append(amplification_guarantee(channels))
        found.extend(filter(None, [breach_guarantee(channels, *_beliefs(shared, own))]))
    return found


def _beliefs(shared: Target, own: dict[str, Target]) -> tuple[float, float]:
    """The (rho1, rho2) that the publisher named, if one pair; else a usual one."""
    named = {(target.rho1, target.rho2) for target in [shared, *own.values()] if target.rho1 is not None}
    if len(named) != 1:
        return BREACH
    ((rho1, rho2),) = named
    return number(rho1, "rho1"), number(rho2, "rho2")
