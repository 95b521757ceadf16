"""mechanism = "partitioned": disjoint sub-tables, each perturbed within its own values; for one sensitive column.

    Pr[X = x | sub-table k, published y] <= rho2        for every protected x, under the table's own frequencies

inside = "uniform" gives a sub-table the one retention that its most frequent protected value allows. inside = "fine_grain" gives each
value x of it the factor gamma_kx = rho2 (1 - f_kx) / (f_kx (1 - rho2)) that its own share f_kx of the sub-table allows, and none to
unprotected values; posterior odds are at most gamma_kx f_kx / (1 - f_kx) = rho2 / (1 - rho2) there too. A set in `together` is more than
one value: where its exact posterior would pass rho2, the sub-table stays uniform.

Every plan computes all its posteriors exactly, from the coins as they will be flipped, and is refused as our own mistake where
one passes rho2. What holds and what does not: docs/proofs/partition.md.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, Vector
from scumble.core.coins import Coins
from scumble.core.domain import Domain
from scumble.core.errors import InternalError, ParameterError, SchemaError
from scumble.core.parameters import number
from scumble.mechanisms.fine_grain_channel import fine_grain
from scumble.mechanisms.partitioned.partitioning import Partition, partition
from scumble.mechanisms.partitioned.settings import Settings
from scumble.mechanisms.partitioned.terms import posterior_guarantee, terms_of
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.guarantee import ROUNDING
from scumble.privacy.values import Worst, worst_posteriors
from scumble.spec.spec import Spec, Target
from scumble.spec.value_names import names, places

SUBTABLE = "subtable"
"""The published column that says which sub-table a row is in."""


@dataclass(frozen=True, repr=False)
class PartitionPlan(Plan):
    """Which records go to which sub-table, and what is believed there."""

    partition: Partition = field(kw_only=True)
    posteriors: Any = field(kw_only=True)

    @property
    def parameters(self) -> str:
        """The number of sub-tables, where there are several."""
        return f"{len(self.strata)} sub-tables" if len(self.strata) > 1 else super().parameters

    @property
    def dealt(self) -> npt.NDArray[np.int64]:
        """How many rows of each value each sub-table gets."""
        return self.partition.subtables

    @property
    def any_belief(self) -> bool:
        """The number of a sub-table excludes values, so that other beliefs are unbounded."""
        return False


def plan(profile: Profile, spec: Spec) -> PartitionPlan:
    """Sub-tables with a channel each, from the counts of the one sensitive column."""
    settings = spec.settings_as(Settings)
    name, domain = _one_column(profile, spec)
    counts = profile.counts[name]
    rho1, rho2 = _rho(spec.columns[name].privacy or spec.privacy, counts)
    together = [places(domain, named, "together") for named in settings.together]
    parts = partition(
        counts,
        rho1,
        rho2,
        delta=settings.delta,
        together=together,
        protected=_mask(domain, settings.protected),
        names=names(domain),
    )
    coins = [_coins(parts, k, rho2, settings) for k in range(len(parts.subtables))]
    bounds = [_bounds(parts, k, rho2, own, domain.size) for k, own in enumerate(coins)]
    worst, posteriors = _worst(parts, coins, rho2)
    counts_of = {"protected": float(parts.protected.sum()), "sets": float(len(parts.guarded))}
    parameters = {"rho1": rho1, "rho2": rho2, "largest_posterior": worst, "downward": 0.0} | counts_of
    from_data = (spec.columns[name].privacy or spec.privacy).rho1 is None
    strata = [{name: coin.among(own, domain.size)} for coin, own in zip(coins, parts.values, strict=True)]
    terms = terms_of(name, strata, [posterior_guarantee(name, parameters, bounds)], profile.from_data, from_data)
    return PartitionPlan(
        "partitioned",
        strata,
        terms.guarantees,
        terms.depends_on_data,
        terms.not_covered,
        _open_sets(settings.together, together, parts, counts),
        partition=parts,
        posteriors=posteriors,
    )


def _one_column(profile: Profile, spec: Spec) -> tuple[str, Domain]:
    if len(profile.domains) != 1:
        raise ParameterError(
            f"partitioned is for one sensitive attribute, and there are {len(profile.domains)} ({', '.join(profile.domains)}); take them as one "
            "(compound=, --compound, or parts of a column in the spec), drop all but one, or take uniform, design, shaped or fine_grain"
        )
    if SUBTABLE in spec.published:
        raise SchemaError(
            f"column {SUBTABLE!r} has the name of the column that says which sub-table a row is in; rename or drop it"
        )
    (pair,) = profile.domains.items()
    return pair


def _rho(target: Target, counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """rho1 and rho2; without rho1 every value that occurs is protected."""
    if target.rho2 is None or any(v is not None for v in (target.gamma, target.epsilon, target.retain)):
        raise ParameterError(
            "partitioned bounds posteriors: give rho2, and rho1 where only values up to that frequency are protected; gamma, epsilon and "
            "retain are for uniform and fine_grain"
        )
    if not counts.any():
        raise ParameterError("the table has no rows, so there are no frequencies to protect")
    largest = int(counts.max()) / int(counts.sum())
    return largest if target.rho1 is None else number(target.rho1, "rho1"), number(target.rho2, "rho2")


def _mask(domain: Domain, protected: list[Any] | None) -> npt.NDArray[np.bool_] | None:
    if protected is None:
        return None
    if not protected:
        raise ParameterError(
            "the protected set is empty; name a value, or leave `protected` out to protect all up to rho1"
        )
    mask = np.zeros(domain.size, dtype=np.bool_)
    mask[places(domain, protected, "protected")] = True
    return mask


def _coins(parts: Partition, k: int, rho2: float, settings: Settings) -> Coins:
    """The coins of a sub-table, over its own values."""
    uniform = Coins.of(parts.channels[k])
    if settings.inside == "uniform":
        return uniform
    own = parts.values[k]
    counts = parts.subtables[k][own]
    gammas = _gammas(counts, parts.protected[own], rho2)
    if np.all(np.isinf(gammas)):
        return uniform
    finer = Coins.of(fine_grain(counts, gamma=gammas, objective=settings.objective))
    return finer if _sets_hold(finer.channel(), counts, parts, own, rho2) else uniform


def _gammas(counts: npt.NDArray[np.int64], protected: npt.NDArray[np.bool_], rho2: float) -> Vector:
    """gamma_kx for each value of a sub-table; infinite where it is not protected."""
    f = counts / counts.sum()
    return np.where(protected, rho2 * (1 - f) / (f * (1 - rho2)), np.inf)


def _sets_hold(
    channel: Channel, counts: npt.NDArray[np.int64], parts: Partition, own: npt.NDArray[np.intp], rho2: float
) -> bool:
    return all(_set_posterior(channel, counts, np.isin(own, members)) <= rho2 for members in parts.guarded)


def _set_posterior(channel: Channel, counts: npt.NDArray[np.int64], member: npt.NDArray[np.bool_]) -> float:
    """The largest posterior of a set of values, exactly: (p_y f_y [y in S] + r_y D_S) / (p_y f_y + r_y D)."""
    p, r = channel.retention, channel.replace
    redrawn = counts * (1 - p)
    return float(((p * counts * member + r * redrawn[member].sum()) / (p * counts + r * redrawn.sum())).max())


def _bounds(parts: Partition, k: int, rho2: float, coins: Coins, size: int) -> list[float | None]:
    """What the odds may rise by in a sub-table: one factor, or one for each value of the domain."""
    if len(coins.thresholds) == 1:
        return [parts.gamma[k]]
    own = parts.values[k]
    row: list[float | None] = [None] * size
    for code, gamma in zip(own.tolist(), _gammas(parts.subtables[k][own], parts.protected[own], rho2), strict=True):
        row[code] = float(gamma) if math.isfinite(gamma) else None
    return row


def _worst(parts: Partition, coins: list[Coins], rho2: float) -> tuple[float, list[Worst]]:
    """The largest posterior of anything protected, never above rho2; and those of every value, for each sub-table."""
    worst, every = 0.0, []
    for row, own, coin in zip(parts.subtables, parts.values, coins, strict=True):
        channel, counts, protected = coin.channel(), row[own], parts.protected[own]
        every.append(worst_posteriors(channel, counts))
        sets = [_set_posterior(channel, counts, np.isin(own, members)) for members in parts.guarded]
        worst = max(worst, float(every[-1].largest[protected].max(initial=0)), *sets)
    if worst > rho2 * (1 + ROUNDING):
        raise InternalError(f"a plan of sub-tables has a posterior of {worst}, above rho2 = {rho2}")
    return worst, every


def _open_sets(
    given: list[list[Any]], sets: list[list[int]], parts: Partition, counts: npt.NDArray[np.int64]
) -> list[str]:
    """Sets that are too frequent for (rho1, rho2) to protect."""
    return [
        f"the set {', '.join(map(str, named))} in together is {counts[codes].sum() / counts.sum():.4g} of the table, which is above rho1: no sub-table lies "
        "inside it, but its posterior is not bounded"
        for named, codes in zip(given, sets, strict=True)
        if tuple(sorted(set(codes))) not in parts.guarded
    ]
