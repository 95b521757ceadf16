"""Noisy counts as a mechanism: which matrix counts the tuples, what it guarantees, and the check of it.

All published columns are alike: a tuple is a row of them, and it is published as often as its noisy count says. The practical
matrix publishes tuples that occur often (k, epsilon, delta); the full one (epsilon) counts every tuple of a declared domain.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scumble.core.errors import ParameterError, SchemaError
from scumble.forms.tuples.record import Full, Practical, TuplesRecord
from scumble.mechanisms.counted_plans import (
    NOT_COVERED,
    demand_epsilon_only,
    demand_published,
    demand_verdict,
    derived_matrix,
    dp_guarantee,
    frequent_enough,
    given_total,
    k_guarantee,
    matrix_text,
    of_total,
    practical,
)
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix, listed_domain
from scumble.mechanisms.noisy_counts.settings import Settings
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.anonymity import Verdict, check_cells
from scumble.privacy.guarantee import Guarantee, clauses
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
    terms = _practical_terms(columns, matrix, settings.total)
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
    terms = _full_terms(columns, matrix, settings.total)
    return CountsPlan(
        "noisy_counts",
        [{}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        matrix=matrix,
        total=settings.total,
    )


def derive(facts: Facts) -> Terms:
    """What follows from the matrix that counts were drawn by, whose conditions are checked anew."""
    record, columns = facts.form_as(TuplesRecord), facts.named("counted")
    facts.demand(record.schema_ is None, "one table, and the manifest has several")
    counting = record.counting
    if isinstance(counting, Full):
        facts.demand(counting.epsilon > 0, "an epsilon, and the manifest has none")
        return _full_terms(columns, ClampedCounts.full(counting.epsilon), record.total)
    facts.demand(isinstance(counting, Practical), "noisy counts from k on, and the manifest has others")
    assert isinstance(counting, Practical)
    matrix = derived_matrix(facts, counting.k, counting.epsilon, counting.delta)
    return _practical_terms(columns, matrix, record.total)


def _practical_terms(columns: list[str], matrix: NoisyCountMatrix, total: int | None) -> Terms:
    practical_terms = [k_guarantee(columns, matrix.k), dp_guarantee(columns, matrix)]
    return Terms(given_total(practical_terms, total), list(NOT_COVERED), of_total(total))


def _full_terms(columns: list[str], matrix: ClampedCounts, total: int | None) -> Terms:
    return Terms(given_total([full_guarantee(columns, matrix)], total), list(NOT_COVERED[:1]), of_total(total))


def check_full(matrix: ClampedCounts, *, upto: int = 300) -> Verdict:
    """b3 in every cell of the full matrix, for counts to `upto` and published counts to twice that.

    Cells whose probability is below e^-700 are left out: doubles lose their digits there, and a ratio of two says nothing.
    """
    most = min(2 * upto, int(700 / matrix.rate))
    counts, published = np.arange(min(upto, most) + 1)[:, None], np.arange(most + 1)
    return check_cells(matrix.probabilities(counts, published), 0, matrix.rate, 0.0, slack=1e-9)


def full_guarantee(columns: list[str], matrix: ClampedCounts) -> Guarantee:
    """Plain epsilon-differential privacy."""
    demand_verdict(check_full(matrix))
    conditions = clauses("one_tuple", "neighbours", "adds_up", "declared_domain")
    return Guarantee(kind="full_counts", columns=columns, parameters={"epsilon": matrix.rate}, conditions=conditions)
