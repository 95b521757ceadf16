"""FRAPP (Agrawal and Haritsa): several sensitive columns as one, with the gamma-diagonal channel over their cross product.

    p = (gamma - 1) / (M - 1 + gamma),        M = m_1 m_2 ... m_k

It keeps whole combinations or none, at a retention that falls with the product of the domains: where M is large against gamma, columns
perturbed apart, each at the k-th root of gamma, keep far more of each (50 x 14 values at gamma = 5: 0.6% against 2.4% and 8.1%). The
guarantee is the same: the odds of anything about the row change by at most gamma.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.domain import Codes
from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError, SchemaError
from scumble.mechanisms.frapp.terms import combinations, terms_of
from scumble.mechanisms.plan import Plan, Profile
from scumble.spec.spec import NoSettings, Spec


@dataclass(frozen=True, repr=False)
class JointPlan(Plan):
    """The coins of all sensitive columns as one."""

    frapp: "Frapp" = field(kw_only=True)

    @property
    def joint(self) -> Channel:
        """The channel over all combinations."""
        return self.frapp.coins.channel()


def plan(profile: Profile, spec: Spec) -> JointPlan:
    """One channel over the cross product of the sensitive columns, for the target of the whole row."""
    spec.settings_as(NoSettings)
    names = list(profile.domains)
    if len(names) < 2:
        raise SchemaError('frapp is for two sensitive columns or more; for one it is mechanism = "uniform"')
    own = [name for name in names if spec.columns[name].privacy is not None]
    if own:
        raise ParameterError(
            f"frapp perturbs all columns as one, so {own[0]!r} has no privacy of its own; leave it out"
        )
    sizes = [profile.domains[name].size for name in names]
    made = Frapp(tuple(sizes), Coins.of(spec.privacy.channel(combinations(sizes))))
    terms = terms_of(names, made.coins, profile.from_data)
    return JointPlan(
        "frapp",
        [dict(zip(names, made.apart, strict=True))],
        terms.guarantees,
        terms.depends_on_data,
        warnings=[f"nothing of {' and '.join(names)} will be published: the retention is 0"] * (made.retention == 0),
        frapp=made,
    )


@dataclass(frozen=True)
class Frapp:
    """A plan: the sizes of the columns, and the coins of their product."""

    sizes: tuple[int, ...]
    coins: Coins

    @classmethod
    def plan(cls, sizes: Sequence[int], gamma: float) -> "Frapp":
        """The gamma-diagonal channel of a product of domains.

        >>> round(Frapp.plan([50, 14], 5).retention, 6)
        0.005682
        """
        return cls(tuple(sizes), Coins.of(Channel.from_gamma(combinations(sizes), gamma)))

    @property
    def apart(self) -> list[Coins]:
        """The coins of each column by itself: kept with the same probability, else one of its values alike.

        M divides 2^bits - T, so each m_i does, and the published retention is exactly the applied one.
        """
        return [replace(self.coins, size=size) for size in self.sizes]

    @property
    def retention(self) -> float:
        """The probability that a combination is kept."""
        return float(self.coins.channel().retain)

    def publish(self, columns: Sequence[Codes], stream: Stream) -> list[Codes]:
        """The published codes of the columns."""
        kind = np.min_scalar_type(self.coins.size - 1)
        whole = np.ravel_multi_index([c.astype(np.int64) for c in columns], self.sizes).astype(kind)
        drawn = np.unravel_index(self.coins.flip(whole, stream).astype(np.int64), self.sizes)
        return [part.astype(column.dtype) for part, column in zip(drawn, columns, strict=True)]

    def count(
        self, published: Sequence[Codes], sets: Sequence[npt.NDArray[np.bool_]], condition: npt.NDArray[np.bool_]
    ) -> tuple[float, float]:
        """How many rows satisfy the public condition and have a value of each column's set, with its standard error.

        w = (h - (1 - p) r) / p,        r = product of the sets' shares of their domains
        """
        inside = condition.copy()
        for column, chosen in zip(published, sets, strict=True):
            inside &= chosen[column]
        p = self.retention
        share = float(np.prod([chosen.mean() for chosen in sets]))
        weights = (inside[condition] - (1 - p) * share) / p
        return float(weights.sum()), float(np.sqrt(max(0.0, float((weights**2 - weights).sum()))))
