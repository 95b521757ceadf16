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
from scumble.mechanisms.facts import Facts, Terms, joint_factor, of_rows
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.checks import meets_rho
from scumble.privacy.guarantee import (
    BREACH,
    Guarantee,
    amplification_guarantee,
    breach_guarantee,
    dependence_of_domains,
    rho_guarantee,
)
from scumble.privacy.numerals import upward
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
    terms = _terms(coins, _asked(list(coins), spec.privacy, own, sharing), profile.from_data)
    return Plan(
        "uniform",
        [coins],
        terms.guarantees,
        terms.depends_on_data,
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


def derive(facts: Facts) -> Terms:
    """What follows from coins of single columns."""
    facts.demand_rows()
    facts.demand(
        facts.joint is None and facts.sampling is None,
        "coins of every row and column apart, and the manifest has others",
    )
    asked = [claim for claim in facts.asked("rho") if _meets(facts.coins, claim)]
    return _terms(
        facts.coins,
        [
            _of_columns(list(facts.coins), claim.columns, claim.parameters["rho1"], claim.parameters["rho2"])
            for claim in asked
        ],
        facts.from_data,
    )


def _meets(coins: dict[str, Coins], claim: Guarantee) -> bool:
    """Whether a pair that was asked for holds for these columns."""
    named = {name: coins[name] for name in claim.columns if name in coins}
    return len(named) == len(claim.columns) > 0 and meets_rho(joint_factor(named), claim.parameters)


def _asked(columns: list[str], shared: Target, own: dict[str, Target], sharing: list[str]) -> list[Guarantee]:
    """What the publisher asked for by rho1 and rho2."""
    targets = [(sharing, shared), *(([name], target) for name, target in own.items())]
    return [
        _of_columns(columns, named, number(target.rho1, "rho1"), number(target.rho2, "rho2"))
        for named, target in targets
        if named and target.rho1 is not None
    ]


def _of_columns(columns: list[str], named: list[str], rho1: float, rho2: float) -> Guarantee:
    return rho_guarantee(named, rho1, rho2, alone=set(named) != set(columns))


def _terms(coins: dict[str, Coins], asked: list[Guarantee], from_data: list[str]) -> Terms:
    """The pairs that were asked for, the factor of the whole row, and breaches of the one pair that was named, if it is one; else of a usual one."""
    gamma = joint_factor(coins)
    named = {(claim.parameters["rho1"], claim.parameters["rho2"]) for claim in asked}
    rho1, rho2 = named.pop() if len(named) == 1 else BREACH
    retentions = {name: float(each.thresholds.max()) / 2**each.bits for name, each in coins.items()}
    breach = breach_guarantee(retentions, upward(gamma), rho1, rho2)
    found = [*asked, amplification_guarantee(list(coins), gamma), *([breach] if breach is not None else [])]
    return of_rows(found, dependence_of_domains(from_data))
