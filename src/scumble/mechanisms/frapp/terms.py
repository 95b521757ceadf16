"""What FRAPP promises: made by the plan, and derived again from a manifest by whoever opens a release."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scumble.core.coins import Coins
from scumble.core.errors import ParameterError
from scumble.mechanisms.facts import Facts, Terms, of_rows
from scumble.privacy.guarantee import amplification_guarantee, dependence_of_domains

LARGEST = 1 << 31


def derive(facts: Facts) -> Terms:
    """What follows from coins that keep or replace all perturbed columns together."""
    facts.demand_rows()
    coins = facts.coins
    facts.demand(facts.joint == list(coins), "columns that are replaced together, and the manifest has others")
    first, *others = coins.values()
    alike = all(other.bits == first.bits and [*other.thresholds] == [*first.thresholds] for other in others)
    whole = replace(first, size=combinations([coin.size for coin in coins.values()]))
    threshold = int(first.thresholds[0])
    exact = len(first.thresholds) == 1 and (threshold == 0 or (2**first.bits - threshold) % whole.size == 0)
    facts.demand(alike and exact, "one retention for all columns, and the manifest has several")
    return terms_of(list(coins), whole, facts.from_data)


def terms_of(columns: list[str], whole: Coins, from_data: list[str]) -> Terms:
    """The odds of anything about the columns together, which have these coins as one."""
    return of_rows(
        [amplification_guarantee(columns, whole.amplification, "joint_amplification")],
        dependence_of_domains(from_data),
    )


def combinations(sizes: Sequence[int]) -> int:
    """How many combinations there are of the values of several columns."""
    total = int(np.prod(np.array(sizes, dtype=object)))
    if total >= LARGEST:
        raise ParameterError(f"the cross product has {total:,} combinations; at most {LARGEST:,} are supported")
    return total
