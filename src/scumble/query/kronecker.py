"""A = P_1 (x) ... (x) P_k, never built: as two dense factors, or one axis after the other."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import BaseChannel

Tensor = npt.NDArray[np.float64]


def whole(axes: Sequence[BaseChannel]) -> Tensor:
    """A itself, or the part of it that belongs to some of the axes."""
    whole: Tensor = np.eye(1)
    for channel in axes:
        whole = np.asarray(np.kron(whole, channel.matrix()), dtype=np.float64)
    return whole


class Halves:
    """A as two dense factors: x is a matrix of the shape `behind`, A x = left x right^T one of `shape`."""

    def __init__(self, left: Sequence[BaseChannel], right: Sequence[BaseChannel]) -> None:
        self._left, self._right = whole(left), whole(right)
        self._left_t, self._right_t = np.ascontiguousarray(self._left.T), np.ascontiguousarray(self._right.T)
        self.shape: tuple[int, ...] = (len(self._left), len(self._right))
        self.behind: tuple[int, ...] = (len(self._left_t), len(self._right_t))

    def forward(self, x: Tensor) -> Tensor:
        """A x."""
        product: Tensor = np.dot(np.dot(self._left, x), self._right_t)
        return product

    def back(self, g: Tensor) -> Tensor:
        """A^T g."""
        product: Tensor = np.dot(np.dot(self._left_t, g), self._right)
        return product

    def back_squares(self, g: Tensor) -> Tensor:
        """The squared entries of A, transposed, applied to g."""
        product: Tensor = np.dot(np.dot(self._left_t**2, g), self._right**2)
        return product

    def solve(self, y: Tensor) -> Tensor:
        """A^-1 y."""
        return np.linalg.solve(self._left, np.linalg.solve(self._right, y.T).T)


class Axes:
    """A one axis after the other, each by what its channel does fast."""

    def __init__(self, axes: Sequence[BaseChannel]) -> None:
        self._axes = axes
        self.shape = tuple(channel.codes for channel in axes)
        self.behind = tuple(channel.size for channel in axes)

    def forward(self, x: Tensor) -> Tensor:
        """A x."""
        return self._along(x, [channel.apply for channel in self._axes])

    def back(self, g: Tensor) -> Tensor:
        """A^T g."""
        return self._along(g, [channel.expect for channel in self._axes])

    def back_squares(self, g: Tensor) -> Tensor:
        """The squared entries of A, transposed, applied to g."""
        return self._along(g, [channel.expect_squares for channel in self._axes])

    def solve(self, y: Tensor) -> Tensor:
        """A^-1 y."""
        return self._along(y, [channel.solve for channel in self._axes])

    @staticmethod
    def _along(tensor: Tensor, steps: Sequence[Callable[[Tensor], Tensor]]) -> Tensor:
        for place, step in enumerate(steps):
            tensor = np.moveaxis(step(np.moveaxis(tensor, place, 0)), 0, place)
        return tensor


Operator = Halves | Axes


def operator_of(axes: Sequence[BaseChannel]) -> Operator:
    """Halves of the most equal size, unless one axis after the other is less work."""
    sizes = [channel.codes for channel in axes]
    cut = min(range(1, len(sizes) + 1), key=lambda i: math.prod(sizes[:i]) + math.prod(sizes[i:]))
    work = math.prod(sizes[:cut]) + math.prod(sizes[cut:])
    return Halves(axes[:cut], axes[cut:]) if work <= 64 * len(sizes) else Axes(axes)
