"""mechanism = "shaped": one retention for all values of a column, and replacements in the shape of its frequencies.

    whoever believed value j with at most f_j believes it with at most rho2 after seeing the row        f_j: its share, of the table or of public knowledge
    odds of anything change by a factor of at most gamma, whatever was believed

Several columns share gamma as in mechanism uniform; rho2 is each column's own, for its own published value. The channel is shaped_channel.py's, or where single counts are to
be exact shaped_program.py's; what holds and what does not: docs/proofs/shaped.md.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Vector
from scumble.core.coins import Coins
from scumble.core.domain import Domain
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import number, plain
from scumble.core.shaped_coins import one_retention, own_retentions
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.shaped.settings import Settings
from scumble.mechanisms.shaped.terms import TELLS
from scumble.mechanisms.shaped_channel import factors
from scumble.mechanisms.shaped_program import least_error
from scumble.mechanisms.sharing import UNPROTECTED, shares
from scumble.mechanisms.value_factors import Own, terms_of
from scumble.privacy.numerals import upward
from scumble.privacy.values import Worst, worst_posteriors
from scumble.spec.spec import Spec, Target
from scumble.spec.value_names import names, places

POWERS = {"alike": 0, "frequency": 1, "balanced": -1, "relative": -2}
"""How the importance of a count grows with its size."""

NAMED = 5
"""Values that a warning names, at most."""


@dataclass(frozen=True)
class _Column:
    """One column on its way to a channel."""

    name: str
    domain: Domain
    f: Vector
    """The shares that replacements have the shape of."""
    believed: Vector
    """The shares of whoever knows them: the same, before they were rounded."""
    public: bool
    """Whether these were given, and not counted."""
    rho1: float
    rho2: float
    gamma: float
    pairs: dict[int, list[Any]]

    @property
    def factors(self) -> Vector:
        """By how much the odds of each value may rise."""
        return factors(self.f, self.rho2, self.gamma, rho1=self.rho1, pairs=self.pairs)

    @property
    def guarded(self) -> npt.NDArray[np.bool_]:
        """The values that are held to rho2, or to a pair of their own."""
        held = (self.f < self.rho2) & (self.f <= self.rho1)
        held[list(self.pairs)] = True
        return np.asarray(held)


@dataclass(frozen=True, repr=False)
class ShapedPlan(Plan):
    """What is believed of each value of a column, at worst, by whoever believes the shares that its replacements have the shape of."""

    posteriors: dict[str, Worst] = field(kw_only=True)


def plan(profile: Profile, spec: Spec) -> ShapedPlan:
    """One channel for each sensitive column."""
    settings = spec.settings_as(Settings)
    if settings.single and len(profile.domains) > 1:
        raise ParameterError(
            f"{settings.single!r} speaks of the values of one column, and {len(profile.domains)} are sensitive "
            f"({', '.join(profile.domains)}); leave it out, or publish the others as they are"
        )
    columns = [_column(name, profile, *pair, settings) for name, pair in shares(profile, spec).items()]
    coins = {column.name: _coins(column, settings) for column in columns}
    worst = {column.name: worst_posteriors(coins[column.name].channel(), column.believed) for column in columns}
    own = {column.name: _own(column, coins[column.name], worst[column.name]) for column in columns}
    terms = terms_of(coins, own, profile.from_data, TELLS)
    return ShapedPlan(
        "shaped",
        [coins],
        terms.guarantees,
        terms.depends_on_data,
        terms.not_covered,
        [text for column in columns for text in _warnings(column, coins[column.name])],
        posteriors=worst,
    )


def _column(name: str, profile: Profile, target: Target, share: int, settings: Settings) -> _Column:
    domain = profile.domains[name]
    if domain.size < 2:
        raise SchemaError(f"the domain of {name!r} has {domain.size} value(s); a sensitive column needs at least 2")
    if unknown := settings.frequencies.keys() - profile.domains.keys():
        raise ParameterError(f"frequencies are given for {min(unknown)!r}, which is no sensitive column")
    rho1, rho2, gamma = _target(target)
    public = name in settings.frequencies
    believed = _given(domain, settings.frequencies[name]) if public else _counted(profile.counts[name])
    f = believed if public else rounded_up(believed, settings.digits, rho2)
    pairs = dict(zip(places(domain, settings.rho, "rho"), settings.rho.values(), strict=True))
    for value, pair in settings.rho.items():
        if len(pair) != 2:
            raise ParameterError(f"rho of {value!r} is a pair [rho1, rho2], not {pair!r}")
    column = _Column(name, domain, f, believed, public, rho1, rho2, gamma ** (1 / share), pairs)
    if not column.guarded.any():
        raise ParameterError(
            f"no value of {name!r} is below rho2 = {plain(rho2, 4)}, so that none is protected by it; give a smaller rho2, or take uniform or design"
        )
    return column


def _target(target: Target) -> tuple[float, float, float]:
    """rho1 (1 where all are protected), rho2 and gamma."""
    bound = target.gamma if target.gamma is not None else target.epsilon
    both = target.gamma is not None and target.epsilon is not None
    if target.rho2 is None or bound is None or both or target.retain is not None:
        raise ParameterError(
            "shaped bounds two things: give rho2, the largest belief in a value of whoever believes the frequencies, and gamma (or epsilon), "
            "the factor on the odds of anything for every other belief; without it whoever believes otherwise is promised nothing"
        )
    gamma = number(bound, "gamma") if target.gamma is not None else math.exp(number(bound, "epsilon"))
    return 1.0 if target.rho1 is None else number(target.rho1, "rho1"), number(target.rho2, "rho2"), gamma


def _given(domain: Domain, known: dict[str, Any]) -> Vector:
    """The shares of public knowledge; those that are not named share what is left alike."""
    f = np.full(domain.size, math.nan)
    f[places(domain, known, "frequencies")] = [number(share, "a frequency") for share in known.values()]
    rest, told = np.isnan(f), float(np.nansum(f))
    if np.nanmin(f) < 0 or told > 1 + 1e-9 or (not rest.any() and told < 1 - 1e-3):
        raise ParameterError(
            f"frequencies are shares of 1, none negative, and those of all values sum to 1, not to {told:.6g}; "
            "values that are not named share what is left alike"
        )
    f[rest] = max(0.0, 1 - told) / max(1, int(rest.sum()))
    return f


def _counted(counts: npt.NDArray[np.int64]) -> Vector:
    if not counts.any():
        raise ParameterError("the table has no rows, so there are no frequencies to follow")
    return np.asarray(counts / counts.sum())


def rounded_up(f: Vector, digits: int | None, rho2: float) -> Vector:
    """Shares in so many digits, because replacements tell them. One that would reach rho2 so stays as it is.

    >>> rounded_up(np.array([0.123456, 0.4999, 0.0, 0.2]), 2, 0.5).tolist()
    [0.13, 0.4999, 0.0, 0.2]
    """
    if digits is None:
        return f
    unit = 10.0 ** (np.floor(np.log10(np.where(f > 0, f, 1.0))) - digits + 1)
    rounded = np.minimum(np.ceil(f / unit * (1 - 1e-12)) * unit, 1.0)
    return np.where((f < rho2) & (rounded >= rho2), f, np.maximum(rounded, f))


def _coins(column: _Column, settings: Settings) -> Coins:
    bounds = [Fraction(float(bound)) for bound in column.factors]
    if settings.objective == "retention":
        return one_retention(bounds)
    channel = least_error(
        column.factors, column.f / column.f.sum(), _workload(column.domain, settings), _weights(column, settings)
    )
    return own_retentions(channel, bounds)


def _workload(domain: Domain, settings: Settings) -> Vector | None:
    if not settings.workload:
        return None
    rows = np.zeros((len(settings.workload), domain.size))
    for row, members in zip(rows, settings.workload, strict=True):
        row[places(domain, members, "workload")] = 1
    return rows


def _weights(column: _Column, settings: Settings) -> Vector:
    """The importance of each count: alike, by its size, by the inverse of it, or by that of its square, so that relative errors count alike."""
    asked = _workload(column.domain, settings)
    sizes = column.f if asked is None else asked @ column.f
    if isinstance(settings.weights, dict):
        weights = np.ones(column.domain.size)
        given = [number(weight, "a weight") for weight in settings.weights.values()]
        weights[places(column.domain, settings.weights, "weights")] = given
        return weights
    least = float(sizes[sizes > 0].min())
    return np.asarray((np.maximum(sizes, least) / least) ** POWERS[settings.weights])


def _own(column: _Column, coins: Coins, worst: Worst) -> Own:
    """The factors as the coins have them; a value that needs no protection has none."""
    bounds = [upward(rise) if held else None for rise, held in zip(coins.rises(), column.guarded, strict=True)]
    parameters = {"downward": 0.0, "rho2": column.rho2}
    if not column.public:
        parameters |= {
            # in two digits, outward: exact ones would give counts away
            "largest_posterior": min(math.ceil(100 * float(worst.largest[column.guarded].max())) / 100, column.rho2),
            "smallest_posterior": math.floor(100 * float(worst.smallest[column.guarded].min())) / 100,
        }
    return Own(bounds, parameters)


def _warnings(column: _Column, coins: Coins) -> Iterator[str]:
    common = np.flatnonzero(~column.guarded)
    if len(common):
        shown = ", ".join(names(column.domain)[i] for i in common[:NAMED]) + (", ..." if len(common) > NAMED else "")
        least = "rho2" if column.rho1 >= column.rho2 else "rho1"
        yield (
            f"{len(common)} values of {column.name!r} ({shown}) are commoner than {least}, and no belief in them is bounded by rho2: "
            "for them the factor gamma holds alone"
        )
    if coins.amplification > UNPROTECTED:
        factor = plain(float(coins.amplification), 3)
        yield f"{column.name!r} is hardly protected: a published value makes the true one {factor} times as likely as another"
