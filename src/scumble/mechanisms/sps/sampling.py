"""A sample of a group that keeps its frequencies: of c records among n, c s / n rounded down or up.

Value j shall have x_j = c_j s / n records in the sample; the whole part is taken, and the fractional parts u_j / n (whole u_j,
which sum to a multiple of n) are rounded by duels. The open value a meets the next value b:

    u_a + u_b <= n   the winner takes u_a + u_b and goes on, the loser has 0; a wins with probability u_a / (u_a + u_b)
    u_a + u_b >  n   the winner is rounded up, the loser goes on with u_a + u_b - n; a wins with (n - u_b) / (2n - u_a - u_b)

Each duel keeps both means, so every value has the mean x_j exactly. Values of one group are never positively correlated, and
their sum is fixed, so for a set S of values (Srinivasan 2001)

    Var[records of S in the sample] <= sum over j in S of 1/4,       and the same over the values outside S

which is what makes an interval possible that counts sampling too. Systematic sampling has the same means, but sets of values
that lie a period apart come and go together.
"""

from typing import Any

import numpy as np

from scumble.core.draws import Counts, below, group_counts
from scumble.core.entropy import Stream


def rounded_split(stream: Stream, counts: Any, size: Any) -> Counts:
    """A sample of `size` of the records, by value; groups are rows, values columns.

    >>> from scumble.core.entropy import Entropy
    >>> rounded_split(Entropy.seeded(1).stream("doc"), [[600, 300, 100], [1, 2, 0]], [10, 3]).tolist()
    [[6, 3, 1], [1, 2, 0]]
    """
    pool, wanted = group_counts(counts, size)
    total = np.maximum(pool.sum(axis=1), 1)
    sample, parts = np.divmod(pool * wanted[:, np.newaxis], total[:, np.newaxis])
    places = np.arange(len(pool))
    going, open_ = np.zeros(len(pool), dtype=np.int64), np.zeros(len(pool), dtype=np.int64)
    for value in range(pool.shape[1]):
        first, second = open_, parts[:, value]
        both = first + second
        small = both <= total
        bound = np.where(small, both, 2 * total - both)
        wins = below(stream, np.maximum(bound, 1)) < np.where(small, first, total - second)
        winner, loser = np.where(wins, going, value), np.where(wins, value, going)
        full = ~small | (both == total)
        sample[places[full], winner[full]] += 1
        going = np.where(small, winner, loser)
        open_ = np.where(small, both, both - total) * ~(both == total)
    return np.asarray(sample)
