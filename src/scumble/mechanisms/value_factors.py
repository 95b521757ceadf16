"""What mechanisms promise whose values have factors of their own: made by the plan, and derived again from a manifest by whoever opens a release.

    posterior odds of value i <= g_i * prior odds of value i,        whatever was published

Where a largest belief rho2 stands beside the factors, g_i is what the share s_i of value i allows: whoever believed it with at most
s_i = rho2 / (rho2 + g_i (1 - rho2)) believes it with at most rho2.
"""

from collections.abc import Mapping
from typing import NamedTuple

from scumble.core.coins import Coins
from scumble.mechanisms.facts import Facts, Terms, joint_factor
from scumble.privacy.checks import meets_bounds, meets_theta
from scumble.privacy.guarantee import (
    CONDITIONS,
    NOT_COVERED,
    Clause,
    Guarantee,
    amplification_guarantee,
    clauses,
    dependence_of_domains,
)
from scumble.privacy.numerals import upward

MEANINGFUL = 1e4
"""A factor on the odds above which nothing is promised: a value without protection is retained nearly always."""

FROM_COUNTS = clauses("one_row", "once_by_counts", "not_all_others")
"""The conditions where coins follow the table's counts."""


class Own(NamedTuple):
    """What was asked for single values of a column: their factors, and the numbers beside them."""

    bounds: list[float | None]
    parameters: dict[str, float]

    @property
    def from_counts(self) -> bool:
        """Whether coins follow the table's counts."""
        return "largest_posterior" in self.parameters


CHOSEN = ("downward", "theta", "rho2", "largest_posterior", "smallest_posterior")
"""The numbers beside a value's factors that come from the publisher, or from the table."""


def claimed(facts: Facts) -> dict[str, Own]:
    """The factors of each perturbed column that a manifest claims, where its coins keep them."""
    facts.demand(
        facts.joint is None and facts.sampling is None,
        "coins of every row and column apart, and the manifest has others",
    )
    asked = {claim.columns[0]: claim for claim in facts.asked("value_odds") if len(claim.columns) == 1}
    facts.demand(
        set(asked) == set(facts.coins), "a factor for each value of each perturbed column, and the manifest names none"
    )
    own = {name: _chosen(asked[name]) for name in facts.coins}
    return {name: column for name, column in own.items() if _meets(facts.coins[name], column)}


def _chosen(claim: Guarantee) -> Own:
    (bounds,) = claim.bounds or [[]]
    return Own(bounds, {name: claim.parameters[name] for name in CHOSEN if name in claim.parameters})


def _meets(coins: Coins, own: Own) -> bool:
    given = own.parameters
    low, high = given.get("smallest_posterior", 0), given.get("largest_posterior", 1)
    possible = "theta" not in given or (own.from_counts and meets_theta([own.bounds], given["theta"]))
    believed = "rho2" not in given or 0 < given["rho2"] < 1
    return (
        possible
        and believed
        and 0 <= low <= high <= 1
        and meets_bounds([coins.channel()], [own.bounds], given.get("downward", 0))
    )


def terms_of(
    coins: Mapping[str, Coins], own: Mapping[str, Own], from_data: list[str], tells: str = "retentions_tell"
) -> Terms:
    """The factors of single values, and that of anything about the row where it means something.

    tells   the code of what coins tell that follow the table's counts
    """
    gamma = joint_factor(coins)
    bounded = gamma < MEANINGFUL
    counted = any(column.from_counts for column in own.values())
    conditions = FROM_COUNTS if counted else CONDITIONS
    beside = [*conditions, *(clauses("alone") if len(coins) > 1 else [])]
    beyond = {"anything": upward(gamma)} if bounded else {}
    terms = [
        Guarantee(
            kind="value_odds",
            columns=[name],
            parameters=column.parameters | beyond,
            conditions=beside,
            bounds=[column.bounds],
        )
        for name, column in own.items()
    ]
    if bounded:
        terms.append(amplification_guarantee(list(coins), gamma).model_copy(update={"conditions": conditions}))
    upward_only = not all(column.parameters.get("downward") for column in own.values())
    not_covered = [*NOT_COVERED, *clauses("sets", *(["downward"] if upward_only else []))]
    return Terms(terms, not_covered, [*dependence_of_domains(from_data), *_dependence(own, tells)])


def _dependence(own: Mapping[str, Own], tells: str) -> list[Clause]:
    pairs = [(("factors_tell", "theta" in column.parameters), (tells, column.from_counts)) for column in own.values()]
    return [
        Clause(code=code, parameters={"column": name})
        for name, codes in zip(own, pairs, strict=True)
        for code, true in codes
        if true
    ]
