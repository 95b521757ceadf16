"""Estimates of groups that add up to what the whole is said to be.

Of all changes that make them do so the one is taken that is smallest beside the mean squared errors: a sum that falls short by d gives each group
d MSE_g / sum of MSE. Where the lines of a group have to add up, too, both are done in turn, which ends at what agrees with both.
"""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

TURNS = 1000
"""At most; each makes what is left smaller by a factor."""
CLOSE = 1e-10
"""In parts of the whole, when both sums agree."""


def benchmarked(counts: Numbers, errors: Numbers, of_family: Numbers, of_group: Numbers | None) -> Numbers:
    """Families by groups, with the sums of families, and of groups where these are known.

    >>> benchmarked(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([5.0, 7.0]), None)
    array([[2., 3.],
           [3., 4.]])
    """
    for _ in range(TURNS):
        if of_group is not None:
            counts = counts + _shared(errors, axis=0) * (of_group - counts.sum(axis=0))
        short = of_family - counts.sum(axis=1)
        counts = counts + shares(errors) * short[:, None]
        if of_group is None or np.abs(of_group - counts.sum(axis=0)).max() <= CLOSE * np.abs(of_group).max():
            break
    return counts


def shares(errors: Numbers) -> Numbers:
    """How much of what a family falls short by each group gets."""
    return _shared(errors, axis=1)


def _shared(errors: Numbers, axis: int) -> Numbers:
    total = np.broadcast_to(errors.sum(axis=axis, keepdims=True), errors.shape)
    return np.asarray(np.divide(errors, total, out=np.zeros_like(errors), where=total > 0))
