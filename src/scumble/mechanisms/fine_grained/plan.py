"""mechanism = "fine_grain": a retention for each value, as large as that value's own protection allows.

    posterior odds of value i <= gamma_i * prior odds of value i,        whatever was published

The gammas come from the privacy target, scaled by scores or replaced value by value, or from a tolerance theta (rho1_i = f_i,
rho2_i = theta f_i). The program is fine_grain_channel.py's; what holds and what does not: docs/proofs/fine_grain.md.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, Vector, gamma_bound
from scumble.core.coins import Coins
from scumble.core.domain import Domain
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import number
from scumble.mechanisms.channel_utility import record_utility
from scumble.mechanisms.fine_grain_channel import fine_grain, gammas_from_scores, gammas_from_tolerance
from scumble.mechanisms.fine_grained.settings import Settings
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.value_factors import Own, terms_of
from scumble.privacy.values import Worst, worst_posteriors
from scumble.spec.spec import Spec, Target
from scumble.spec.value_names import names, places

Result = TypeVar("Result")


@dataclass(frozen=True)
class _Column:
    """One column on its way to a channel."""

    name: str
    domain: Domain
    counts: npt.NDArray[np.int64]
    gammas: Vector
    coins: Coins


@dataclass(frozen=True, repr=False)
class FineGrainPlan(Plan):
    """What is believed of each value of a column, at worst, by whoever believes the table's own shares."""

    posteriors: dict[str, Worst] = field(kw_only=True)


def plan(profile: Profile, spec: Spec) -> FineGrainPlan:
    """One channel with a retention for each value, for each sensitive column."""
    settings = spec.settings_as(Settings)
    if settings.single and len(profile.domains) > 1:
        raise ParameterError(
            f"{settings.single!r} speaks of the values of one column, and {len(profile.domains)} are sensitive "
            f"({', '.join(profile.domains)}); leave it out, or publish the others as they are"
        )
    sharing = [name for name in profile.domains if spec.columns[name].privacy is None]
    columns = []
    for name, domain in profile.domains.items():
        own = spec.columns[name].privacy
        gammas = _gammas(name, domain, profile.counts[name], own or spec.privacy, 1 if own else len(sharing), settings)
        columns.append(_solved(name, domain, profile.counts[name], gammas, settings))
    coins = {column.name: column.coins for column in columns}
    terms = terms_of(coins, {column.name: _own(column, settings) for column in columns}, profile.from_data)
    return FineGrainPlan(
        "fine_grain",
        [coins],
        terms.guarantees,
        terms.depends_on_data,
        terms.not_covered,
        _warnings(columns, settings),
        posteriors={c.name: worst_posteriors(c.coins.channel(), c.counts) for c in columns},
    )


def _gammas(
    name: str, domain: Domain, counts: npt.NDArray[np.int64], target: Target, share: int, settings: Settings
) -> Vector:
    if domain.size < 2:
        raise SchemaError(f"the domain of {name!r} has {domain.size} value(s); a sensitive column needs at least 2")
    if settings.theta is not None:
        if target.given or settings.scores or settings.rho:
            raise ParameterError(
                "theta says how private; leave out rho1, rho2, gamma, epsilon, scores and rho beside it"
            )
        return _named(domain, lambda: gammas_from_tolerance(counts / counts.sum(), number(settings.theta, "theta")))
    gammas = np.full(domain.size, math.nan)
    if target.given:
        scores = np.ones(domain.size)
        scores[places(domain, settings.scores, "scores")] = [number(s, "a score") for s in settings.scores.values()]
        gammas = _named(domain, lambda: gammas_from_scores(scores, target.factor() ** (1 / share)))
    elif settings.scores:
        raise ParameterError("scores divide a privacy target; give rho1 and rho2, gamma or epsilon beside them")
    for code, (value, pairs) in zip(places(domain, settings.rho, "rho"), settings.rho.items(), strict=True):
        gammas[code] = min(gamma_bound(*_pair(value, pair)) for pair in _pairs(pairs))
    if len(open_values := np.flatnonzero(np.isnan(gammas))):
        raise ParameterError(
            f"how private is {names(domain)[open_values[0]]!r} of {name!r}? give theta, or rho1 and rho2, gamma or epsilon, "
            "for all values that rho does not name"
        )
    return gammas


def _pairs(given: list[Any]) -> list[Any]:
    """One pair (rho1, rho2), or several: the strictest counts."""
    return given if given and isinstance(given[0], list) else [given]


def _pair(value: str, given: list[Any]) -> list[Any]:
    if not isinstance(given, list) or len(given) != 2:
        raise ParameterError(f"rho of {value!r} is a pair [rho1, rho2], or a list of such pairs, not {given!r}")
    return given


def _solved(name: str, domain: Domain, counts: npt.NDArray[np.int64], gammas: Vector, settings: Settings) -> _Column:
    weights = _weights(domain, settings)
    channel = _named(
        domain,
        lambda: fine_grain(
            counts,
            gamma=gammas,
            weights=weights,
            floor=settings.floor,
            breaches=settings.breaches,
            objective=settings.objective,
        ),
    )
    return _Column(name, domain, counts, gammas, Coins.of(channel))


def _weights(domain: Domain, settings: Settings) -> Vector | None:
    if settings.weights == "frequency":
        return None
    weights = np.ones(domain.size)
    if isinstance(settings.weights, dict):
        given = [number(weight, "a weight") for weight in settings.weights.values()]
        weights[places(domain, settings.weights, "weights")] = given
    return weights


def _named(domain: Domain, compute: Callable[[], Result]) -> Result:
    """What is computed from counts alone knows values by number; a person knows them by name."""
    try:
        return compute()
    except ParameterError as error:
        called = names(domain)
        text = re.sub(r"\bvalue (\d+)\b", lambda match: f"value {called[int(match[1])]!r}", str(error))
        raise ParameterError(text) from None


def _from_data(settings: Settings) -> bool:
    return settings.theta is not None or settings.weights == "frequency" or settings.objective == "error"


def _own(column: _Column, settings: Settings) -> Own:
    parameters = {"downward": float(settings.breaches == "both")}
    if settings.theta is not None:
        parameters["theta"] = number(settings.theta, "theta")
    if _from_data(settings):
        protected = np.isfinite(column.gammas)
        worst = worst_posteriors(column.coins.channel(), column.counts)
        parameters |= {
            # in two digits, outward: exact ones would give counts away
            "largest_posterior": math.ceil(100 * float(worst.largest[protected].max())) / 100,
            "smallest_posterior": math.floor(100 * float(worst.smallest[protected].min())) / 100,
        }
    return Own([float(g) if math.isfinite(g) else None for g in column.gammas], parameters)


def _warnings(columns: list[_Column], settings: Settings) -> list[str]:
    warnings = []
    for column in columns:
        lost = np.flatnonzero(column.coins.thresholds == 0)
        if len(lost) > 1:
            shown = ", ".join(names(column.domain)[code] for code in lost[:5]) + (", ..." if len(lost) > 5 else "")
            warnings.append(
                f"{len(lost)} values of {column.name!r} ({shown}) are never retained, and cannot be told apart: counts of one of them will be "
                f"refused. {_price(column, settings)}"
            )
    return warnings


def _price(column: _Column, settings: Settings) -> str:
    """What a floor would cost."""
    highest = float((column.gammas.min() - 1) / (column.domain.size - 1 + column.gammas.min()))
    kept = record_utility(column.coins.channel(), column.counts)
    half: Channel = fine_grain(column.counts, gamma=column.gammas, floor=highest / 2, breaches=settings.breaches)
    return (
        f"A floor up to {highest:.4g} is possible; {highest / 2:.4g} would leave {record_utility(half, column.counts):.1%} of the records as "
        f"they are instead of {kept:.1%}."
    )
