"""Perturbed generalization (Tao, Xiao, Li and Zhang, ICDE 2008): perturb the value, generalise to groups of k, publish one row of each.

    estimate of a count = sum over groups of  n_g * overlap(g, condition) * phi(published value)

where n_g is the size of a group, phi are the debias weights of the uniform channel, and the overlap is the part of the group's box that the
condition covers. Over the draw of the row and the coins, n_g phi(published value) is on average how many rows of the group have the value; what is taken for
granted is that a group's rows lie evenly in its box.

The published value y of a group is that of each of its n rows with probability 1/n, perturbed by a channel P whose entries for y are at most gamma apart.
To whoever knows all other rows, a person's value x makes it

    Pr[y | x] = (P(y|x) + S) / n,        S = sum of P(y|.) over the n - 1 others, at least (n - 1) min P(y|.)

so that the odds of anything about x change by at most (gamma + n - 1) / n = 1 + (gamma - 1) / n. Groups follow the public columns alone, and n >= k. A target for the
row is thus met by a channel of gamma' = 1 + k (gamma - 1). The same holds on average over the others, whoever believes what of them, as long as that does not depend
on x. Where it does (a household in one group, known to share one value), S moves with x, and all that is left is gamma': the statements say so.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.domain import Codes
from scumble.core.draws import below
from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import number
from scumble.forms.boxes.record import HIGH, LOW, SIZE
from scumble.mechanisms.perturbed_generalization.mondrian import Ranks, grouped
from scumble.mechanisms.perturbed_generalization.settings import Settings
from scumble.mechanisms.perturbed_generalization.terms import terms_of
from scumble.mechanisms.plan import Plan, Profile
from scumble.spec.spec import Spec, Target


@dataclass(frozen=True, repr=False)
class BoxPlan(Plan):
    """How many rows a group has at least."""

    k: int = field(kw_only=True)

    @property
    def parameters(self) -> str:
        """The size of a group."""
        return f"k = {self.k}"

    @property
    def crowd(self) -> int:
        """The published value is that of one row of a group."""
        return self.k


def plan(profile: Profile, spec: Spec) -> BoxPlan:
    """The channel that meets the target together with the draw of one row in k or more."""
    k = spec.settings_as(Settings).k
    name = _demand_columns(spec)
    target = spec.columns[name].privacy or spec.privacy
    coins = Coins.of(_channel(target, profile.domains[name].size, k))
    asked = [] if target.rho1 is None else [(number(target.rho1, "rho1"), number(target.rho2, "rho2"))]
    terms = terms_of(name, coins, k, asked, profile.from_data)
    return BoxPlan(
        "perturbed_generalization",
        [{name: coins}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        warnings=[f"nothing of {name!r} will be published: its retention is 0"] * (coins.retention == 0),
        k=k,
    )


@dataclass(frozen=True)
class Generalized:
    """A release: the rows of the table group after group, how many each group has, and the published value of each."""

    rows: npt.NDArray[np.intp]
    sizes: npt.NDArray[np.intp]
    value: Codes

    @property
    def begin(self) -> npt.NDArray[np.intp]:
        """Where each group begins in `rows`."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)


def generalize(ranks: Ranks, codes: Codes, coins: Coins, k: int, stream: Stream) -> Generalized:
    """The groups of a table with ranked public columns and a column of true codes.

    Only the value of the row that is drawn goes through its coins: what becomes of the others is not published.
    """
    if len(codes) < k:
        raise ParameterError(f"the table has {len(codes):,} rows, and a group has k = {k:,} or more; take a smaller k")
    rows, sizes = grouped(ranks, k)
    chosen = rows[np.cumsum(sizes) - sizes + below(stream, sizes)]
    return Generalized(rows, sizes, coins.flip(codes[chosen], stream))


def _demand_columns(spec: Spec) -> str:
    if len(spec.sensitive) != 1:
        raise SchemaError(
            f"perturbed_generalization is for one sensitive column, not for {len(spec.sensitive)}; drop or publish the others"
        )
    names = [name.lower() for name in spec.published]
    added = [SIZE, *(name.lower() + end for name in spec.published if name != spec.sensitive[0] for end in (LOW, HIGH))]
    clash = next((name for name in spec.published if name.lower() in added), None)
    if clash is not None:
        raise SchemaError(
            f"column {clash!r} has the name of a column that perturbed_generalization adds; rename or drop it"
        )
    if len(names) < 2:
        raise SchemaError(
            "perturbed_generalization makes groups by public columns, and there are none; make a column public"
        )
    return spec.sensitive[0]


def _channel(target: Target, size: int, k: int) -> Channel:
    if target.retain is not None:
        return target.channel(size)
    target.channel(size)  # refuses what cannot be met in the words of the target
    return Channel.from_gamma(size, 1 + k * (target.factor() - 1))
