"""Cyclic designs: of each column the difference set of the smallest variance at its gamma, or uniform replacement where that is as good.

A target that is given for the table is shared by its k sensitive columns as in mechanism uniform, each at the k-th root of gamma. The guarantee is the same, for
every belief; estimates are more exact, the more values a column has (core/design.py, docs/proofs/design.md).
"""

from collections.abc import Iterator

from scumble.core.channel import Channel
from scumble.core.coins import BaseCoins, Coins
from scumble.core.design import Design
from scumble.core.design_coins import DesignCoins
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import plain
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.sharing import UNPROTECTED, asked_pairs, shares, terms_of
from scumble.spec.spec import NoSettings, Spec

MOST_VALUES = 1 << 18
"""Values of a column, at most."""


def plan(profile: Profile, spec: Spec) -> Plan:
    """One design for each sensitive column; where none is better than uniform replacement, the plan is one of mechanism uniform."""
    spec.settings_as(NoSettings)
    coins = {
        name: _coins(name, profile.domains[name].size, target.factor() ** (1 / share))
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
    if coins.amplification > UNPROTECTED:
        factor = plain(float(coins.amplification), 3)
        yield f"{name!r} is hardly protected: what is published makes a value {factor} times as likely as another"


def _coins(name: str, size: int, gamma: float) -> BaseCoins:
    if size < 2:
        raise SchemaError(f"the domain of {name!r} has {size} value(s); a sensitive column needs at least 2")
    if size > MOST_VALUES:
        raise ParameterError(
            f"a design is for up to {MOST_VALUES:,} values, and {name!r} has {size:,}; use a wider step, or merge values"
        )
    design = Design(size, gamma)
    return Coins.of(Channel.from_gamma(size, gamma)) if design.uniform else DesignCoins.of(design)
