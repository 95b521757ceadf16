"""Uniform perturbation: one retention for all values of a column, replacements uniform on its domain.

Columns share a target as mechanisms/sharing.py says.
"""

from scumble.core.channel import Channel, replacement_of
from scumble.core.coins import Coins
from scumble.core.errors import SchemaError
from scumble.core.parameters import plain
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.sharing import UNPROTECTED, asked_pairs, shares, terms_of
from scumble.spec.spec import NoSettings, Spec, Target

AS_IT_IS = 1e-6
"""A probability to be perturbed below which a column is as good as published as it is; coins never keep with quite 1."""


def plan(profile: Profile, spec: Spec) -> Plan:
    """One channel for each sensitive column."""
    spec.settings_as(NoSettings)
    coins = {
        name: _coins(name, profile.domains[name].size, target, share)
        for name, (target, share) in shares(profile, spec).items()
    }
    terms = terms_of(coins, asked_pairs(list(coins), profile, spec), profile.from_data)
    return Plan(
        "uniform",
        [coins],
        terms.guarantees,
        terms.depends_on_data,
        warnings=[text for name, coin in coins.items() if (text := _extreme(name, replacement_of(coin.channel())))],
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
