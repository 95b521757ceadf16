"""Coins that were thrown anew for some people, where most have keyed ones: of whom a second look tells what the first one did not.

With keyed coins whoever is published differently has another true value than before, and nothing is known of how people change. But whoever changed gets coins of his own
for the new value, so that two things hold, however many changed and to what. Of those whose first published value y is not the true one, x, and whose second one is
another value again, at most

    r_x / (1 - r_y)

have x as the second one (reached where the new value is y itself): a redrawn value hits it by chance only. Fresh coins keep x with probability p. And a person's first coin says
nothing of whether he changes: among people of one true value, those whose first value was false are published differently no more often than those whose first value was true. With fresh coins they
are so far more often; this sees columns of two values too.

Without the raw table a person with fresh coins cannot be told from one who changed.
"""

import numpy as np
import numpy.typing as npt

from scumble.auditing.evidence.column_law import ColumnLaw
from scumble.auditing.evidence.parts import HitCount, Judged, worst
from scumble.auditing.evidence.publication import Codes

Flags = npt.NDArray[np.bool_]


def renewed(law: ColumnLaw, truth: Codes, first: Codes, second: Codes, error: float) -> Judged | None:
    """Both signs of fresh coins, among linked people of whom the true values at the first publication are known."""
    false, changed = first != truth, first != second
    if not changed.any():
        return None
    return worst(_second_is_true(law, truth, first, second, false & changed), [_oftener(truth, false, changed)], error)


def _second_is_true(law: ColumnLaw, truth: Codes, first: Codes, second: Codes, chosen: Flags) -> HitCount:
    """How often the second value is the true one."""
    draw = law.draw[0]
    x, y = truth[chosen], first[chosen]
    chance = np.minimum(draw[x] / np.maximum(1 - draw[y], 1e-300), 1)
    hits = float((second[chosen] == x).sum())
    words = "people whose first published value was false and whose second one is another have the true one there"
    return HitCount.of_chances(hits, chance, words)


def _oftener(truth: Codes, false: Flags, changed: Flags) -> HitCount:
    """How many of those who are published differently had a false value first: hypergeometric among the people of each true value, at most."""
    people, lied, moved, both = (
        np.bincount(truth, weights=weights).astype(np.float64)
        for weights in (np.ones(len(truth)), false, changed, false & changed)
    )
    mean = lied * moved / np.maximum(people, 1)
    variance = mean * (people - lied) * (people - moved) / np.maximum(people * (people - 1), 1)
    words = "people who are published differently had a false value first"
    return HitCount(float(both.sum()), float(mean.sum()), float(variance.sum()), float(moved.sum()), of=words)
