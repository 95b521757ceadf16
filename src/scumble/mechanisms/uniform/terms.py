"""What uniform perturbation promises: made by the plan, and derived again from a manifest by whoever opens a release."""

from scumble.core.coins import Coins
from scumble.mechanisms.facts import Facts, Terms, joint_factor, of_rows
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


def derive(facts: Facts) -> Terms:
    """What follows from coins of single columns."""
    facts.demand_rows()
    facts.demand(
        facts.joint is None and facts.sampling is None,
        "coins of every row and column apart, and the manifest has others",
    )
    asked = [claim for claim in facts.asked("rho") if _meets(facts.coins, claim)]
    return terms_of(
        facts.coins,
        [
            of_columns(list(facts.coins), claim.columns, claim.parameters["rho1"], claim.parameters["rho2"])
            for claim in asked
        ],
        facts.from_data,
    )


def _meets(coins: dict[str, Coins], claim: Guarantee) -> bool:
    """Whether a pair that was asked for holds for these columns."""
    named = {name: coins[name] for name in claim.columns if name in coins}
    return len(named) == len(claim.columns) > 0 and meets_rho(joint_factor(named), claim.parameters)


def of_columns(columns: list[str], named: list[str], rho1: float, rho2: float) -> Guarantee:
    """A pair that was asked for some of the perturbed columns."""
    return rho_guarantee(named, rho1, rho2, alone=set(named) != set(columns))


def terms_of(coins: dict[str, Coins], asked: list[Guarantee], from_data: list[str]) -> Terms:
    """The pairs that were asked for, the factor of the whole row, and breaches of the one pair that was named, if it is one; else of a usual one."""
    gamma = joint_factor(coins)
    named = {(claim.parameters["rho1"], claim.parameters["rho2"]) for claim in asked}
    rho1, rho2 = named.pop() if len(named) == 1 else BREACH
    retentions = {name: float(coin.thresholds.max()) / 2**coin.bits for name, coin in coins.items()}
    breach = breach_guarantee(retentions, upward(gamma), rho1, rho2)
    guarantees = [*asked, amplification_guarantee(list(coins), gamma), *([breach] if breach is not None else [])]
    return of_rows(guarantees, dependence_of_domains(from_data))
