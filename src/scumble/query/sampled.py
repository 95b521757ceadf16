"""What sampling adds to the variance of an answer, where a group's sample keeps the group's frequencies.

Of a value with c records among n, x = c s/n rounded down or up are in the sample of s (mechanisms/sampling.py), and values are never
positively correlated. With K the number of values that a condition asks for, or leaves out, whichever is smaller,

    Var[records in the sample] <= min(K/4, x)         each counts W = n/s, so a group adds at most W^2 min(K/4, x)

Over groups, sum of W^2 K/4 is K/(4 s) times the sum of W^2 over all sampled rows, and sum of W^2 x has the unbiased estimate sum of
W^2 phi. What is added is the smaller one. Where a perturbed column is summed, V is taken without its part - sum W^2 phi' over sampled
rows: that is sum of W^2 x h^2, the second bound, for numbers h of one sign. For an average R = N/D the same is done to V_N, C and V_D, so that N - R D has
sum of W^2 x (h - R)^2.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.channel import Vector
from scumble.query.cells import Cells
from scumble.query.compile import Question

Tensor = npt.NDArray[np.float64]
Classes = Sequence[tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]


def sampling_share(question: Question, classes: Classes, hits: Tensor, squares: Tensor) -> Tensor:
    """min(K / 4s, sum of W^2 phi / sum of W^2), for each row of the answer.

    hits     sums of W^2 phi over sampled rows
    squares  sums of W^2 over sampled rows
    """
    values = np.zeros(hits.shape[1:])
    for members, truth in classes:
        values[members] = 1 if question.grouped else _values(question, truth)
    with np.errstate(divide="ignore", invalid="ignore"):
        asked = np.where(squares > 0, np.maximum(hits, 0) / squares, 0.0)
    return np.asarray(np.minimum(values / (4 * (question.published.sample or 1)), asked))


def _values(question: Question, truth: npt.NDArray[np.bool_]) -> int:
    """K: how many values of the perturbed column the condition asks for, or leaves out."""
    if not question.others:
        return 0
    sizes = np.bincount(question.others[0].cells, minlength=question.others[0].count)
    inside = np.tensordot(sizes, truth, axes=1)
    return int(np.max(np.minimum(inside, sizes.sum() - inside)))


def score_of_samples(
    value: Vector, first: Vector, second: Vector, extra: Vector, p: float, r: Vector, z: float
) -> tuple[Tensor, Tensor]:
    """The ends of {k : (S - k)^2 <= z^2 V(k)}, which cover better than S +- z se where few sampled rows match.

        V(k) = (second b (1 - b) + q k (a (1 - a) - b (1 - b))) / p^2 + extra,       a = p + (1-p) r,  b = (1-p) r

    where first, second = sums of W and W^2, q = second / first (those who are counted have weights like all others), extra = what
    sampling adds, r = the replacement probability of the set that is counted.
    """
    a, b = p + (1 - p) * r, (1 - p) * r
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(first > 0, second / first, 0.0)
    slope = z * z * weight * (a * (1 - a) - b * (1 - b)) / p**2
    base = z * z * (second * b * (1 - b) / p**2 + extra)
    middle = value + slope / 2
    root = np.sqrt(np.maximum(middle**2 - value**2 + base, 0))
    return middle - root, middle + root


def over_values(cells: Cells, sums: Vector) -> Tensor:
    """Sums over all rows of a public group, whatever their published values and cells, for each row of the answer."""
    total = cells.gather(np.ones(cells.rest), sums).reshape(len(cells.groups), -1).sum(axis=1)
    return np.broadcast_to(total.reshape(-1, *(1,) * len(cells.shape)), (len(cells.groups), *cells.shape))


def whole_groups(cells: Cells) -> Any:
    """1 for the lines of groups that were published whole, 0 for sampled ones."""
    return 1.0 if cells.sampled is None else 1.0 - cells.sampled
