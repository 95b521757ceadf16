"""The largest retentions that a protection for each value allows: the program of fine-grain perturbation, solved directly.

    p_i <= b_i(M_i),        M_i the largest retention of the others

Row i of the program involves the others through the largest of them alone, so that one or two numbers are searched for instead of m (m - 1)
rows being kept. The proofs are in docs/proofs/fine_grain.md.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Vector
from scumble.core.errors import ParameterError
from scumble.mechanisms.channel_utility import ErrorOf

ROUNDING = 1e-12


@dataclass(frozen=True)
class Program:
    """The constraints, each value's as a bound that falls as the largest of the others rises.

    Where all retentions are one, value i allows u_i = (gamma_i - 1) / (m - 1 + gamma_i). If another is t > u_i, value i
    may have u_i - fall_i (t - u_i). If value i alone is t > u_i, all others may have u_i - cede_i (t - u_i).
    """

    alone: Vector
    """u; 1 for a value without protection."""
    fall: Vector
    cede: Vector
    floor: float

    @classmethod
    def of(cls, gamma: Vector, floor: float, both: bool) -> "Program":
        """The program of these gammas, or an error where the floor leaves no solution."""
        others = len(gamma) - 1
        up, down = np.where(np.isinf(gamma), 0, gamma / others), others / gamma
        alone = np.where(np.isinf(gamma), 1, (gamma - 1) / (others + np.where(np.isinf(gamma), 0, gamma)))
        steep = np.where(np.isinf(gamma), 0, np.maximum(up, down))
        strictest = int(np.argmin(alone))
        if not 0 <= floor <= alone[strictest] * (1 + ROUNDING):
            raise ParameterError(
                f"floor must lie between 0 and {alone[strictest]:.6g}, the uniform retention that value {strictest} with "
                f"gamma = {gamma[strictest]:.6g} allows, not {floor:.6g}"
            )
        return cls(alone, steep if both else up, steep if both else down, min(floor, float(alone[strictest])))

    def together(self, top: float) -> Vector:
        """The largest retentions where none, or at least two, are `top`."""
        return self._below(top, top)

    def apart(self, value: int, top: float) -> Vector:
        """The largest retentions where one value has `top`, above what it may share with others."""
        below = self.alone[value] - self.cede[value] * (top - self.alone[value])
        retain = self._below(below, top)
        retain[value] = top
        return retain

    def _below(self, second: float, top: float) -> Vector:
        return np.asarray(np.minimum(second, self.alone - self.fall * (top - self.alone)))

    def limit(self, value: int | None = None) -> float:
        """The largest top, shared or of one value, that leaves everyone the floor."""
        room = self.alone - self.floor
        reach = self.alone + np.divide(room, self.fall, out=np.full(len(room), np.inf), where=self.fall > 0)
        if value is not None:
            reach[value] = self.alone[value] + room[value] / self.cede[value]
        return min(1.0, float(reach.min()))

    def able(self, values: npt.NDArray[np.intp]) -> Iterator[int]:
        """Those of the values, in their order, that can be alone above all others."""
        return (i for i in map(int, values) if self.fall[i] > 0 and self.alone[i] < self.limit(i))


def most_records(program: Program, weights: Vector) -> Vector:
    """The retentions that maximise sum_i weight_i p_i, exactly.

    The sum is concave and piecewise linear in a shared top. At its peak a value can gain by leaving the others behind
    only if the peak is where that value's own bound begins to fall.
    """
    top = min(_peak(weights.sum(), program.alone, weights * (1 + program.fall)), program.limit())
    best = program.together(top)
    for value in _leavers(program, weights, top):
        lone = program.apart(value, _lone_top(program, weights, value))
        best = max(best, lone, key=weights.__matmul__)
    return _settled(best, program.floor, ROUNDING)


def _peak(slope: float, knots: Vector, drops: Vector) -> float:
    """Where a concave function of this first slope, which drops at the knots, no longer rises."""
    order = np.argsort(knots)
    flat = np.flatnonzero(slope - np.cumsum(drops[order]) <= 0)
    return float(knots[order[flat[0]]]) if len(flat) else math.inf


def _leavers(program: Program, weights: Vector, top: float) -> Iterator[int]:
    """The heaviest value of each bound that begins to fall at the top; the tolerance only adds candidates."""
    near = np.flatnonzero(np.abs(program.alone - top) <= ROUNDING)
    heaviest = near[np.argsort(-weights[near], kind="stable")]
    _, first = np.unique(program.alone[heaviest], return_index=True)
    return program.able(heaviest[first])


def _lone_top(program: Program, weights: Vector, value: int) -> float:
    """The best top of one value alone: the others are held by what it cedes or by their own bounds, whichever is less."""
    u, fall, start, cede = program.alone, program.fall, program.alone[value], program.cede[value]
    first, last = np.where(u > start, cede, fall), np.maximum(cede, fall)
    others = np.where(np.arange(len(u)) == value, 0, weights)
    slope = weights[value] - others @ first
    turns = last > first
    knots = start + ((start - u) * (1 + fall))[turns] / (cede - fall)[turns]
    peak = _peak(slope, knots, (others * (last - first))[turns]) if slope > 0 else start
    return min(peak, program.limit(value))


def _settled(retain: Vector, floor: float, least: float) -> Vector:
    """Retentions from the floor to 1, where less than `least` is what rounding left of none; lowering is always allowed."""
    return np.asarray(np.clip(np.where(retain < least, 0, retain), floor, 1))


TOPS, LONE = 48, 4
"""Tops at which the error is tried before the best is refined; values that are tried alone above all others."""


def least_error(program: Program, error: ErrorOf) -> Vector:
    """Retentions of small expected error: for a given top the constraints are a box, so a top and a box are searched.

    Within a box L-BFGS-B finds a stationary point. That no other top or box is better is not proven; that the result is
    no worse than the uniform and the "records" channel is, as it is compared with both.
    """
    uniform = np.full(len(program.alone), program.alone.min())
    shared = _search(program.together, (uniform[0], program.limit()), program.floor, error)
    solutions = [uniform, shared]
    for value in itertools.islice(program.able(np.argsort(error.gradient(uniform))), LONE):
        tops = (program.alone[value], program.limit(value))
        solutions.append(_search(functools.partial(program.apart, value), tops, program.floor, error))
    return min([*solutions, most_records(program, error.counts)], key=error.value)


def _search(bounds: Callable[[float], Vector], tops: tuple[float, float], floor: float, error: ErrorOf) -> Vector:
    """The best retentions over tops and the boxes below them: a grid of tops first, then one between its neighbours."""

    def box(top: float) -> Vector:
        # two values of next to no retention have an error too large to be computed; one of none has a finite one
        return _settled(bounds(top), floor, 1e-6)

    def best_of(top: float) -> Vector:
        return _within(box(top), floor, error)

    from scipy.optimize import minimize_scalar

    grid = np.linspace(*tops, TOPS)
    best = int(np.argmin([error.value(box(top)) for top in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, TOPS - 1)]
    fine = minimize_scalar(lambda top: error.value(best_of(top)), bounds=around, method="bounded")
    return min(best_of(grid[best]), best_of(fine.x), key=error.value)


def _within(box: Vector, floor: float, error: ErrorOf) -> Vector:
    """The best retentions below these, which are the best themselves unless the error falls with one of them."""
    if box.min() <= 0 or np.all(error.gradient(box) <= 0):
        return box
    from scipy.optimize import minimize

    scale = error.value(box)
    solution = minimize(
        lambda share: (error.value(share * box) / scale, error.gradient(share * box) * box / scale),
        np.ones(len(box)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(low, 1) for low in np.clip(floor / box, 1e-3, 1)],
    )
    return min(box, solution.x * box, key=error.value)
