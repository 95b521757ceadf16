"""The sentences of what is promised of tuples that are counted, of samples and of buckets."""

import math
from typing import TYPE_CHECKING

from scumble.core.parameters import plain
from scumble.privacy.numerals import at_most, at_most_share
from scumble.privacy.words_of_rows import Statements, beliefs, named

if TYPE_CHECKING:
    from scumble.privacy.guarantee import Guarantee

OF_THE_TEST = ("lambda", "delta", "retain", "values", "asked")
"""The parameters of reconstruction privacy that are not the size of a sample; each size has the largest frequency of its groups for a name."""


def sample_sizes(g: "Guarantee") -> dict[str, int]:
    """The sizes of samples that a guarantee of reconstruction privacy names."""
    return {name: int(value) for name, value in g.parameters.items() if name not in OF_THE_TEST}


def _reconstruction(g: "Guarantee") -> str:
    given = g.parameters
    most, delta = max(sample_sizes(g).values()), given["delta"]
    asked = (
        f" ({given['asked']:g} was asked for by the Chernoff bound, which is far above the true tails)"
        if "asked" in given
        else ""
    )
    return (
        f"Of a group of people who agree on all public columns at most {most} are in the sample, so few that for every value of "
        f"{named(g)} its share of the sample is estimated more than {given['lambda']:.4g} of itself too high with probability {delta:.4g} or more, "
        f"and as much too low with {delta:.4g} or more{asked}."
    )


def _semantic_k(g: "Guarantee") -> str:
    k = int(g.parameters["k"])
    return (
        f"Semantic {k}-anonymity: each tuple can be removed, or replaced by any of {k - 1} other tuples of the table, without "
        "changing the probability of any outcome."
    )


NOISY_COUNTS = "noisy_counts"
"""The kind of guarantee that noise in counts gives; two mechanisms have it, one of them of the same name."""


def _noisy_counts(g: "Guarantee") -> str:
    given = g.parameters
    epsilon, delta, parts = given["total_epsilon"], given["total_delta"], int(given["parts"])
    pair = f"({plain(given['epsilon'])}, {plain(given['delta'])})"
    together = f", from {parts} tables at {pair} that a tuple can be in" if parts > 1 else ""
    return (
        f"({plain(epsilon)}, {plain(delta)})-differential privacy for one tuple: the probability of the outcome changes by a factor of at most "
        f"{at_most(math.exp(epsilon))} by adding or removing it, save with probability {plain(delta)}{together}."
    )


def _full_counts(g: "Guarantee") -> str:
    epsilon = g.parameters["epsilon"]
    return (
        f"Differential privacy with epsilon = {plain(epsilon)}: the probability of any outcome changes by a factor of at most "
        f"{at_most(math.exp(epsilon))} by adding or removing one tuple."
    )


def _tuple_membership(g: "Guarantee") -> str:
    low, high = beliefs(g)
    return f"That a tuple is in the table, believed with at most {low}, is believed with at most {high} after seeing the release."


def _l_diversity(g: "Guarantee") -> str:
    return f"In no bucket has a value more than {at_most_share(g.parameters['largest_share'])} of the records."


def _person_counts(g: "Guarantee") -> str:
    given = g.parameters
    save = f", save with probability {at_most(given['delta'])}" if given["delta"] else ""
    return (
        f"Adding or removing a person with all of its rows, up to {int(given['rows']):,} of them, changes the probability of the outcome by a factor of at most "
        f"{at_most(given['gamma'])} (epsilon = {at_most(given['epsilon'])}){save}; one row changes it by epsilon = {at_most(given['row_epsilon'])}."
    )


STATEMENTS: Statements = {
    "full_counts": _full_counts,
    "l_diversity": _l_diversity,
    NOISY_COUNTS: _noisy_counts,
    "person_counts": _person_counts,
    "reconstruction": _reconstruction,
    "semantic_k": _semantic_k,
    "tuple_membership": _tuple_membership,
}
