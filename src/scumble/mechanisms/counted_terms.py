"""What counts of tuples promise, by whatever mechanism: made by the plan, and derived again from a manifest by whoever opens a release."""

from functools import lru_cache

import numpy as np

from scumble.core.errors import InternalError
from scumble.mechanisms.facts import Facts
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix
from scumble.privacy.anonymity import Verdict, check_cells
from scumble.privacy.guarantee import Clause, Guarantee, clauses

CHECKED_COUNTS = 10_000
"""Counts up to which conditions b1 to b3 are checked in exact arithmetic, for each plan."""


NOT_COVERED = clauses("frequent_group", "rare_tuples")


@lru_cache(maxsize=64)
def checked(matrix: NoisyCountMatrix) -> Verdict:
    """b1 to b3 for the counts that are checked of each plan."""
    return matrix.check(CHECKED_COUNTS)


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


def dp_guarantee(
    columns: list[str], matrix: NoisyCountMatrix, parts: int = 1, beside: float = 0.0, histogram: float = 0.0
) -> Guarantee:
    """(epsilon, delta) of `parts` tables that one tuple can be in, counted by the same matrix, and what was spent on their schema and on a histogram."""
    return Guarantee(
        kind="noisy_counts",
        columns=columns,
        parameters={
            "k": matrix.k,
            "epsilon": matrix.epsilon,
            "delta": matrix.delta,
            "parts": parts,
            "beside": beside,
            **({"histogram": histogram} if histogram else {}),
            "total_epsilon": parts * matrix.epsilon + beside + histogram,
            "total_delta": parts * matrix.delta,
        },
        conditions=clauses("one_tuple", "neighbours", "adds_up"),
    )


def demand_verdict(verdict: Verdict) -> None:
    """Refuses a matrix that breaks a condition: our own mistake, because its parameters were checked before."""
    if not verdict.holds:
        raise InternalError(f"the noisy count matrix breaks its promise, {verdict}; please report the parameters")


def check_full(matrix: ClampedCounts, *, upto: int = 300) -> Verdict:
    """b3 in every cell of the full matrix, for counts to `upto` and published counts to twice that.

    Cells whose probability is below e^-700 are left out: doubles lose their digits there, and a ratio of two says nothing.
    """
    most = min(2 * upto, int(700 / matrix.rate))
    counts, published = np.arange(min(upto, most) + 1)[:, None], np.arange(most + 1)
    return check_cells(matrix.probabilities(counts, published), 0, matrix.rate, 0.0, slack=1e-9)


def derived_matrix(facts: Facts, k: int, epsilon: float, delta: float) -> NoisyCountMatrix:
    """The practical matrix of a manifest, once conditions b1 to b3 hold for it."""
    facts.demand(bool(k and epsilon and delta), "k, epsilon and delta, and the manifest has not")
    matrix = NoisyCountMatrix(k, epsilon, delta)
    facts.demand(checked(matrix).holds, "a matrix that keeps epsilon and delta, and the manifest's does not")
    return matrix
