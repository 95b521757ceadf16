"""Scores in an order, against their places and against each other: do they rise or fall, have they a period, do those at some distance agree?

    places      sum_i a_i s_i           for a line a, and for cosine and sine of every frequency
    distances   sum_i s_i t_(i+d)       for every distance d, of one series with itself or of two with each other

All of them by Fourier transforms. Given what came before, each term has mean 0, is at most 1 either way, and has a known variance, so that the bound of a fair game holds (`tails.betting`).
A place of which nobody's score is known has score and variance 0, and adds nothing.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft

from scumble.auditing.evidence.publication import Codes
from scumble.auditing.evidence.signs import Sign
from scumble.auditing.evidence.tails import Numbers, betting

LONGEST = 1 << 20
"""Places that are looked at, from the first on."""


class Series:
    """Scores at places of an order, with their variances, and the transforms of both."""

    def __init__(self, value: Numbers, variance: Numbers, place: Codes, length: int) -> None:
        self.length = min(length, LONGEST)
        inside = place < self.length
        self.value, self.variance = np.zeros(self.length), np.zeros(self.length)
        self.value[place[inside]], self.variance[place[inside]] = value[inside], variance[inside]
        self.size = next_fast_len(2 * self.length, real=True)
        self.waves: npt.NDArray[np.complex128] = rfft(self.value, self.size)
        self.spreads: npt.NDArray[np.complex128] = rfft(self.variance, self.size)

    def by_place(self) -> list[Sign]:
        """Against the places."""
        line = np.linspace(-1, 1, self.length)
        trend = np.array([line @ self.value]), np.array([line**2 @ self.variance])
        count = self.size // 2
        twice = 2 * np.arange(1, count + 1)
        spread, total = self.spreads.real[np.minimum(twice, self.size - twice)], self.variance.sum()
        waves = self.waves[1 : count + 1]
        sums = np.concatenate([waves.real, waves.imag])
        variances = np.concatenate([total + spread, total - spread]) / 2

        def period(k: int) -> str:
            return f"has a period of {self.size / (k % count + 1):.4g} rows"

        return [self._worst(*trend, lambda _: "rises or falls along the rows"), self._worst(sums, variances, period)]

    def by_distance(self, other: "Series | None" = None) -> Sign:
        """Against the scores at every distance: its own, or those of another series over the same places, which is independent of this one."""
        second = self if other is None else other
        squares = rfft(self.value**2, self.size)
        sums = irfft(self.waves.conj() * second.waves, self.size)
        variances = irfft(squares.conj() * second.spreads, self.size)
        distance = np.arange(1, self.length)
        if other is not None:
            distance = np.concatenate([[0], distance, self.size - distance])

        def named(k: int) -> str:
            steps = int(distance[k])
            away = min(steps, self.size - steps)
            return f"goes with that of {f'the row {away:,} rows away' if away else 'the same row'}"

        return self._worst(sums[distance], variances[distance], named)

    def _worst(self, sums: Numbers, variances: Numbers, named: Callable[[int], str]) -> Sign:
        if not len(sums):
            return Sign(0.0, 0.0, 0.0, "nothing")
        log_p = betting(sums, np.maximum(variances, 0))
        at = int(log_p.argmin())
        strength = min(1.0, abs(float(sums[at])) / max(float(self.variance.sum() or self.value @ self.value), 1e-300))
        return Sign(min(0.0, float(log_p[at]) + math.log(len(sums))), strength, 0.0, named(at))
