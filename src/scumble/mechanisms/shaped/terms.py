"""What shaped replacement promises, derived from a manifest by whoever opens a release: by the functions that its plan uses."""

from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.value_factors import claimed, terms_of

TELLS = "replacements_tell"
"""What replacements in the shape of the table tell."""


def derive(facts: Facts) -> Terms:
    """What follows from given replacements: the factors of single values, the belief that they bound, and the factor for anything."""
    facts.demand_rows(shaped=True)
    return terms_of(facts.coins, claimed(facts), facts.from_data, TELLS)
