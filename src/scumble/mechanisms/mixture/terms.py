"""What a mixture promises, derived from a manifest by whoever opens a release: by the functions that its plan uses."""

from scumble.core.mixture_coins import MixtureCoins
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.sharing import claimed_pairs, terms_of


def derive(facts: Facts) -> Terms:
    """What follows from the coins of single columns: their factors, which multiply."""
    facts.demand_rows()
    facts.demand(
        facts.joint is None and facts.sampling is None,
        "coins of every row and column apart, and the manifest has others",
    )
    coins = facts.any_coins
    mixed = any(isinstance(coin, MixtureCoins) for coin in coins.values())
    facts.demand(mixed, "codes of several kinds, and the manifest has none")
    return terms_of(coins, claimed_pairs(facts, coins), facts.from_data)
