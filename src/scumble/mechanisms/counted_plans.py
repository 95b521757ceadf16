"""What mechanisms that count tuples have in common: the matrix of counts, checked, and the terms that follow from it."""

from functools import lru_cache
from typing import Any

from scumble.core.errors import InternalError, ParameterError, SchemaError
from scumble.mechanisms.facts import Facts
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix
from scumble.privacy.anonymity import Verdict
from scumble.privacy.guarantee import Clause, Guarantee, clauses
from scumble.spec.spec import Spec

CHECKED_COUNTS = 10_000
"""Counts up to which conditions b1 to b3 are checked in exact arithmetic, for each plan."""

NOT_COVERED = clauses("frequent_group", "rare_tuples")


def practical(spec: Spec, k: int | None, epsilon: Any, delta: Any) -> NoisyCountMatrix:
    """The practical matrix, once conditions b1 to b3 hold for it."""
    missing = [name for name, value in (("k", k), ("delta", delta)) if value is None]
    if missing or k is None:
        raise ParameterError(
            f"{spec.mechanism} needs {' and '.join(missing)} in its settings, such as k = 10 and delta = 1e-5"
        )
    matrix = NoisyCountMatrix(k, epsilon, delta)
    demand_verdict(checked(matrix))
    return matrix


@lru_cache(maxsize=64)
def checked(matrix: NoisyCountMatrix) -> Verdict:
    """b1 to b3 for the counts that are checked of each plan."""
    return matrix.check(CHECKED_COUNTS)


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


def demand_verdict(verdict: Verdict) -> None:
    """Refuses a matrix that breaks a condition: our own mistake, because its parameters were checked before."""
    if not verdict.holds:
        raise InternalError(f"the noisy count matrix breaks its promise, {verdict}; please report the parameters")


def derived_matrix(facts: Facts, k: int, epsilon: float, delta: float) -> NoisyCountMatrix:
    """The practical matrix of a manifest, once conditions b1 to b3 hold for it."""
    facts.demand(bool(k and epsilon and delta), "k, epsilon and delta, and the manifest has not")
    matrix = NoisyCountMatrix(k, epsilon, delta)
    facts.demand(checked(matrix).holds, "a matrix that keeps epsilon and delta, and the manifest's does not")
    return matrix


def matrix_text(matrix: NoisyCountMatrix | ClampedCounts) -> str:
    """The smallest crowd that is published, and the budget of the counts."""
    if isinstance(matrix, ClampedCounts):
        return f"epsilon = {float(matrix.rate):.3g}"
    return f"k = {matrix.k}, epsilon = {float(matrix.epsilon):.3g}"


def frequent_enough(matrix: NoisyCountMatrix | ClampedCounts) -> list[str]:
    """How frequent a tuple has to be to be published."""
    if not isinstance(matrix, NoisyCountMatrix):
        return []
    frequent = [matrix.published_from(chance) for chance in (0.01, 0.5, 0.99)]
    sentence = ", ".join(f"{share} from {f:,}" for share, f in zip(("1%", "50%", "99%"), frequent, strict=True))
    return [f"a tuple is published with a probability of {sentence} people on, and never below {matrix.k}"]
