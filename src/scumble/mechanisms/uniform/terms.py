"""What uniform perturbation promises, derived from a manifest by whoever opens a release: by the functions that its plan uses."""

from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.sharing import claimed_pairs, terms_of


def derive(facts: Facts) -> Terms:
    """What follows from coins of single columns."""
    facts.demand_rows()
    facts.demand(
        facts.joint is None and facts.sampling is None,
        "coins of every row and column apart, and the manifest has others",
    )
    return terms_of(facts.coins, claimed_pairs(facts, facts.coins), facts.from_data)
