"""Cyclic designs: of each column the difference set of the smallest variance at its gamma, or uniform replacement where that is as good.

A target that is given for the table is shared by its k sensitive columns as in mechanism uniform, each at the k-th root of gamma. The guarantee is the same, for
every belief; estimates are more exact, the more values a column has (core/design.py, docs/proofs/design.md).
"""

from collections.abc import Iterator

from scumble.core.coins import BaseCoins
from scumble.mechanisms.designed import design_coins, unprotected
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.sharing import asked_pairs, shares, terms_of
from scumble.spec.spec import NoSettings, Spec


def plan(profile: Profile, spec: Spec) -> Plan:
    """One design for each sensitive column; where none is better than uniform replacement, the plan is one of mechanism uniform."""
    spec.settings_as(NoSettings)
    coins = {
        name: design_coins(name, profile.domains[name].size, target.factor() ** (1 / share))
        for name, (target, share) in shares(profile, spec).items()
    }
    terms = terms_of(coins, asked_pairs(list(coins), profile, spec), profile.from_data)
    return Plan(
        "design" if any(coin.codes is not None for coin in coins.values()) else "uniform",
        [coins],
        terms.guarantees,
        terms.depends_on_data,
        warnings=[text for name, coin in coins.items() for text in _warnings(name, coin)],
    )


def _warnings(name: str, coins: BaseCoins) -> Iterator[str]:
    if coins.codes is None:
        yield (
            f"no design is more exact for {name!r}, which has {coins.size} values, than uniform replacement at its gamma: "
            "its values will be published, as by mechanism uniform, and no codes"
        )
    yield from unprotected(name, coins)
