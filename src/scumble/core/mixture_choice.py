"""Which mixture: the parts and their probabilities that make the questions that will be asked as exact as can be, by formula.

With N(w) = sum of w_c N_c what a row tells on average (core/information.py), h^T N^-1 h is what it adds to the variance of the sum of h. Of
a kind of question k that is the mean over all of its h, F_k(w), which is convex in w:

    sum       the sum of the numbers
    range     the count of a range, any two ends alike
    point     the count of one number, any alike

Minimised is the sum of F_k / (the least F_k of any mixture) over the kinds that are asked; kinds that are not asked count UNASKED as much, so that every
question has an answer. N is built for a few cells of neighbouring numbers; what lies within a cell is known by single levels, in closed form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scumble.core.channel_base import Vector
from scumble.core.design import best_blocks
from scumble.core.difference_set import MOST_CODES, DifferenceSet
from scumble.core.errors import ParameterError
from scumble.core.mixture import Mixture
from scumble.core.mixture_level import LevelPart
from scumble.core.mixture_part import Numbers, Part
from scumble.core.mixture_window import WindowPart

KINDS = ("sum", "range", "point")
"""What can be asked, as a setting says it."""

UNASKED = 1e-3
"""How much a kind of question counts that is not asked."""

BRANCHING = 4
"""Intervals that are one interval of the next level."""

KNOTS = 32
"""Steps between the knots of a window, at most."""

CELLS = 80
"""Cells for which N is built, at most."""

STEPS = 60
"""Of the search for probabilities: beyond, answers are better by less than a thousandth."""

LEAST = 0.01
"""A part that is taken less often than this is left out; single numbers are not, and are told so often at least."""

SLACK = 0.05
"""How much larger the variance of a level may be for fewer codes."""

LISTED = 1 << 12
"""Codes of a level whose set may be made from any field; one of a larger set is prime, so that anybody can compute it."""


def best_mixture(numbers: Numbers, gamma: float, asked: Sequence[str] = KINDS) -> Mixture:
    """The mixture for some kinds of questions.

    >>> best_mixture(Numbers(74), 3.0, ("sum",)).parts[0].words
    '32 neighbours of 33 knots at equal distances'
    """
    unknown = [kind for kind in asked if kind not in KINDS]
    if unknown or not asked:
        raise ParameterError(f"asked is a list of {', '.join(KINDS)}, not {list(asked)!r}")
    parts, shares = _chosen(numbers, gamma, tuple(kind for kind in KINDS if kind in asked))
    return Mixture(parts, shares, gamma)


@lru_cache(maxsize=64)
def _chosen(numbers: Numbers, gamma: float, asked: tuple[str, ...]) -> tuple[list[Part], list[float]]:
    task = Task.of(numbers, gamma)
    least = {kind: task.value(task.shares({kind: 1.0}), kind) for kind in KINDS}
    shares = task.shares({kind: (1.0 if kind in asked else UNASKED) / least[kind] for kind in KINDS})
    kept = [(part, max(LEAST, w)) for part, w in zip(task.parts, shares, strict=True) if w >= LEAST or _finest(part)]
    total = sum(w for _, w in kept)
    return [part for part, _ in kept], [float(w / total) for _, w in kept]


def _finest(part: Part) -> bool:
    return isinstance(part, LevelPart) and part.width == 1


def candidates(numbers: Numbers, gamma: float) -> list[Part]:
    """Windows of a few reaches, the two ends, and levels of intervals within intervals down to single numbers."""
    steps = min(KNOTS, numbers.points - 1)
    reaches = {steps, round(steps * gamma**-0.35), round(steps * gamma**-0.35 / 2)}
    windows = [WindowPart(numbers, steps, reach) for reach in sorted(reaches, reverse=True) if 1 <= reach <= steps]
    windows += [WindowPart(numbers, 1, 1)] if steps > 1 else []
    levels = [
        LevelPart(numbers, width, _blocks(-(-numbers.points // width) + numbers.missing, gamma))
        for width in widths(numbers)
    ]
    return [*windows, *levels]


def widths(numbers: Numbers) -> list[int]:
    """Of levels with three intervals or more, and where values can be missing of one interval of all numbers.

    >>> widths(Numbers(74)), widths(Numbers(74, missing=True))
    ([1, 4, 16], [1, 4, 16, 256])
    """
    powers = [BRANCHING**power for power in range(40)]
    wide = [width for width in powers if width == 1 or -(-numbers.points // width) > 2]
    return wide + [next(width for width in powers if width >= numbers.points)] * numbers.missing


def _blocks(places: int, gamma: float) -> DifferenceSet:
    """The set of a level; a large one from a prime field."""
    listed = best_blocks(places, gamma, LISTED, slack=SLACK)
    return listed if listed.order else best_blocks(places, gamma, MOST_CODES, prime=True, slack=SLACK)


@dataclass(frozen=True)
class Task:
    """The search for probabilities: N of each part between cells, and what lies within a cell."""

    parts: list[Part]
    between: Vector
    """N_c of each part, on cells."""
    within: Vector
    """What each part tells of numbers that are alike on intervals of each width within a cell, but not on wider ones."""
    asked: Mapping[str, Vector]
    """The mean of h h^T over the questions of each kind, on cells."""
    energy: Mapping[str, Vector]
    """The mean of |h|^2 over them, of what lies within a cell, by width."""

    @classmethod
    def of(cls, numbers: Numbers, gamma: float) -> "Task":
        """The task of a column."""
        parts = candidates(numbers, gamma)
        cell = next(w for w in (BRANCHING**power for power in range(40)) if -(-numbers.points // w) <= CELLS)
        cells = Numbers(-(-numbers.points // cell), numbers.missing)
        inner = [width for width in widths(numbers) if width < cell]
        return cls(
            parts,
            np.stack([_between(part, cells, cell, gamma) for part in parts]),
            np.stack([[_within(part, width, gamma) for width in inner] for part in parts]),
            _questions(cells, cell),
            _energies(np.array(inner, dtype=np.float64)),
        )

    def value(self, shares: Vector, kind: str) -> float:
        """F of a kind of question, less the mean of h^2, which is no variance."""
        inverse, own = self._inverse(shares), np.trace(self.asked[kind]) / len(self.asked[kind])
        return float(np.sum(self.asked[kind] * inverse) - own + np.sum(self.energy[kind] / (shares @ self.within)))

    def _inverse(self, shares: Vector) -> Vector:
        """N^-1 of what is not alike for all values: that is known without coins."""
        told = np.tensordot(shares, self.between, axes=1)
        return np.asarray(np.linalg.inv(told + np.trace(told) / len(told)))

    def shares(self, factors: Mapping[str, float]) -> Vector:
        """The probabilities that minimise a sum of F: each is multiplied by the root of what more of it would gain, again and again."""
        asked = np.sum([factor * self.asked[kind] for kind, factor in factors.items()], axis=0)
        energy = np.sum([factor * self.energy[kind] for kind, factor in factors.items()], axis=0)
        shares = np.full(len(self.parts), 1 / len(self.parts))
        for _ in range(STEPS):
            inverse = self._inverse(shares)
            gain = np.tensordot(self.between, inverse @ asked @ inverse, axes=2)
            gain += self.within @ (energy / (shares @ self.within) ** 2)
            shares = np.maximum(shares * np.sqrt(np.maximum(gain, 0)), 1e-12)
            shares /= shares.sum()
        return shares


def _between(part: Part, cells: Numbers, cell: int, gamma: float) -> Vector:
    """What a part tells of cells of so many numbers: a level of narrower intervals tells each cell apart, the less the narrower they are."""
    units = np.eye(cells.size)
    if isinstance(part, LevelPart):
        own, wide = part.products(gamma)[1], LevelPart(cells, max(1, part.width // cell), part.blocks)
        rounding = np.stack([wide.gather(unit)[: wide.used] for unit in units], axis=1)
        share = np.full(cells.size, min(1.0, part.width / cell))
        share[cells.points :] = 1.0
        return np.asarray(own * (part.codes * np.sqrt(share)[:, None] * (rounding.T @ rounding) * np.sqrt(share) - 1))
    assert isinstance(part, WindowPart)
    coarse = WindowPart(cells, min(part.steps, cells.points - 1), part.reach)
    rounding = np.stack([coarse.gather(unit)[coarse.held] for unit in units], axis=1)
    return np.asarray(rounding.T @ coarse.contrasts(gamma) @ rounding)


def _within(part: Part, width: int, gamma: float) -> float:
    """What a level tells of numbers that are alike on intervals of a width and not on wider ones: only where its own are as narrow."""
    if not isinstance(part, LevelPart) or part.width > width:
        return 0.0
    return part.codes * part.products(gamma)[1] * part.width


def _questions(cells: Numbers, cell: int) -> dict[str, Vector]:
    n = cells.points
    place, there = np.arange(n), np.append(np.ones(n), np.zeros(int(cells.missing)))
    number = there.copy()
    number[:n] = place / (n - 1) - 0.5
    ranges, points = np.zeros((cells.size, cells.size)), np.diag(there / (n * cell**2))
    ranges[:n, :n] = (np.minimum.outer(place, place) + 1) * (n - np.maximum.outer(place, place)) / (n * (n + 1) / 2)
    if cells.missing:
        points[-1, -1] = 1 / (n * cell)
    return {
        "sum": np.outer(number, number) + cells.missing * np.outer(there, there) / 4,
        "range": ranges,
        "point": points,
    }


def _energies(inner: Vector) -> dict[str, Vector]:
    """Of a range the part within a cell is that of its two ends: (W^2 - 1) / 6 W in a cell of W numbers, on average; of one number 1 - 1/W."""
    wider = inner * BRANCHING
    return {
        "sum": np.zeros(len(inner)),
        "range": 2 * ((wider**2 - 1) / (6 * wider) - (inner**2 - 1) / (6 * inner)),
        "point": 1 / inner - 1 / wider,
    }
