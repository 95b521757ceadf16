"""Deterministic generalization and suppression: recode by rules that were fixed before, then suppress what is rare.

Two methods. "suppress" publishes the tuples that occur at least k times, all published attributes counted. "midpoints" publishes every
row as a box of at least k rows, found by halving the declared ranges of all published attributes (`recoding.fixed_midpoints`).
"""

from dataclasses import dataclass, field
from typing import Literal

from scumble.core.errors import ParameterError, SchemaError
from scumble.mechanisms.counted_plans import demand_published
from scumble.mechanisms.k_dgs.settings import Settings
from scumble.mechanisms.k_dgs.terms import terms_of
from scumble.mechanisms.plan import Plan, Profile
from scumble.spec.recoding import demand_k
from scumble.spec.spec import Spec


@dataclass(frozen=True, repr=False)
class CrowdPlan(Plan):
    """How large a crowd is, and how it is made."""

    k: int = field(kw_only=True)
    method: Literal["suppress", "midpoints"] = field(kw_only=True)
    total: int | None = field(kw_only=True)

    @property
    def parameters(self) -> str:
        """The size of a crowd."""
        return f"k = {self.k}"


def plan(profile: Profile, spec: Spec) -> CrowdPlan:
    """Nothing to compute: the recodings are the spec's, and k is too."""
    settings = spec.settings_as(Settings)
    demand_k(settings.k)
    if spec.privacy.given:
        raise ParameterError("k_dgs is given by k in its settings; it has no epsilon, gamma, rho or retention")
    columns = demand_published(spec)
    if settings.method == "midpoints" and settings.total is not None:
        raise ParameterError("total is for what is suppressed, and boxes suppress nothing; leave it out")
    if settings.method == "midpoints":
        _demand_ranges(profile, columns)
    terms = terms_of(columns, settings.k, settings.method == "suppress", settings.total)
    return CrowdPlan(
        "k_dgs",
        [{}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        k=settings.k,
        method=settings.method,
        total=settings.total,
    )


def _demand_ranges(profile: Profile, columns: list[str]) -> None:
    """Boxes are safe where they are over ALL published attributes: a column beside them would be counted by nobody."""
    bare = [name for name in columns if name not in profile.domains or name in profile.from_data]
    if bare:
        raise SchemaError(
            f'method = "midpoints" halves the declared range of every published column, and {bare[0]!r} has none; make it sensitive '
            "and declare low and high (or its values, in an order that means something), or drop it"
        )
