"""What plans of mechanisms that count tuples have in common: what a spec must say, and the matrix of counts, checked."""

from typing import Any

from scumble.core.errors import ParameterError, SchemaError
from scumble.mechanisms.counted_terms import checked, demand_verdict
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix
from scumble.spec.spec import Spec


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


def demand_epsilon_only(spec: Spec) -> Any:
    """The epsilon of a target that says nothing else."""
    target = spec.privacy
    if target.epsilon is None or any(v is not None for v in (target.rho1, target.rho2, target.gamma, target.retain)):
        raise ParameterError(f"{spec.mechanism} is given by epsilon, and by nothing else of [privacy]")
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
