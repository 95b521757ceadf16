"""What replacement by a column's own values promises: made by the plan, and derived again from a manifest by whoever opens a release."""

import math

from scumble.core.coins import Coins
from scumble.mechanisms.facts import Facts, Terms
from scumble.privacy.checks import meets_own_distribution
from scumble.privacy.guarantee import NOT_COVERED, Clause, Guarantee, clauses, dependence_of_domains


def derive(facts: Facts) -> Terms:
    """What follows from replacement by the column's own values: the pairs that were asked for, where they hold."""
    facts.demand_rows(own=True)
    rows = float(facts.rows) if facts.mechanism == "swapped" else math.inf
    guarantees = []
    for claim in facts.asked("own_distribution"):
        coins = facts.coins.get(claim.columns[0]) if len(claim.columns) == 1 else None
        if coins is not None and meets_own_distribution(coins.retention, claim.parameters, rows):
            low, high = claim.parameters["rho1"], claim.parameters["rho2"]
            guarantees.append(own_guarantee(claim.columns[0], coins, low, high, rows))
    return terms_of(facts.mechanism, list(facts.coins), guarantees, facts.from_data)


def terms_of(mechanism: str, columns: list[str], guarantees: list[Guarantee], from_data: list[str]) -> Terms:
    """The pairs that hold, and what rare values and exact counts leave open."""
    swapped = mechanism == "swapped"
    code = "counts_told" if swapped else "replacements_follow"
    tells = [Clause(code=code, parameters={"column": name}) for name in columns]
    beyond = clauses("rare_values", *(["corruption"] if swapped else []))
    return Terms(guarantees, [*NOT_COVERED, *beyond], [*dependence_of_domains(from_data), *tells])


def own_guarantee(name: str, coins: Coins, rho1: float, rho2: float, rows: float) -> Guarantee:
    """A pair of one column, whose replacements follow its own distribution; `rows` is finite where they are permuted."""
    parameters = {"rho1": rho1, "rho2": rho2, "retain": coins.retention}
    return Guarantee(
        kind="own_distribution",
        columns=[name],
        parameters=parameters if math.isinf(rows) else {**parameters, "rows": rows},
        conditions=clauses("one_row", "fresh_coins", "believes_own_distribution", "not_which_value", "alone_in_row"),
    )
