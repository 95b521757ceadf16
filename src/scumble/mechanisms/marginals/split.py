"""Which marginals are counted, and how they share a budget: functions of the spec alone, so that neither tells of a row.

A count of a marginal with a share e of epsilon has noise of variance 2 r / (1 - r)^2, r = exp(-e), which is about 2 / e^2. Its C cells have C times that.
The sum over all marginals, of C_m / e_m^2 with the sum of e_m fixed, is least where its derivatives are alike:

    2 C_m / e_m^3 = constant      e_m = epsilon C_m^(1/3) / sum of C^(1/3)

Against equal shares the variance of all cells together falls by (mean of C^(1/3))^3 / mean of C: docs/proofs/marginals.md.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations


def pairs(sizes: Mapping[str, int], most: int) -> tuple[list[list[str]], list[list[str]]]:
    """All pairs of columns with so many combinations at most, and columns that are left, by themselves; and the pairs that are too large.

    >>> pairs({"sex": 2, "age": 100, "town": 60}, 1000)
    ([['sex', 'age'], ['sex', 'town']], [['age', 'town']])
    >>> pairs({"sex": 2}, 1000)
    ([['sex']], [])
    """
    every = [[a, b] for a, b in combinations(sizes, 2)]
    kept = [pair for pair in every if math.prod(sizes[name] for name in pair) <= most]
    paired = {name for pair in kept for name in pair}
    return [*kept, *([name] for name in sizes if name not in paired)], [pair for pair in every if pair not in kept]


def shares(cells: Sequence[int], epsilon: float, how: str) -> list[float]:
    """The epsilon of each marginal; all of them together are epsilon.

    >>> shares([8, 64], 1, "cells")
    [0.3333333333333333, 0.6666666666666667]
    >>> shares([8, 64], 1, "equal")
    [0.5, 0.5]
    """
    weights = [count ** (1 / 3) if how == "cells" else 1.0 for count in cells]
    first = [epsilon * weight / math.fsum(weights) for weight in weights[:-1]]
    return [*first, epsilon - math.fsum(first)]
