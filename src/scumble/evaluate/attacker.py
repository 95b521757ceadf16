"""The common currency: what an attacker believes who knows the table's own shares, the public manifest, and one published row.

    posterior   the largest belief in any single protected value, over everything that can be published
    guess       how often the value that is believed most is the true one:  sum_y max_x f_x P[y, x]

both exact, from the channels as they are applied and the true counts. A value is protected where its share is at most rho1; all are where no
rho1 is given (or no value is that rare). Several perturbed columns of a row are seen together, and the prior is their joint distribution.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from scumble.core.channel import Channel, replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.errors import ParameterError
from scumble.core.parameters import number
from scumble.mechanisms.channel_utility import record_utility
from scumble.mechanisms.plan import Plan
from scumble.privacy.guarantee import amplification
from scumble.privacy.rho import posterior_bound
from scumble.privacy.values import largest_other, worst_posteriors
from scumble.release.release import Release
from scumble.truth import Truth

Counts = npt.NDArray[np.int64]
Tensor = npt.NDArray[np.float64]

MOST_CELLS = 20_000_000
"""Published combinations of several sensitive columns, times the values of one: up to here posteriors are computed; beyond, they are bounded."""


@dataclass(frozen=True)
class Beliefs:
    """What the attacker comes to believe."""

    posterior: float
    guess: float
    factor: float
    """The most that the odds of anything change, whatever was believed: infinite where nothing is promised for other beliefs."""
    rise: float = math.nan
    """The most by which the belief in a protected value is multiplied; NaN where several columns are seen together."""
    kept: float = math.nan
    """The share of rows that are published with their true value, on average over the columns; NaN where rows go through no channel."""
    bound: bool = False
    """Whether the posterior is a bound, because there are too many combinations to compute it."""


@dataclass(frozen=True, eq=False)
class Attacker:
    """The prior: how often each value, and each combination of values, occurs."""

    columns: Sequence[str]
    counts: Mapping[str, Counts]
    joint: Counts | None
    """Of all sensitive columns; None where it would be too large."""
    rho1: float | None = None

    @classmethod
    def of(cls, truth: Truth, rho1: Any = None) -> "Attacker":
        """The attacker who knows the shares of a table."""
        counts = {name: truth.counts(name) for name in truth.sensitive}
        shape = [len(count) for count in counts.values()]
        joint = None
        if math.prod(shape) * max(shape) <= MOST_CELLS:
            codes = [truth.domains[n].encode(truth.table.column(n).combine_chunks(), n) for n in counts]
            cells = np.ravel_multi_index([code.astype(np.int64) for code in codes], shape)
            joint = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
        return cls(list(counts), counts, joint, None if rho1 is None else number(rho1, "rho1"))

    def protected(self, name: str) -> npt.NDArray[np.bool_]:
        """The values whose posterior counts."""
        share = self.counts[name] / self.counts[name].sum()
        rare = share <= (1 if self.rho1 is None else self.rho1)
        return np.asarray(rare if (rare & (share > 0)).any() else np.ones_like(rare))

    @property
    def prior(self) -> float:
        """The largest share of a protected value: what is believed without any release."""
        tops = [(self.counts[n][self.protected(n)].max() / self.counts[n].sum()) for n in self.columns]
        return float(max(tops))

    def demand(self, level: Any) -> float:
        """A posterior that a release can be held to."""
        asked = number(level, "level")
        if not self.prior < asked < 1:
            raise ParameterError(
                f"a posterior of {asked:.4g} cannot be promised: a protected value has a share of {self.prior:.4g} of the table, and is believed "
                f"with that before anything is published; ask for one above it, below 1"
            )
        return asked

    def beliefs(self, plan: Plan) -> Beliefs:
        """What a plan with channels makes of the prior; NaN where rows go through none."""
        if plan.certain_belief is not None:
            return Beliefs(plan.certain_belief, plan.certain_belief, math.inf)
        if plan.odds_factor is not None:
            after = posterior_bound(plan.odds_factor, self.prior)
            return Beliefs(after, math.nan, plan.odds_factor, bound=True)
        if not any(plan.strata):
            return Beliefs(math.nan, math.nan, math.inf)
        factor = self._factor(plan)
        strata = [{n: self._channel(n, coins) for n, coins in stratum.items()} for stratum in plan.strata]
        if len(self.columns) == 1:
            alone = self._one(strata, plan.dealt, factor)
            return alone if plan.crowd == 1 else self._one_of(plan, alone)
        kept = float(np.mean([record_utility(strata[0][n], self.counts[n]) for n in self.columns]))
        if plan.joint is not None:
            return replace(self._kept_together(plan.joint, factor), kept=kept)
        return replace(self._several(strata[0], factor), kept=kept)

    def together(self, channels: Mapping[str, BaseChannel]) -> Beliefs:
        """What several columns of a row, each through its channel, tell of any of them."""
        return self._several(channels, amplification(channels))

    def _factor(self, plan: Plan) -> float:
        if not plan.any_belief:
            return math.inf
        return float(plan.joint.amplification) if plan.joint is not None else amplification(plan.channels[0])

    def _channel(self, name: str, coins: Any) -> BaseChannel:
        own = self.counts[name] / self.counts[name].sum()
        return Channel(coins.retention, own) if coins.own else coins.channel()

    def _one(self, strata: Sequence[Mapping[str, BaseChannel]], planned: Counts | None, factor: float) -> Beliefs:
        (name,) = self.columns
        dealt = planned if planned is not None else self.counts[name][None]
        protected = self.protected(name)
        share = self.counts[name] / self.counts[name].sum()
        worst = np.max([worst_posteriors(c[name], row).largest for c, row in zip(strata, dealt, strict=True)], axis=0)
        seen = protected & (share > 0)
        hits = sum(_best(channel[name], row) for channel, row in zip(strata, dealt, strict=True))
        kept = sum(record_utility(channel[name], row) * row.sum() for channel, row in zip(strata, dealt, strict=True))
        total = float(dealt.sum())
        rise = float((worst[seen] / share[seen]).max())
        return Beliefs(float(worst[seen].max()), hits / total, factor, rise, float(kept / total))

    def _one_of(self, plan: Plan, alone: Beliefs) -> Beliefs:
        """Where the value is that of one of k rows, drawn at random, and the others follow the prior f: f (k - 1) / k + posterior / k."""
        (name,), k = self.columns, plan.crowd
        channel, share = replacement_of(plan.channels[0][name]), self.counts[name] / self.counts[name].sum()
        after = worst_posteriors(channel, share).largest / k + share * (k - 1) / k
        seen = self.protected(name) & (share > 0)
        shown = channel.apply(share)
        hits = np.maximum(
            share * (channel.retention + (1 - channel.retention) * channel.replace) + (k - 1) * shown * share,
            _best_elsewhere(channel, share, shown, k),
        )
        rise = float((after[seen] / share[seen]).max())
        factor = 1 + (alone.factor - 1) / k
        return Beliefs(float(after[seen].max()), float(hits.sum()) / k, factor, rise)

    def _several(self, channels: Mapping[str, BaseChannel], factor: float) -> Beliefs:
        if self.joint is None:
            return Beliefs(posterior_bound(factor, self.prior), math.nan, factor, bound=True)
        joint = self.joint / self.joint.sum()
        seen = _pushed(joint, [channels[n] for n in self.columns])
        largest, guess = 0.0, 0.0
        for axis, name in enumerate(self.columns):
            others = [channels[n] for n in self.columns if n != name]
            by_value = np.stack([_pushed(part, others) for part in np.moveaxis(joint, axis, 0)])
            matrix = channels[name].matrix()  # [published, true]
            both = np.einsum("yx,x...->yx...", matrix, by_value)
            shown = np.moveaxis(seen, axis, 0)[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                after = np.where(shown > 0, both / shown, 0)
            largest = max(largest, float(after[:, self.protected(name)].max()))
            guess = max(guess, float(both.max(axis=1).sum()))
        return Beliefs(largest, guess, factor)

    def _kept_together(self, channel: Channel, factor: float) -> Beliefs:
        """One channel over all combinations: Pr[x_c | y] = (p J[y] [x_c = y_c] + (1-p)/M J_c[x_c]) / (p J[y] + (1-p)/M)."""
        if self.joint is None:
            return Beliefs(posterior_bound(factor, self.prior), math.nan, factor, bound=True)
        joint, p = self.joint / self.joint.sum(), float(channel.retain)
        moved = (1 - p) / channel.size
        largest, guess = 0.0, 0.0
        for axis, name in enumerate(self.columns):
            alone = self.counts[name] / self.counts[name].sum()
            here = np.moveaxis(joint, axis, 0)
            shown = p * here + moved
            shape = (-1, *[1] * (joint.ndim - 1))
            own = p * here + moved * alone.reshape(shape)
            other = moved * largest_other(alone).reshape(shape)
            protected = self.protected(name)
            rest = moved * largest_other(alone * protected).reshape(shape)
            largest = max(largest, float((own / shown)[protected].max()), float((rest / shown).max()))
            guess = max(guess, float(np.maximum(own, other).sum()))
        return Beliefs(largest, guess, factor)


def _best(channel: BaseChannel, counts: Counts) -> float:
    """sum_y max_x n_x P[y, x], at O(m) where values are published."""
    n = counts.astype(np.float64)
    if channel.recoded:
        return float(channel.likeliest(n)[1].sum())
    known = replacement_of(channel)
    p, r = known.retention, known.replace
    return float(np.maximum(n * (p + (1 - p) * r), r * largest_other(n * (1 - p))).sum())


def _best_elsewhere(channel: Channel, share: Tensor, shown: Tensor, k: int) -> Tensor:
    """For each published y the largest f_x (P[y, x] + (k - 1) q_y) over the x that are not y."""
    others = [
        largest_other(share * ((1 - channel.retention) * r + (k - 1) * q))[y]
        for y, (r, q) in enumerate(zip(channel.replace, shown, strict=True))
    ]
    return np.array(others)


def _pushed(table: Tensor, channels: Sequence[BaseChannel]) -> Tensor:
    for axis, channel in enumerate(channels):
        table = np.moveaxis(channel.apply(np.moveaxis(table, axis, 0)), 0, axis)
    return table


def met(release: Release, truth: Truth) -> Beliefs:
    """The same for a release of counted tuples, measured: an attacker looks a person up by the public columns.

    The belief in a value is its share of the published rows that agree with the person's public columns; where there are none, the guess
    is the commonest value of the release.
    """
    if not release.manifest.view.looked_up or len(truth.sensitive) != 1:
        return Beliefs(math.nan, math.nan, math.inf)
    (name,), public = truth.sensitive, list(truth.public)
    tuples = _tallied(release.table(), [*public, name])
    whole = tuples.group_by(public).aggregate([("count_all", "sum"), ("count_all", "max")])
    largest = pc.max(pc.divide(whole.column("count_all_max").cast("float64"), whole.column("count_all_sum")))
    best = (
        tuples.sort_by([("count_all", "descending")]).group_by(public, use_threads=False).aggregate([(name, "first")])
    )
    common = tuples.group_by([name]).aggregate([("count_all", "sum")]).sort_by([("count_all_sum", "descending")])
    people = _tallied(truth.table, [*public, name]).join(best, keys=public, join_type="left outer")
    guessed = pc.fill_null(people.column(f"{name}_first"), common.column(name)[0])
    right = pc.sum(pc.if_else(pc.equal(guessed, people.column(name)), people.column("count_all"), 0)).as_py()
    return Beliefs(float(largest.as_py() or math.nan), right / truth.rows, math.inf)


def _tallied(table: Any, columns: list[str]) -> Any:
    plain = table.select(columns)
    for place, name in enumerate(columns):
        kind = plain.column(name).type
        if hasattr(kind, "value_type"):
            plain = plain.set_column(place, name, plain.column(name).cast(kind.value_type))
    return plain.group_by(columns).aggregate([([], "count_all")])
