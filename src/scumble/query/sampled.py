"""What sampling adds to the variance of an answer, where a group's sample keeps the group's frequencies.

Of a value with c records among n, x = c s/n rounded down or up are in the sample of s: N of them (mechanisms/sps/sampling.py), each counting
W = n/s. For any numbers g of the values (docs/proofs/reconstruction_privacy.md, section 7)

    Var[sum g N] <= sum of x g^2,               of which the sum of phi' over sampled rows is an unbiased estimate, and
    Var[sum g N] <= 1/4 of the least of sum (g - min g)^2, sum (max g - g)^2, 2 sum (g - mean g)^2,        which is public:

these sums are over all values of the domain, each once. Times W^2 and summed over groups, the first is a sum over sampled rows,
and the second 1/s of it for each sampled row. What is added is the smaller one.
"""

import numpy as np

from scumble.query.compile import Question
from scumble.query.moments import Tensor, quotient


def public_share(question: Question, g: Tensor) -> float:
    """The public bound for each sampled row: g by cell, and by public conditions, of which the worst counts."""
    axis = question.others[0]
    sizes = np.bincount(axis.cells, minlength=axis.count).reshape(-1, *(1,) * (g.ndim - 1))
    mean = (sizes * g).sum(axis=0) / sizes.sum()
    sums = [(sizes * (g - at) ** 2).sum(axis=0) for at in (g.min(axis=0), g.max(axis=0), mean)]
    least = np.minimum(np.minimum(sums[0], sums[1]), 2 * sums[2])
    return float(np.max(least)) / 4 / sample_of(question)


def sample_of(question: Question) -> int:
    """The rows that a sampled group has at least."""
    return question.published.sample or 1


def smaller(public: Tensor | float, estimated: Tensor, squares: Tensor) -> Tensor:
    """The smaller bound as a share of squares, the sum of W^2 over sampled rows.

    public     the public bound for each sampled row
    estimated  the sum of W^2 phi' over sampled rows
    """
    return np.asarray(np.minimum(public, quotient(np.maximum(estimated, 0), squares)))


def of_average(public: Tensor, estimated: Tensor, ratio: Tensor) -> Tensor:
    """What sampling adds to V_N, C and V_D of an average, each bound given as such three: the one that is smaller at this ratio."""
    first, second = (top - 2 * ratio * cross + ratio**2 * bottom for top, cross, bottom in (public, estimated))
    return np.where(first < second, public, np.where(second > 0, estimated, 0.0))
