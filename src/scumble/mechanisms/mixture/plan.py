"""Mixtures: of each column of numbers the parts and probabilities that make what will be asked as exact as can be, at its gamma.

Columns of other values have designs. A target that is given for the table is shared by its k sensitive columns as in mechanism uniform, each at the k-th
root of gamma. The guarantee is the same, for every belief (core/mixture.py, docs/proofs/mixture.md).
"""

from collections.abc import Iterator

from scumble.core.coins import BaseCoins
from scumble.core.domain import Domain
from scumble.core.errors import ParameterError, did_you_mean
from scumble.core.mixture_choice import best_mixture
from scumble.core.mixture_coins import MixtureCoins
from scumble.core.mixture_part import Numbers
from scumble.core.scale import points_of
from scumble.mechanisms.designed import design_coins, unprotected
from scumble.mechanisms.mixture.settings import Settings
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.sharing import asked_pairs, shares, terms_of
from scumble.spec.spec import Spec

MOST_NUMBERS = 4_000_000
"""Numbers of a column, at most."""


def plan(profile: Profile, spec: Spec) -> Plan:
    """One mixture for each column of numbers, and one design for each other one."""
    settings = spec.settings_as(Settings)
    _demand_known(settings, profile)
    coins = {
        name: _coins(name, profile.domains[name], target.factor() ** (1 / share), settings)
        for name, (target, share) in shares(profile, spec).items()
    }
    if not any(isinstance(coin, MixtureCoins) for coin in coins.values()):
        raise ParameterError(
            "mechanism mixture is for numbers and days, and no sensitive column has a domain of them; "
            "give one low, high and step, or publish by design"
        )
    terms = terms_of(coins, asked_pairs(list(coins), profile, spec), profile.from_data)
    warnings = [text for name, coin in coins.items() for text in _warnings(name, profile.domains[name], coin)]
    return Plan("mixture", [coins], terms.guarantees, terms.depends_on_data, warnings=warnings)


def _demand_known(settings: Settings, profile: Profile) -> None:
    named = settings.asked if isinstance(settings.asked, dict) else {}
    for name, kinds in named.items() if named else [("", settings.asked)]:
        if name and name not in profile.domains:
            raise ParameterError(
                f"asked names {name!r}, which is no sensitive column{did_you_mean(name, profile.domains)}"
            )
        if not kinds:
            raise ParameterError('asked is empty; say which of "sum", "range" and "point" will be asked')


def _coins(name: str, domain: Domain, gamma: float, settings: Settings) -> BaseCoins:
    found = points_of(domain)
    if found is None:
        return design_coins(name, domain.size, gamma)
    points, missing = found
    if points > MOST_NUMBERS:
        raise ParameterError(
            f"a mixture is for up to {MOST_NUMBERS:,} numbers, and {name!r} has {points:,}; use a wider step"
        )
    if gamma <= 1:
        raise ParameterError(f"gamma must be above 1, not {gamma}: at 1 nothing of the value is published")
    return MixtureCoins.of(best_mixture(Numbers(points, missing), gamma, settings.of(name)))


def _warnings(name: str, domain: Domain, coins: BaseCoins) -> Iterator[str]:
    if not isinstance(coins, MixtureCoins):
        yield (
            f"{name!r} is a list of values and no range of numbers or days: it has a design, which knows no order; "
            "for sums and ranges of it give low, high and step"
        )
    yield from unprotected(name, coins)
