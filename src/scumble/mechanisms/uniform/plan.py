"""Uniform perturbation: one retention for all values of a column, replacements uniform on its domain.

A target that is given for the table is shared by its k sensitive columns, each at the k-th root of gamma. Columns may be
correlated as much as they like (one a function of the other, say): coins are independent, so the likelihood ratio of the
whole row is the product of the columns' and stays within gamma. A column with a target of its own is outside the share;
the guarantee of the whole row is then computed from all channels and says what it comes to.
"""

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.errors import SchemaError
from scumble.core.parameters import number, plain
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.uniform.terms import of_columns, terms_of
from scumble.privacy.guarantee import Guarantee
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
    terms = terms_of(coins, _asked(list(coins), spec.privacy, own, sharing), profile.from_data)
    return Plan(
        "uniform",
        [coins],
        terms.guarantees,
        terms.depends_on_data,
        warnings=[text for name, coin in coins.items() if (text := _extreme(name, coin.channel()))],
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


def _asked(columns: list[str], shared: Target, own: dict[str, Target], sharing: list[str]) -> list[Guarantee]:
    """What the publisher asked for by rho1 and rho2."""
    targets = [(sharing, shared), *(([name], target) for name, target in own.items())]
    return [
        of_columns(columns, named, number(target.rho1, "rho1"), number(target.rho2, "rho2"))
        for named, target in targets
        if named and target.rho1 is not None
    ]
