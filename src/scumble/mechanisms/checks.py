"""Whether what a release was made with gives what a guarantee states: every kind of guarantee has a check here that can fail."""

from scumble.core.errors import InternalError
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix
from scumble.mechanisms.noisy_counts.plan import check_full, checked
from scumble.privacy import checks
from scumble.privacy.checks import Check, Strata
from scumble.privacy.guarantee import Guarantee


def holds(stated: Guarantee, strata: Strata) -> bool:
    """Whether the channels, in every stratum, or the count matrix give what is stated."""
    if stated.kind not in CHECKS:
        raise InternalError(f"no check is known for a guarantee of kind {stated.kind!r}")
    return CHECKS[stated.kind](stated, strata)


def _semantic_k(stated: Guarantee, _: Strata) -> bool:
    """Whether there is a k at all: that no rarer tuple was published, the counts of the release show."""
    return stated.parameters["k"] >= 1


def _noisy_counts(stated: Guarantee, _: Strata) -> bool:
    """Whether the matrix of the stated parameters keeps its conditions, and its parts come to no more than the whole."""
    given = stated.parameters
    matrix = NoisyCountMatrix(int(given["k"]), given["epsilon"], given["delta"])
    epsilon = given["parts"] * given["epsilon"] + given["beside"]
    enough = epsilon <= given["total_epsilon"] and given["parts"] * given["delta"] <= given["total_delta"]
    return enough and checked(matrix).holds


def _full_counts(stated: Guarantee, _: Strata) -> bool:
    """Whether the full matrix of the stated epsilon keeps it."""
    return check_full(ClampedCounts.full(stated.parameters["epsilon"])).holds


CHECKS: dict[str, Check] = {
    **checks.CHECKS,
    "full_counts": _full_counts,
    "noisy_counts": _noisy_counts,
    "semantic_k": _semantic_k,
}
