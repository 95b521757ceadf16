"""What perturbed generalization promises: made by the plan, and derived again from a manifest by whoever opens a release."""

from scumble.core.coins import Coins
from scumble.forms.boxes.record import BoxesRecord
from scumble.mechanisms.facts import Facts, Terms
from scumble.privacy.checks import meets_rho
from scumble.privacy.guarantee import (
    NOT_COVERED,
    clauses,
    dependence_of_domains,
    sampled_amplification,
    sampled_gamma,
    sampled_rho,
)


def derive(facts: Facts) -> Terms:
    """What follows from the channel and from the draw of one row in k or more."""
    record, coins = facts.form_as(BoxesRecord), facts.coins
    facts.demand(
        len(coins) == 1 and record.k > 1,
        "one perturbed column and groups of 2 or more, and the manifest has not",
    )
    ((name, coin),) = coins.items()
    facts.demand(not coin.own, "all values alike as replacements, and the manifest has others")
    gamma = sampled_gamma(coin.amplification, record.k)
    asked = [c.parameters for c in facts.asked("sampled_rho") if meets_rho(gamma, c.parameters)]
    return terms_of(name, coin, record.k, [(given["rho1"], given["rho2"]) for given in asked], facts.from_data)


def terms_of(name: str, coins: Coins, k: int, asked: list[tuple[float, float]], from_data: list[str]) -> Terms:
    """The pairs that were asked for and the factor, both with the draw of one row in k or more."""
    return Terms(
        [*(sampled_rho(name, *pair, k) for pair in asked), sampled_amplification(name, coins.amplification, k)],
        [*clauses("extremes"), *NOT_COVERED[1:]],
        [*dependence_of_domains(from_data), *clauses("boxes_follow")],
    )
