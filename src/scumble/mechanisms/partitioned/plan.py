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
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.guarantee import NOT_COVERED, ROUNDING, Guarantee, as_given, at_most, dependence_of_domains
from scumble.privacy.values import Worst, worst_posteriors
from scumble.spec.spec import Spec, Target
from scumble.spec.value_names import names, places

SUBTABLE = "subtable"
"""The published column that says which sub-table a row is in."""

CONDITIONS = [
    "Each person is one row of the table.",
    "The table is published once: another publication draws other sub-tables, and the two together tell more.",
    "The attacker believes the table's own frequencies of the column, and sees the manifest and the row's sub-table and published value.",
    "The attacker does not know which rows, with their sub-tables, all the others are: counts in sub-tables are exact, and who knows every "
    "other row may find the last one's value from them.",
]

BEYOND = [
    "Other beliefs: a sub-table excludes the values that it does not have, so there is no local differential privacy, and no bound for "
    "beliefs that differ from the table's frequencies, by the row's public columns say.",
    "Downward: a row's sub-table makes each value outside it impossible.",
    "Properties that were not named: a row surely has one of its sub-table's values, and whatever these have in common is told. Sets in "
    "`together` are for that.",
]


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
    together = [places(domain, each, "together") for each in settings.together]
    found = partition(
        counts,
        rho1,
        rho2,
        delta=settings.delta,
        together=together,
        protected=_mask(domain, settings.protected),
        names=names(domain),
    )
    coins = [_coins(found, k, rho2, settings) for k in range(len(found.subtables))]
    bounds = [_bounds(found, k, rho2, own, domain.size) for k, own in enumerate(coins)]
    worst, posteriors = _worst(found, coins, rho2)
    return PartitionPlan(
        "partitioned",
        [{name: each.among(own, domain.size)} for each, own in zip(coins, found.values, strict=True)],
        [_guarantee(name, found, bounds, rho1, rho2, worst)],
        [*dependence_of_domains(profile.from_data), *_dependence(name, spec, settings)],
        [*NOT_COVERED, *BEYOND],
        _open_sets(settings.together, together, found, counts),
        partition=found,
        posteriors=posteriors,
    )


def _one_column(profile: Profile, spec: Spec) -> tuple[str, Domain]:
    if len(profile.domains) != 1:
        raise ParameterError(
            f"partitioned is for one sensitive column, and there are {len(profile.domains)} ({', '.join(profile.domains)}); publish the others "
            "as public or drop them, or take uniform or fine_grain"
        )
    if SUBTABLE in spec.published:
        raise SchemaError(
            f"column {SUBTABLE!r} has the name of the column that says which sub-table a row is in; rename or drop it"
        )
    (found,) = profile.domains.items()
    return found


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


def _coins(found: Partition, k: int, rho2: float, settings: Settings) -> Coins:
    """The coins of a sub-table, over its own values."""
    uniform = Coins.of(found.channels[k])
    if settings.inside == "uniform":
        return uniform
    own = found.values[k]
    counts = found.subtables[k][own]
    gammas = _gammas(counts, found.protected[own], rho2)
    if np.all(np.isinf(gammas)):
        return uniform
    finer = Coins.of(fine_grain(counts, gamma=gammas, objective=settings.objective))
    return finer if _sets_hold(finer.channel(), counts, found, own, rho2) else uniform


def _gammas(counts: npt.NDArray[np.int64], protected: npt.NDArray[np.bool_], rho2: float) -> Vector:
    """gamma_kx for each value of a sub-table; infinite where it is not protected."""
    f = counts / counts.sum()
    return np.where(protected, rho2 * (1 - f) / (f * (1 - rho2)), np.inf)


def _sets_hold(
    channel: Channel, counts: npt.NDArray[np.int64], found: Partition, own: npt.NDArray[np.intp], rho2: float
) -> bool:
    return all(_set_posterior(channel, counts, np.isin(own, each)) <= rho2 for each in found.guarded)


def _set_posterior(channel: Channel, counts: npt.NDArray[np.int64], member: npt.NDArray[np.bool_]) -> float:
    """The largest posterior of a set of values, exactly: (p_y f_y [y in S] + r_y D_S) / (p_y f_y + r_y D)."""
    p, r = channel.retention, channel.replace
    redrawn = counts * (1 - p)
    return float(((p * counts * member + r * redrawn[member].sum()) / (p * counts + r * redrawn.sum())).max())


def _bounds(found: Partition, k: int, rho2: float, coins: Coins, size: int) -> list[float | None]:
    """What the odds may rise by in a sub-table: one factor, or one for each value of the domain."""
    if len(coins.thresholds) == 1:
        return [found.gamma[k]]
    own = found.values[k]
    row: list[float | None] = [None] * size
    for code, gamma in zip(own.tolist(), _gammas(found.subtables[k][own], found.protected[own], rho2), strict=True):
        row[code] = float(gamma) if math.isfinite(gamma) else None
    return row


def _worst(found: Partition, coins: list[Coins], rho2: float) -> tuple[float, list[Worst]]:
    """The largest posterior of anything protected, never above rho2; and those of every value, for each sub-table."""
    worst, every = 0.0, []
    for row, own, each in zip(found.subtables, found.values, coins, strict=True):
        channel, counts, protected = each.channel(), row[own], found.protected[own]
        every.append(worst_posteriors(channel, counts))
        sets = [_set_posterior(channel, counts, np.isin(own, members)) for members in found.guarded]
        worst = max(worst, float(every[-1].largest[protected].max(initial=0)), *sets)
    if worst > rho2 * (1 + ROUNDING):
        raise InternalError(f"a plan of sub-tables has a posterior of {worst}, above rho2 = {rho2}")
    return worst, every


def _guarantee(
    name: str, found: Partition, bounds: list[list[float | None]], rho1: float, rho2: float, worst: float
) -> Guarantee:
    sets = f", nor a guarded set of values (there are {len(found.guarded)})," if found.guarded else ""
    return Guarantee(
        kind="subtable_posterior",
        columns=[name],
        statement=f"For whoever believes the table's own frequencies, no protected value of {name} (there are {int(found.protected.sum())}){sets} is "
        f"believed with more than {as_given(rho2)} after seeing a row's sub-table and published value (upward only: beliefs may fall without a bound); the largest such belief is {at_most(worst)}.",
        parameters={"rho1": rho1, "rho2": rho2, "largest_posterior": worst, "downward": 0.0},
        conditions=CONDITIONS,
        bounds=bounds,
    )


def _open_sets(
    given: list[list[Any]], sets: list[list[int]], found: Partition, counts: npt.NDArray[np.int64]
) -> list[str]:
    """Sets that are too frequent for (rho1, rho2) to protect."""
    return [
        f"the set {', '.join(map(str, named))} in together is {counts[codes].sum() / counts.sum():.4g} of the table, which is above rho1: no sub-table lies "
        "inside it, but its posterior is not bounded"
        for named, codes in zip(given, sets, strict=True)
        if tuple(sorted(set(codes))) not in found.guarded
    ]


def _dependence(name: str, spec: Spec, settings: Settings) -> list[str]:
    found = [
        f"The sub-tables of {name!r} were made from the counts of its values: the values, size and retention of each are published. They tell which "
        "values of the domain do not occur, and the share of the most frequent protected value in each sub-table (a bound on it, where a set in "
        "`together` is stricter)."
    ]
    if settings.inside == "fine_grain":
        found.append(
            "Each protected value's factor in a sub-table tells its exact share there, and so its count in the table."
        )
    if (spec.columns[name].privacy or spec.privacy).rho1 is None:
        found.append("rho1 is the frequency of the most frequent value, and tells it.")
    return found
