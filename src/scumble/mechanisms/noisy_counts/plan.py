"""Noisy counts as a mechanism: which matrix counts the tuples, what it guarantees, and the check of it.

All published columns are alike: a tuple is a row of them, and it is published as often as its noisy count says. The practical
matrix publishes tuples that occur often (k, epsilon, delta); the full one (epsilon) counts every tuple of a declared domain.
"""

from dataclasses import dataclass, field
from typing import Any

from scumble.core.errors import ParameterError, SchemaError
from scumble.mechanisms.counted_plans import (
    demand_epsilon_only,
    demand_published,
    frequent_enough,
    matrix_text,
    practical,
)
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix, listed_domain
from scumble.mechanisms.noisy_counts.settings import Settings
from scumble.mechanisms.noisy_counts.terms import full_terms, practical_terms
from scumble.mechanisms.plan import Plan, Profile
from scumble.spec.spec import Spec


@dataclass(frozen=True, repr=False)
class CountsPlan(Plan):
    """The matrix that tuples are counted by."""

    matrix: NoisyCountMatrix | ClampedCounts = field(kw_only=True)
    total: int | None = field(kw_only=True)

    @property
    def parameters(self) -> str:
        """The smallest crowd, and the budget."""
        return matrix_text(self.matrix)

    @property
    def remarks(self) -> list[str]:
        """How frequent a tuple has to be to be published."""
        return frequent_enough(self.matrix)


def plan(profile: Profile, spec: Spec) -> CountsPlan:
    """The matrix that the spec asks for, checked."""
    settings = spec.settings_as(Settings)
    epsilon = demand_epsilon_only(spec)
    columns = demand_published(spec)
    if settings.matrix == "full":
        return _full_plan(profile, settings, epsilon, columns)
    matrix = practical(spec, settings.k, epsilon, settings.delta)
    terms = practical_terms(columns, matrix, settings.total)
    return CountsPlan(
        "noisy_counts",
        [{}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        matrix=matrix,
        total=settings.total,
    )


def _full_plan(profile: Profile, settings: Settings, epsilon: Any, columns: list[str]) -> CountsPlan:
    if settings.k is not None or settings.delta is not None:
        raise ParameterError("the full matrix has neither k nor delta; leave them out, or use the practical matrix")
    bare = [name for name in columns if name not in profile.domains or name in profile.from_data]
    if bare:
        raise SchemaError(
            f"the full matrix counts every tuple of a declared domain, and {bare[0]!r} has none; "
            "make it sensitive and declare its values, or use the practical matrix with k and delta"
        )
    listed_domain(profile.domains[name].size for name in columns)
    matrix = ClampedCounts.full(epsilon)
    terms = full_terms(columns, matrix, settings.total)
    return CountsPlan(
        "noisy_counts",
        [{}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        matrix=matrix,
        total=settings.total,
    )
