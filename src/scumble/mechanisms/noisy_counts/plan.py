"""Noisy counts as a mechanism: which matrix counts the tuples, what it guarantees, and the check of it.

All published columns are alike: a tuple is a row of them, and it is published as often as its noisy count says. The practical
matrix publishes tuples that occur often (k, epsilon, delta); the full one (epsilon) counts every tuple of a declared domain.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from scumble.core.errors import InternalError, ParameterError, SchemaError
from scumble.forms.tuples.record import Counting, Full, Practical, TuplesRecord
from scumble.mechanisms.counted_plans import frequent_enough, told_matrix
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix, listed_domain
from scumble.mechanisms.noisy_counts.settings import Settings
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.anonymity import Verdict, check_cells
from scumble.privacy.guarantee import Clause, Guarantee, clauses
from scumble.spec.spec import Spec

CHECKED_COUNTS = 10_000
"""Counts up to which conditions b1 to b3 are checked in exact arithmetic, for each plan."""

NOT_COVERED = clauses("frequent_group", "rare_tuples")


@dataclass(frozen=True, repr=False)
class CountsPlan(Plan):
    """The matrix that tuples are counted by."""

    matrix: NoisyCountMatrix | ClampedCounts = field(kw_only=True)
    total: int | None = field(kw_only=True)

    @property
    def parameters(self) -> str:
        """The smallest crowd, and the budget."""
        return told_matrix(self.matrix)

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
    return _practical_terms(columns, derived_matrix(facts, counting), record.total)


def derived_matrix(facts: Facts, counting: Counting) -> NoisyCountMatrix:
    """The practical matrix of a manifest, once conditions b1 to b3 hold for it."""
    facts.demand(isinstance(counting, Practical), "noisy counts from k on, and the manifest has others")
    assert isinstance(counting, Practical)
    facts.demand(
        bool(counting.k and counting.epsilon and counting.delta), "k, epsilon and delta, and the manifest has not"
    )
    matrix = NoisyCountMatrix(counting.k, counting.epsilon, counting.delta)
    facts.demand(checked(matrix).holds, "a matrix that keeps epsilon and delta, and the manifest's does not")
    return matrix


def _practical_terms(columns: list[str], matrix: NoisyCountMatrix, total: int | None) -> Terms:
    found = [k_guarantee(columns, matrix.k), dp_guarantee(columns, matrix)]
    return Terms(given_total(found, total), list(NOT_COVERED), of_total(total))


def _full_terms(columns: list[str], matrix: ClampedCounts, total: int | None) -> Terms:
    return Terms(given_total([full_guarantee(columns, matrix)], total), list(NOT_COVERED[:1]), of_total(total))


def practical(spec: Spec, k: int | None, epsilon: Any, delta: Any) -> NoisyCountMatrix:
    """The practical matrix, once conditions b1 to b3 hold for it."""
    missing = [name for name, value in (("k", k), ("delta", delta)) if value is None]
    if missing or k is None:
        raise ParameterError(
            f"{spec.mechanism} needs {' and '.join(missing)} in its settings, such as k = 10 and delta = 1e-5"
        )
    matrix = NoisyCountMatrix(k, epsilon, delta)
    _demand(checked(matrix))
    return matrix


@lru_cache(maxsize=64)
def checked(matrix: NoisyCountMatrix) -> Verdict:
    """b1 to b3 for the counts that are checked of each plan."""
    return matrix.check(CHECKED_COUNTS)


def check_full(matrix: ClampedCounts, *, upto: int = 300) -> Verdict:
    """b3 in every cell of the full matrix, for counts to `upto` and published counts to twice that.

    Cells whose probability is below e^-700 are left out: doubles lose their digits there, and a ratio of two says nothing.
    """
    most = min(2 * upto, int(700 / matrix.rate))
    counts, published = np.arange(min(upto, most) + 1)[:, None], np.arange(most + 1)
    return check_cells(matrix.probabilities(counts, published), 0, matrix.rate, 0.0, slack=1e-9)


def demand_epsilon_only(spec: Spec) -> Any:
    """The epsilon of a target that says nothing else."""
    target = spec.privacy
    if target.epsilon is None or any(v is not None for v in (target.rho1, target.rho2, target.gamma, target.retain)):
        raise ParameterError(f"{spec.mechanism} is given by epsilon (and k and delta in its settings), by nothing else")
    return target.epsilon


def demand_published(spec: Spec) -> list[str]:
    """The published columns, none of which has a target of its own."""
    for name in spec.published:
        if spec.columns[name].privacy is not None:
            raise SchemaError(
                f"column {name!r} has a privacy target of its own; {spec.mechanism} treats all columns alike"
            )
    if not spec.published:
        raise SchemaError("no column is published; name one that is public or sensitive")
    return spec.published


def of_total(total: int | None) -> list[Clause]:
    """What a published number of rows tells."""
    return [] if total is None else [Clause(code="stated_total", parameters={"total": total})]


def given_total(guarantees: list[Guarantee], total: int | None) -> list[Guarantee]:
    """The guarantees with the condition that a published number of tuples adds."""
    if total is None:
        return guarantees
    known = Clause(code="known_total", parameters={"total": total})
    return [g.model_copy(update={"conditions": [*g.conditions, known]}) for g in guarantees]


def k_guarantee(columns: list[str], k: int) -> Guarantee:
    """Semantic k-anonymity with epsilon = 0."""
    conditions = clauses("one_tuple", "fixed_recoding", "all_counted")
    return Guarantee(kind="semantic_k", columns=columns, parameters={"k": k}, conditions=conditions)


def dp_guarantee(columns: list[str], matrix: NoisyCountMatrix, parts: int = 1, beside: float = 0.0) -> Guarantee:
    """(epsilon, delta) of `parts` tables that one tuple can be in, counted by the same matrix, and `beside` that was spent on their schema."""
    return Guarantee(
        kind="noisy_counts",
        columns=columns,
        parameters={
            "k": matrix.k,
            "epsilon": matrix.epsilon,
            "delta": matrix.delta,
            "parts": parts,
            "beside": beside,
            "total_epsilon": parts * matrix.epsilon + beside,
            "total_delta": parts * matrix.delta,
        },
        conditions=clauses("one_tuple", "neighbours", "adds_up"),
    )


def full_guarantee(columns: list[str], matrix: ClampedCounts) -> Guarantee:
    """Plain epsilon-differential privacy."""
    _demand(check_full(matrix))
    conditions = clauses("one_tuple", "neighbours", "adds_up", "declared_domain")
    return Guarantee(kind="full_counts", columns=columns, parameters={"epsilon": matrix.rate}, conditions=conditions)


def _demand(verdict: Verdict) -> None:
    if not verdict.holds:
        raise InternalError(f"the noisy count matrix breaks its promise, {verdict}; please report the parameters")
