"""Noisy counts as a mechanism: which matrix counts the tuples, what it guarantees, and the check of it.

All published columns are alike: a tuple is a row of them, and it is published as often as its noisy count says. The practical
matrix publishes tuples that occur often (k, epsilon, delta); the full one (epsilon) counts every tuple of a declared domain.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from scumble.core.errors import InternalError, ParameterError, SchemaError
from scumble.core.parameters import plain
from scumble.mechanisms.counted_plans import frequent_enough, told_matrix
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix, listed_domain
from scumble.mechanisms.noisy_counts.settings import Settings
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.anonymity import Verdict, check_cells
from scumble.privacy.guarantee import Guarantee, at_most
from scumble.spec.spec import Spec

CHECKED_COUNTS = 10_000
"""Counts up to which conditions b1 to b3 are checked in exact arithmetic, for each plan."""

ONE_TUPLE = "Each person is one tuple: one row of the table, or all the transactions of one user."
NEIGHBOURS = "Neighbours differ by one tuple added or removed; for one tuple replaced by another, epsilon and delta are twice as large."
AGAIN = "The same people are not published again: each publication adds its epsilon and its delta."

NOT_COVERED = [
    "What holds for a group: frequent tuples are meant to be learnt, and may tell about the members of the group.",
    "Tuples that are rare are missing: the published table is no sample, and its share of a group is not the group's.",
]


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
    return CountsPlan(
        "noisy_counts",
        [{}],
        given_total([k_guarantee(columns, matrix.k), dp_guarantee(columns, matrix)], settings.total),
        of_total(settings.total),
        not_covered=list(NOT_COVERED),
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
    return CountsPlan(
        "noisy_counts",
        [{}],
        given_total([full_guarantee(columns, matrix)], settings.total),
        of_total(settings.total),
        not_covered=list(NOT_COVERED[:1]),
        matrix=matrix,
        total=settings.total,
    )


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
    """b3 in every cell of the full matrix, for counts to `upto` and published counts to twice that."""
    return check_cells(
        matrix.probabilities(np.arange(upto + 1)[:, None], np.arange(2 * upto + 1)), 0, matrix.rate, 0.0, slack=1e-9
    )


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


def of_total(total: int | None) -> list[str]:
    """What a published number of rows tells."""
    if total is None:
        return []
    return [
        f"The number of rows, {total:,}, was stated as public knowledge. Where it is not, whoever knows all rows but one learns whether that one is in the table."
    ]


def given_total(guarantees: list[Guarantee], total: int | None) -> list[Guarantee]:
    """The guarantees with the condition that a published number of tuples adds."""
    if total is None:
        return guarantees
    known = f"That there are {total:,} tuples was public before; these guarantees do not cover what it tells."
    return [g.model_copy(update={"conditions": [*g.conditions, known]}) for g in guarantees]


def k_guarantee(columns: list[str], k: int) -> Guarantee:
    """Semantic k-anonymity with epsilon = 0."""
    return Guarantee(
        kind="semantic_k",
        columns=columns,
        statement=f"Semantic {k}-anonymity: each tuple can be removed, or replaced by any of {k - 1} other tuples of the table, without "
        "changing the probability of any outcome.",
        parameters={"k": k},
        conditions=[
            ONE_TUPLE,
            "The recoding of the columns was fixed without looking at the data.",
            "All published attributes are counted; joined with another table of the same people this guarantee is lost.",
        ],
    )


def dp_guarantee(columns: list[str], matrix: NoisyCountMatrix, parts: int = 1, beside: float = 0.0) -> Guarantee:
    """(epsilon, delta) of `parts` tables that one tuple can be in, counted by the same matrix, and `beside` that was spent on their schema."""
    epsilon, delta = parts * matrix.epsilon + beside, parts * matrix.delta
    together = (
        f", from {parts} tables at ({plain(matrix.epsilon)}, {plain(matrix.delta)}) that a tuple can be in"
        if parts > 1
        else ""
    )
    return Guarantee(
        kind="noisy_counts",
        columns=columns,
        statement=f"({plain(epsilon)}, {plain(delta)})-differential privacy for one tuple: the probability of the outcome changes by a factor of at most "
        f"{at_most(math.exp(epsilon))} by adding or removing it, save with probability {plain(delta)}{together}.",
        parameters={
            "k": matrix.k,
            "epsilon": matrix.epsilon,
            "delta": matrix.delta,
            "parts": parts,
            "beside": beside,
            "total_epsilon": epsilon,
            "total_delta": delta,
        },
        conditions=[ONE_TUPLE, NEIGHBOURS, AGAIN],
    )


def full_guarantee(columns: list[str], matrix: ClampedCounts) -> Guarantee:
    """Plain epsilon-differential privacy."""
    _demand(check_full(matrix))
    return Guarantee(
        kind="full_counts",
        columns=columns,
        statement=f"Differential privacy with epsilon = {plain(matrix.rate)}: the probability of any outcome changes by a factor of at most "
        f"{at_most(math.exp(matrix.rate))} by adding or removing one tuple.",
        parameters={"epsilon": matrix.rate},
        conditions=[ONE_TUPLE, NEIGHBOURS, AGAIN, "The domain was declared without looking at the data."],
    )


def _demand(verdict: Verdict) -> None:
    if not verdict.holds:
        raise InternalError(f"the noisy count matrix breaks its promise, {verdict}; please report the parameters")
