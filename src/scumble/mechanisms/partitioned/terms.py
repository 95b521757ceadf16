"""What sub-tables promise: made by the plan, and derived again from a manifest by whoever opens a release."""

from scumble.core.coins import Coins
from scumble.mechanisms.facts import Facts, Terms
from scumble.privacy.checks import meets_bounds, meets_posterior
from scumble.privacy.guarantee import NOT_COVERED, Clause, Guarantee, clauses, dependence_of_domains

CONDITIONS = clauses("one_row", "once_by_subtables", "believes_frequencies", "not_others_subtables")

BEYOND = clauses("other_beliefs", "impossible_outside", "unnamed_properties")


def derive(facts: Facts) -> Terms:
    """What follows from sub-tables: the bounds that were asked for, where their channels keep them."""
    facts.demand_rows()
    names = facts.named("sensitive")
    one = len(names) == 1 and len(facts.named("stratum")) == 1
    facts.demand(one, "one perturbed column and one that names the sub-table, and the manifest has not")
    channels = [stratum[names[0]] for stratum in facts.channels]
    guarantees = [
        posterior_guarantee(names[0], {n: v for n, v in claim.parameters.items() if n in CHOSEN}, claim.bounds or [])
        for claim in facts.asked("subtable_posterior")
        if meets_posterior(claim.parameters) and meets_bounds(channels, claim.bounds, 0)
    ]
    facts.demand(len(guarantees) == 1, "a largest posterior that its channels keep, and the manifest claims another")
    return terms_of(names[0], facts.replacing, guarantees, facts.from_data, facts.says("rho1_tells"))


CHOSEN = ("rho1", "rho2", "largest_posterior", "downward", "protected", "sets")
"""The numbers that come from the publisher, or from the table."""


def posterior_guarantee(name: str, parameters: dict[str, float], bounds: list[list[float | None]]) -> Guarantee:
    """The largest posterior within sub-tables, and the factors on the odds that keep it."""
    upward = parameters | {"downward": 0.0}
    return Guarantee(kind="subtable_posterior", columns=[name], parameters=upward, conditions=CONDITIONS, bounds=bounds)


def terms_of(
    name: str, strata: list[dict[str, Coins]], guarantees: list[Guarantee], from_data: list[str], rho1: bool
) -> Terms:
    """The terms; `rho1` says whether that is the largest frequency of the table."""
    tells = [Clause(code="subtables_tell", parameters={"column": name})]
    tells += clauses("shares_tell") if any(len(coin.thresholds) > 1 for coin in (s[name] for s in strata)) else []
    tells += clauses("rho1_tells") if rho1 else []
    return Terms(guarantees, [*NOT_COVERED, *BEYOND], [*dependence_of_domains(from_data), *tells])
