"""Sums over shifts of a set of places of a circle: what channels are made of that publish y = (x + d) mod K.

With D a set of k places of Z_K, a code y has the block {y - d : d in D}, and a place x is held by the codes {x + d : d in D}. All sums over
blocks, and over codes that hold a place, are correlations with D: by the fast Fourier transform in O(K log K).

where K = `codes`, D = `offsets`.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import Places, Vector
from scumble.core.once import once

Spectrum = npt.NDArray[np.complex128]
Fits = Callable[[int, Places], npt.NDArray[np.bool_]]
"""Which of some places, or codes, go with one of the others."""


class Circle:
    """A set of places of a circle, and its shifts.

    >>> circle = Circle(7, np.array([0, 1, 3]))
    >>> circle.forward(np.eye(7)[0]).round(9).astype(int).tolist()
    [1, 1, 0, 1, 0, 0, 0]
    """

    def __init__(self, codes: int, offsets: Places) -> None:
        self.codes = codes
        self.offsets = offsets

    @once
    def marked(self) -> npt.NDArray[np.bool_]:
        """Which places are in the set."""
        marked = np.zeros(self.codes, dtype=np.bool_)
        marked[self.offsets] = True
        return marked

    @once
    def _spectrum(self) -> Spectrum:
        return np.asarray(np.fft.rfft(self.marked.astype(np.float64)))

    def forward(self, by_place: Vector) -> Vector:
        """sum over d in D of h(y - d), for each code y; further dimensions are separate functions."""
        return self._turned(by_place, self._spectrum)

    def back(self, by_code: Vector) -> Vector:
        """sum over d in D of g(x + d), for each place x."""
        return self._turned(by_code, self._spectrum.conj())

    def _turned(self, values: Vector, by: Spectrum) -> Vector:
        shape = (-1, *(1,) * (values.ndim - 1))
        return np.fft.irfft(np.fft.rfft(values, axis=0) * by.reshape(shape), self.codes, axis=0)

    def holds(self, codes: Places, places: Places) -> npt.NDArray[np.bool_]:
        """Whether the blocks of codes hold places, pair by pair."""
        return np.asarray(
            self.marked[(np.asarray(codes, dtype=np.int64) - np.asarray(places, dtype=np.int64)) % self.codes]
        )

    def block(self, code: int) -> Places:
        """The places that a code stands for."""
        return np.sort((code - self.offsets) % self.codes)

    def first(self, order: Places, *, inside: bool) -> Places:
        """For each place the first of some codes that holds it, or that does not; -1 where there is none.

        A difference set holds a place with a fixed share of all codes, so that a few of them settle nearly all places.
        """
        if inside and len(self.offsets) == 1 and len(order) == self.codes:
            return np.asarray((np.arange(self.codes) + self.offsets[0]) % self.codes)
        return self._settled(order, lambda code, places: self.marked[(code - places) % self.codes] == inside)

    def first_held(self, order: Places, *, inside: bool) -> Places:
        """For each code the first of some places that its block holds, or does not; -1 where there is none."""
        if inside and len(self.offsets) == 1 and len(order) == self.codes:
            return np.asarray((np.arange(self.codes) - self.offsets[0]) % self.codes)
        return self._settled(order, lambda place, codes: self.marked[(codes - place) % self.codes] == inside)

    def extremes(self, by_code: Vector, gamma: float) -> tuple[Vector, Vector]:
        """For each place the largest and the smallest of numbers, each times gamma where its code holds the place."""
        rising = np.argsort(by_code, kind="stable")
        of = np.append(by_code, np.nan)  # -1 is none, which fmax and fmin leave out
        held = [of[self.first(order, inside=True)] for order in (rising[::-1], rising)]
        other = [of[self.first(order, inside=False)] for order in (rising[::-1], rising)]
        return np.fmax(gamma * held[0], other[0]), np.fmin(gamma * held[1], other[1])

    def likeliest(self, by_place: Vector, gamma: float) -> tuple[Places, Vector]:
        """For each code the place of the largest number, each times gamma where the code holds the place, and that number."""
        falling, of = np.argsort(-by_place, kind="stable"), np.append(by_place, -np.inf)
        held, other = (self.first_held(falling, inside=inside) for inside in (True, False))
        return np.where(gamma * of[held] >= of[other], held, other), np.fmax(gamma * of[held], of[other])

    def _settled(self, order: Places, fits: Fits) -> Places:
        settled, open_ = np.full(self.codes, -1, dtype=np.intp), np.arange(self.codes)
        for one in order:
            now = fits(int(one), open_)
            settled[open_[now]] = one
            open_ = open_[~now]
            if not len(open_):
                break
        return settled
