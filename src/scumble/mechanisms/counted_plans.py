"""What plans that count tuples say of themselves."""

from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix


def told_matrix(matrix: NoisyCountMatrix | ClampedCounts) -> str:
    """The smallest crowd that is published, and the budget of the counts."""
    if isinstance(matrix, ClampedCounts):
        return f"epsilon = {float(matrix.rate):.3g}"
    return f"k = {matrix.k}, epsilon = {float(matrix.epsilon):.3g}"


def frequent_enough(matrix: NoisyCountMatrix | ClampedCounts) -> list[str]:
    """How frequent a tuple has to be to be published."""
    if not isinstance(matrix, NoisyCountMatrix):
        return []
    frequent = [matrix.published_from(chance) for chance in (0.01, 0.5, 0.99)]
    told = ", ".join(f"{share} from {f:,}" for share, f in zip(("1%", "50%", "99%"), frequent, strict=True))
    return [f"a tuple is published with a probability of {told} people on, and never below {matrix.k}"]
