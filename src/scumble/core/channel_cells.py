"""A channel between cells: sets of values that a question treats alike, and sets of codes that have the same weights for it.

Of a function h that is one number on each cell the weights are exact. What a row becomes differs a little between the values of a cell
where codes stand for sets; `apply` and `expect` take the mean over them, each alike, and are exact where each cell is one value.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from scumble.core.channel_base import BaseChannel, Flags, Pair, Places, Vector
from scumble.core.errors import InternalError


class CellChannel(BaseChannel):
    """Weights and means as two matrices, a row for each cell of codes and a column for each cell of values."""

    def __init__(self, weights: Vector, means: Vector, amplification: float, pair: Callable[[Flags], Pair | None]):
        self.size = weights.shape[1]
        self._weights = weights
        self._means = means
        self._amplification = amplification
        self._pair = pair

    @property
    def codes(self) -> int:
        """How many cells of codes there are."""
        return len(self._weights)

    @property
    def amplification(self) -> float:
        """A bound: that of the channel between values."""
        return self._amplification

    def apply(self, counts: Any) -> Vector:
        """P x."""
        return np.tensordot(self._means, self.demand(counts, self.size, "cell"), axes=1)

    def expect(self, g: Any) -> Vector:
        """P^T g."""
        return np.tensordot(self._means.T, self.demand(g, self.codes, "cell of codes"), axes=1)

    def expect_squares(self, g: Any) -> Vector:
        """The same with squares."""
        return np.tensordot(self._means.T**2, self.demand(g, self.codes, "cell of codes"), axes=1)

    def weights(self, h: Any) -> Vector:
        """The debias weights of a function of cells."""
        return np.tensordot(self._weights, self.demand(h, self.size, "cell"), axes=1)

    def solve(self, counts: Any) -> Vector:
        """Of each cell the sum of its weights."""
        return np.tensordot(self._weights.T, self.demand(counts, self.codes, "cell of codes"), axes=1)

    def solve_squares(self, counts: Any) -> Vector:
        """The same with squares."""
        return np.tensordot(self._weights.T**2, self.demand(counts, self.codes, "cell of codes"), axes=1)

    def matches(self, counts: Any) -> Vector:
        """Codes look like a cell where they weigh more than half for it."""
        return np.tensordot((self._weights.T > 0.5) * 1.0, self.demand(counts, self.codes, "cell of codes"), axes=1)

    def likelihood(self, codes: Places, values: Places) -> Vector:
        """Of the mean law."""
        return np.asarray(self._means[codes, values])

    def singular_values(self) -> Vector:
        """Of the mean law."""
        return np.asarray(np.linalg.svd(self._means, compute_uv=False))

    def extremes(self) -> tuple[Vector, Vector]:
        """Of the mean law."""
        return self._means.min(axis=1), self._means.max(axis=1)

    def pair(self, inside: Flags) -> Pair | None:
        """Of a set of cells."""
        return self._pair(inside)

    @property
    def against_others(self) -> tuple[float, Vector] | None:
        """Cells of several values have no such numbers."""
        return None

    def collapse(self, cells: Places, count: int) -> BaseChannel:
        """Cells are made once, of values; each by itself they are what they are."""
        if np.array_equal(cells, np.arange(self.size)):
            return self
        raise InternalError("cells are made of the values of a channel, not of its cells")

    def places(self, cells: Places, count: int) -> Places:
        """Cells are made once, of values."""
        raise InternalError("cells are made of the values of a channel, not of its cells")
