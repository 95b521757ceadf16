"""The sentences of what is promised of a row, or of all rows of a person: factors on odds, and beliefs that do not pass a bound."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from scumble.core.parameters import plain
from scumble.privacy.numerals import as_given, at_most

if TYPE_CHECKING:
    from scumble.privacy.guarantee import Guarantee

Statements = dict[str, Callable[["Guarantee"], str]]
"""What makes the sentence of each kind of guarantee."""


def named(guarantee: "Guarantee") -> str:
    """The columns that a guarantee is about."""
    return " and ".join(guarantee.columns)


def beliefs(g: "Guarantee") -> tuple[str, str]:
    """What is believed before, and what after, at most."""
    return as_given(g.parameters["rho1"]), as_given(g.parameters["rho2"])


def _amplification(g: "Guarantee") -> str:
    gamma, columns = g.parameters["gamma"], named(g)
    return (
        f"Seeing the published {columns} of a row changes the odds of anything about the true {columns} by a factor of at most {at_most(gamma)} "
        f"(local differential privacy with epsilon = {at_most(math.log(gamma))}), beyond what the public columns tell."
    )


def _sampled_amplification(g: "Guarantee") -> str:
    given = g.parameters
    return (
        f"Seeing the release changes the odds of anything about a person's true {named(g)} by a factor of at most {at_most(given['gamma'])} (epsilon = "
        f"{at_most(math.log(given['gamma']))}), beyond what the public columns tell, for whoever holds what is believed of a person apart from what is believed of "
        f"others: a published value is a perturbed one, of one row in {given['k']:g} or more. Of a group that is known to have one value the odds change by up to "
        f"{at_most(given['channel_gamma'])}."
    )


def _sampled_rho(g: "Guarantee") -> str:
    low, high = beliefs(g)
    return (
        f"Whatever about a person's {named(g)} was believed with probability at most {low}, apart from what was believed of others, is believed with at most "
        f"{high} after seeing the release; and what was believed with more than {high} is still believed with at least {low}."
    )


def _rho(g: "Guarantee") -> str:
    low, high = beliefs(g)
    seeing = f"the published {named(g)}" + (" alone" if g.under("alone") else "")
    return (
        f"Whatever about the row's {named(g)} was believed with probability at most {low} is believed with at most {high} "
        f"after seeing {seeing}; and what was believed with more than {high} is still believed with at least {low}."
    )


def _breach(g: "Guarantee") -> str:
    low, high = beliefs(g)
    several = " (a set of values of each of them, such as a range)" if g.kind == "product_breach" else ""
    limit = math.floor(1000 * g.parameters["s"]) / 1000
    return (
        f"A property of the row's {named(g)}{several} that was at most {plain(limit)} times as likely as its share of the replacements, and believed "
        f"with at most {low}, is believed with less than {high} after seeing that the published row has it.{_stronger(g)}"
    )


def _stronger(g: "Guarantee") -> str:
    """Whether a breach guarantee says more than the factor does."""
    by_factor, rho2 = g.parameters.get("by_factor"), g.parameters["rho2"]
    if by_factor is None:
        return ""
    if by_factor <= rho2 * (1 + 1e-9):
        reached = as_given(rho2) if math.isclose(by_factor, rho2, rel_tol=1e-5) else at_most(by_factor)
        return f" The factor above is the stronger promise: by it such a belief becomes at most {reached}, whatever the property."
    return f" For such a property this is the stronger promise: by the factor above alone the belief could become {at_most(by_factor)}."


def _own_distribution(g: "Guarantee") -> str:
    low, high = beliefs(g)
    return (
        f"For whoever believes the table's own frequencies, a property of the row's {named(g)} that was believed with probability at most {low} is believed "
        f"with less than {high} after seeing that the published {named(g)} has it."
    )


def _value_odds(g: "Guarantee") -> str:
    return f"{_rises(g)}. {_binds(g)}"


def _rises(g: "Guarantee") -> str:
    both, theta = bool(g.parameters["downward"]), g.parameters.get("theta")
    if theta is not None:
        return (
            f"A value of {named(g)} that was believed with its frequency f in the table is believed with at most {plain(theta)} f after seeing the row"
            + (", and its odds fall by no larger factor than they may rise" if both else " (upward only)")
        )
    own = [bound for row in g.bounds or [] for bound in row if bound is not None]
    low, high = min(own, default=math.inf), max(own, default=math.inf)
    if (rho2 := g.parameters.get("rho2")) is not None:
        least, most = (plain(share_of(factor, rho2), 3) for factor in (high, low))
        return (
            f"Whoever believed a value of {named(g)} with at most its share believes it with at most {as_given(rho2)} after seeing the published {named(g)} of the row "
            f"(upward only). The share of a value follows from its factor g, as {as_given(rho2)} / ({as_given(rho2)} + g (1 - {as_given(rho2)})): from {least}, at a factor of "
            f"{at_most(high)}, to {most}, at {at_most(low)}"
        )
    factors = f"{at_most(low)} for each" if low == high else f"{at_most(low)} to {at_most(high)}"
    return (
        f"Seeing the published {named(g)} of a row multiplies the odds of a single value of it by at most the value's own factor, {factors}"
        + (", and divides them by no more" if both else " (upward only)")
    )


def share_of(factor: float, rho2: float) -> float:
    """With how much a value may have been believed whose odds rise by a factor, so that it is believed with at most rho2 after.

    >>> share_of(4.0, 0.5)
    0.2
    """
    return rho2 / (rho2 + factor * (1 - rho2))


def _binds(g: "Guarantee") -> str:
    """What holds where a value's own factor does not."""
    beyond = [*([] if g.parameters["downward"] else ["falling odds"]), "sets of values"]
    free = sum(bound is None for row in g.bounds or [] for bound in row)
    if free:
        without = "1 value without a factor of its own" if free == 1 else f"{free} values without a factor of their own"
        beyond.append(f"{without} (frequent, or named, so that no protection is needed)")
    listed = " and ".join(filter(None, [", ".join(beyond[:-1]), beyond[-1]]))
    if "anything" not in g.parameters:
        return f"For {listed} nothing is guaranteed."
    return f"For {listed} the factor for anything (below) binds; for a single value the smaller of the two."


def _subtable_posterior(g: "Guarantee") -> str:
    given = g.parameters
    count, sets = given.get("protected"), given.get("sets")
    protected = "" if count is None else f" (there are {count:g})"
    guarded = f", nor a guarded set of values (there are {sets:g})," if sets else ""
    return (
        f"For whoever believes the table's own frequencies, no protected value of {named(g)}{protected}{guarded} is "
        f"believed with more than {as_given(given['rho2'])} after seeing a row's sub-table and published value (upward only: beliefs may fall without a bound); "
        f"the largest such belief is {at_most(given['largest_posterior'])}."
    )


def _person_amplification(g: "Guarantee") -> str:
    gamma, rows, columns = g.parameters["gamma"], int(g.parameters["rows"]), named(g)
    return (
        f"Seeing the published {columns} of all rows of a person, up to {rows:,} of them, changes the odds of anything about the person's true {columns} by a factor "
        f"of at most {at_most(gamma)} (epsilon = {at_most(g.parameters['epsilon'])}), beyond what the public columns tell; of one row by at most "
        f"{at_most(g.parameters['row_gamma'])}."
    )


def _memoised(g: "Guarantee") -> str:
    gamma, columns = g.parameters["gamma"], named(g)
    return (
        f"All releases for ever, seen together, change the odds of anything about a person's {columns} by a factor of at most {at_most(gamma)} "
        f"(epsilon = {at_most(math.log(gamma))}) while it stays the same: averaging them gives the memoised response, and no more. How much each of them tells of "
        f"whether it changed is a factor of at most {at_most(g.parameters['fresh_gamma'])}."
    )


STATEMENTS: Statements = {
    "amplification": _amplification,
    "breach": _breach,
    "joint_amplification": _amplification,
    "memoised": _memoised,
    "own_distribution": _own_distribution,
    "person_amplification": _person_amplification,
    "product_breach": _breach,
    "rho": _rho,
    "sampled_amplification": _sampled_amplification,
    "sampled_rho": _sampled_rho,
    "subtable_posterior": _subtable_posterior,
    "value_odds": _value_odds,
}
