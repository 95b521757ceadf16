"""The (alpha, beta) algorithm (Rastogi, Suciu and Hong, VLDB 2007): a set of tuples, some kept, some made up.

    a tuple of the table is published with probability alpha + beta, any other tuple of the domain with probability beta
    estimate of a count = (published that match - beta * tuples of the domain that match) / alpha

Seeing a tuple multiplies the odds that it is in the table by (alpha + beta) / beta: that is gamma. The table is a set, its domain the
cross product of ALL columns, so that beta times a huge number of tuples is made up, or gamma is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scumble.core.channel import gamma_bound
from scumble.core.draws import below, binomial
from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import number
from scumble.forms.tuple_set.debias import debiased
from scumble.mechanisms.alpha_beta.settings import Settings
from scumble.mechanisms.alpha_beta.terms import terms_of
from scumble.mechanisms.plan import Plan, Profile
from scumble.spec.spec import Spec

Tuples = npt.NDArray[np.int64]


MOST = 50_000_000
"""Tuples that are made up, at most, on average."""


@dataclass(frozen=True, repr=False)
class TupleSetPlan(Plan):
    """How many tuples are kept, and how many are made up."""

    alpha_beta: "AlphaBeta" = field(kw_only=True)


def plan(profile: Profile, spec: Spec) -> TupleSetPlan:
    """alpha and beta from rho1, rho2 and the share that is kept."""
    kept = number(spec.settings_as(Settings).kept, "kept")
    target = spec.privacy
    if target.rho1 is None or target.rho2 is None or len(target.model_dump(exclude_none=True)) != 2:
        raise ParameterError("alpha_beta is given by rho1 and rho2; it has no gamma, epsilon or retention")
    bare = [n for n in spec.published if n not in profile.domains or n in profile.from_data]
    if bare:
        raise SchemaError(
            f"alpha_beta makes up tuples of the whole domain, and {bare[0]!r} has none; make it sensitive and declare its values, or drop it"
        )
    rho1, rho2 = number(target.rho1, "rho1"), number(target.rho2, "rho2")
    made = AlphaBeta.plan([profile.domains[name].size for name in spec.published], rho1, rho2, kept)
    if made.beta * made.size > MOST:
        raise ParameterError(
            f"of {made.size:,} tuples of the domain about {made.beta * made.size:,.0f} would be made up, more than {MOST:,}; declare coarser domains, or keep fewer"
        )
    terms = terms_of(spec.published, made.alpha, made.beta, [(rho1, rho2)])
    return TupleSetPlan("alpha_beta", [{}], terms.guarantees, [], not_covered=terms.not_covered, alpha_beta=made)


@dataclass(frozen=True)
class AlphaBeta:
    """A plan: what is kept, and how much is made up."""

    sizes: tuple[int, ...]
    alpha: float
    beta: float

    @classmethod
    def plan(cls, sizes: Sequence[int], rho1: float, rho2: float, kept: float = 0.5) -> "AlphaBeta":
        """The plan that keeps this share of the tuples and lets no belief up to rho1 that a tuple is in the table pass rho2.

        >>> plan = AlphaBeta.plan([10, 10], 0.1, 0.5)
        >>> round(plan.alpha, 4), round(plan.beta, 4)
        (0.4444, 0.0556)
        """
        if not 0 < kept <= 1:
            raise ParameterError(f"the share of kept tuples lies in (0, 1], not {kept}")
        beta = kept / gamma_bound(rho1, rho2)
        return cls(tuple(sizes), kept - beta, beta)

    @property
    def size(self) -> int:
        """How many tuples the domain has."""
        return int(np.prod(np.array(self.sizes, dtype=object)))

    def publish(self, tuples: Tuples, stream: Stream) -> Tuples:
        """The published tuples, as mixed-radix numbers in increasing order; `tuples` are the table's, without repetition."""
        if len(np.unique(tuples)) != len(tuples):
            raise ParameterError("a tuple occurs twice; the (alpha, beta) algorithm is for sets, so make them distinct")
        keep = int(binomial(stream, len(tuples), self.alpha + self.beta))
        kept = tuples[stream.permutation(len(tuples))[:keep]]
        wanted = int(binomial(stream, self.size - len(tuples), self.beta))
        return np.sort(np.concatenate([kept, _others(tuples, self.size, wanted, stream)]))

    def count(
        self, published: Tuples, matches: Callable[[Tuples], npt.NDArray[np.bool_]], domain: int
    ) -> tuple[float, float]:
        """How many tuples of the table match, with its standard error; `domain` is how many of the domain do."""
        return self.estimate(int(matches(published).sum()), domain)

    def estimate(self, seen: int, domain: float) -> tuple[float, float]:
        """The same from the number of published tuples that match."""
        return debiased(self.alpha, self.beta, seen, domain)


def _others(tuples: Tuples, size: int, wanted: int, stream: Stream) -> Tuples:
    """A uniformly random set of that many tuples of the domain that are not in the table: drawn again where they are."""
    others = np.empty(0, dtype=np.int64)
    while len(others) < wanted:
        drawn = below(stream, np.full(2 * (wanted - len(others)) + 16, size))
        fresh = np.concatenate([others, drawn])
        _, first = np.unique(fresh, return_index=True)
        fresh = fresh[np.sort(first)]
        others = fresh[~np.isin(fresh, tuples)][:wanted]
    return others
