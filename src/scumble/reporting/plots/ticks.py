"""Where a logarithmic axis has its lines."""

from collections.abc import Sequence


def ticks(numbers: Sequence[float]) -> list[float]:
    """Powers of ten and their halves within the numbers; a logarithmic axis of its own has lines at every step."""
    low, high = min(numbers), max(numbers)
    steps = [digit * 10.0**power for power in range(-7, 4) for digit in (1, 5)]
    inside = [step for step in steps if low * 0.999 <= step <= high * 1.001]
    return inside if len(inside) < 8 else inside[::2]
