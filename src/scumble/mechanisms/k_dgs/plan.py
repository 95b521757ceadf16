"""Deterministic generalization and suppression: recode by rules that were fixed before, then suppress what is rare.

Two methods. "suppress" publishes the tuples that occur at least k times, all published attributes counted. "midpoints" publishes every
row as a box of at least k rows, found by halving the declared ranges of all published attributes (`recoding.fixed_midpoints`).
"""

from dataclasses import dataclass, field
from typing import Literal

from scumble.core.errors import ParameterError, SchemaError
from scumble.forms.tuples.record import Exact, Midpoints, TuplesRecord
from scumble.mechanisms.counted_plans import NOT_COVERED, demand_published, given_total, k_guarantee, of_total
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.k_dgs.settings import Settings
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.guarantee import clauses
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
    terms = _terms(columns, settings.k, settings.method == "suppress", settings.total)
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


def derive(facts: Facts) -> Terms:
    """What follows from k."""
    record = facts.form_as(TuplesRecord)
    counting, suppressed = record.counting, isinstance(record.counting, Exact)
    exactly = isinstance(counting, Exact | Midpoints) and record.schema_ is None
    facts.demand(exactly, "exact counts in one table, and the manifest has others")
    k = record.k or 0
    facts.demand(k >= 1, "a k, and the manifest has none")
    return _terms(facts.named("counted"), k, suppressed, record.total if suppressed else None)


def _terms(columns: list[str], k: int, suppressed: bool, total: int | None) -> Terms:
    beyond = [*clauses("exact_counts"), NOT_COVERED[0], *(NOT_COVERED[1:] if suppressed else [])]
    return Terms(given_total([k_guarantee(columns, k)], total), beyond, of_total(total))


def _demand_ranges(profile: Profile, columns: list[str]) -> None:
    """Boxes are safe where they are over ALL published attributes: a column beside them would be counted by nobody."""
    bare = [name for name in columns if name not in profile.domains or name in profile.from_data]
    if bare:
        raise SchemaError(
            f'method = "midpoints" halves the declared range of every published column, and {bare[0]!r} has none; make it sensitive '
            "and declare low and high (or its values, in an order that means something), or drop it"
        )
