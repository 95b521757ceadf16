"""Columns that share a target, each by coins of its own: what mechanisms uniform, design and others of that kind plan and promise alike.

A target that is given for the table is shared by its k sensitive columns, each at the k-th root of gamma. Columns may be
correlated as much as they like (one a function of the other, say): coins are independent, so the likelihood ratio of the
whole row is the product of the columns' and stays within gamma. A column with a target of its own is outside the share;
the guarantee of the whole row is then computed from all channels and says what it comes to.
"""

from collections.abc import Mapping

from scumble.core.coins import BaseCoins, Coins
from scumble.core.parameters import number
from scumble.mechanisms.facts import Facts, Terms, joint_factor, of_rows
from scumble.mechanisms.plan import Profile
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
from scumble.spec.spec import Spec, Target

UNPROTECTED = 1000
"""The factor from which on the publisher is warned."""


def shares(profile: Profile, spec: Spec) -> dict[str, tuple[Target, int]]:
    """The target of each sensitive column, and how many share it."""
    own = {name: target for name in profile.domains if (target := spec.columns[name].privacy) is not None}
    sharing = len(profile.domains) - len(own)
    return {name: (own[name], 1) if name in own else (spec.privacy, sharing) for name in profile.domains}


def asked_pairs(columns: list[str], profile: Profile, spec: Spec) -> list[Guarantee]:
    """What the publisher asked for by rho1 and rho2."""
    own = {name: target for name in profile.domains if (target := spec.columns[name].privacy) is not None}
    sharing = [name for name in profile.domains if name not in own]
    targets = [(sharing, spec.privacy), *(([name], target) for name, target in own.items())]
    return [
        of_columns(columns, named, number(target.rho1, "rho1"), number(target.rho2, "rho2"))
        for named, target in targets
        if named and target.rho1 is not None
    ]


def claimed_pairs(facts: Facts, coins: Mapping[str, BaseCoins]) -> list[Guarantee]:
    """The pairs that a manifest claims, where they hold."""
    return [
        of_columns(list(coins), claim.columns, claim.parameters["rho1"], claim.parameters["rho2"])
        for claim in facts.asked("rho")
        if _meets(coins, claim)
    ]


def _meets(coins: Mapping[str, BaseCoins], claim: Guarantee) -> bool:
    """Whether a pair that was asked for holds for these columns."""
    named = {name: coins[name] for name in claim.columns if name in coins}
    return len(named) == len(claim.columns) > 0 and meets_rho(joint_factor(named), claim.parameters)


def of_columns(columns: list[str], named: list[str], rho1: float, rho2: float) -> Guarantee:
    """A pair that was asked for some of the perturbed columns."""
    return rho_guarantee(named, rho1, rho2, alone=set(named) != set(columns))


def terms_of(coins: Mapping[str, BaseCoins], asked: list[Guarantee], from_data: list[str]) -> Terms:
    """The pairs that were asked for, the factor of the whole row, and breaches of the one pair that was named, if it is one; else of a usual one.

    Breaches are of values that are seen; where codes are published there are none.
    """
    gamma = joint_factor(coins)
    named = {(claim.parameters["rho1"], claim.parameters["rho2"]) for claim in asked}
    rho1, rho2 = named.pop() if len(named) == 1 else BREACH
    retentions = {name: float(coin.kept.max()) for name, coin in coins.items() if isinstance(coin, Coins)}
    seen = len(retentions) == len(coins)
    breach = breach_guarantee(retentions, upward(gamma), rho1, rho2) if seen else None
    guarantees = [*asked, amplification_guarantee(list(coins), gamma), *([breach] if breach is not None else [])]
    return of_rows(guarantees, dependence_of_domains(from_data))
