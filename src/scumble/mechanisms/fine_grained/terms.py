"""What a retention for each value promises, derived from a manifest by whoever opens a release: by the functions that its plan uses."""

from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.value_factors import claimed, terms_of


def derive(facts: Facts) -> Terms:
    """What follows from a retention for each value: the factors that were asked for, where they hold, and the one for anything."""
    facts.demand_rows()
    return terms_of(facts.coins, claimed(facts), facts.from_data)
