"""What noisy counts promise: made by the plan, and derived again from a manifest by whoever opens a release."""

from scumble.forms.tuples.record import Full, Practical, TuplesRecord
from scumble.mechanisms.counted_terms import (
    NOT_COVERED,
    check_full,
    demand_verdict,
    derived_matrix,
    dp_guarantee,
    given_total,
    k_guarantee,
    of_total,
)
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix
from scumble.privacy.guarantee import Guarantee, clauses


def derive(facts: Facts) -> Terms:
    """What follows from the matrix that counts were drawn by, whose conditions are checked anew."""
    record, columns = facts.form_as(TuplesRecord), facts.named("counted")
    facts.demand(record.schema_ is None, "one table, and the manifest has several")
    counting = record.counting
    if isinstance(counting, Full):
        facts.demand(counting.epsilon > 0, "an epsilon, and the manifest has none")
        return full_terms(columns, ClampedCounts.full(counting.epsilon), record.total)
    facts.demand(isinstance(counting, Practical), "noisy counts from k on, and the manifest has others")
    assert isinstance(counting, Practical)
    matrix = derived_matrix(facts, counting.k, counting.epsilon, counting.delta)
    return practical_terms(columns, matrix, record.total)


def practical_terms(columns: list[str], matrix: NoisyCountMatrix, total: int | None) -> Terms:
    """k, and (epsilon, delta)-differential privacy."""
    guarantees = [k_guarantee(columns, matrix.k), dp_guarantee(columns, matrix)]
    return Terms(given_total(guarantees, total), list(NOT_COVERED), of_total(total))


def full_terms(columns: list[str], matrix: ClampedCounts, total: int | None) -> Terms:
    """epsilon-differential privacy."""
    return Terms(given_total([full_guarantee(columns, matrix)], total), list(NOT_COVERED[:1]), of_total(total))


def full_guarantee(columns: list[str], matrix: ClampedCounts) -> Guarantee:
    """Plain epsilon-differential privacy."""
    demand_verdict(check_full(matrix))
    conditions = clauses("one_tuple", "neighbours", "adds_up", "declared_domain")
    return Guarantee(kind="full_counts", columns=columns, parameters={"epsilon": matrix.rate}, conditions=conditions)
