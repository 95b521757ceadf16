"""Fine-grain perturbation: a retention for each value, as large as that value's own protection allows.

Value i is protected when its odds rise by a factor of at most gamma_i, whatever is published. With uniform replacement
on m values that is a linear program in the retentions p:

    maximise    sum_i weight_i (p_i + (1 - p_i) / m)                     floor <= p_i <= 1
    subject to  (m - 1) p_i + gamma_i p_j <= gamma_i - 1                 for all j != i, so that odds do not rise more
                (m - 1) p_j + gamma_i p_i <= gamma_i - 1                 for all j != i, so that odds do not fall more

the last only where downward breaches count too. Every coefficient of p is positive, so that lowering any retention, as
the rounding of coins does, breaks none of them. Row i involves the others through the largest of them alone, which
leaves one or two numbers to search for instead of m (m - 1) rows: `Program`. The proofs are in docs/proofs/fine_grain.md.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar

from scumble.channel import Channel, Vector, gamma_bound
from scumble.errors import ParameterError, did_you_mean
from scumble.mechanisms.utility import ErrorOf, Workload, checked_counts, checked_weights
from scumble.parameters import number

BREACHES = ("upward", "both")
OBJECTIVES = ("records", "error")
ROUNDING = 1e-12


def fine_grain(
    counts: Any,
    *,
    gamma: Any = None,
    rho1: Any = None,
    rho2: Any = None,
    theta: Any = None,
    weights: Any = None,
    floor: Any = 0.0,
    breaches: str = "upward",
    objective: str = "records",
    workload: Any = None,
) -> Channel:
    """The channel that is best for its objective among those that protect each value as asked.

    The protection is given in one of three ways:

    gamma       how much the odds of a value may change: one number, or one for each value; inf needs no protection
    rho1, rho2  no prior up to rho1 becomes a posterior above rho2: one number, or one for each value
    theta       the prior of a value is its frequency f, its posterior at most theta f; no protection where f >= 1/theta

    In the place of a value's gamma or rho may stand a list, for several states of background knowledge: the smallest
    gamma counts. With theta a count of 0 is refused, as no prior is below 0; otherwise counts only weigh.

    objective   "records": most records keep their value, weighted by frequency or by `weights`. Exact.
                "error": least expected variance of the estimates of a `workload` (`utility.expected_error`), weighted
                by `weights`. A search: its result is never worse than the best uniform and the "records" channel.
    floor       the least retention; values of little weight tend to 0, where several cannot be told apart. Possible up
                to the uniform retention of the smallest gamma, where nothing is left to choose.
    breaches    "upward": posteriors stay below rho2. "both": beliefs above rho2 also do not fall below rho1.

    >>> fine_grain([4, 4, 3, 2, 1], theta=3).retain.round(4).tolist()
    [0.5283, 0.5283, 0.5283, 0.2807, 0.1681]

    What a floor costs is the difference in `record_utility`:

    >>> from scumble.mechanisms.utility import record_utility
    >>> [round(record_utility(fine_grain([4, 4, 3, 2, 1], theta=3, floor=p), [4, 4, 3, 2, 1]), 4) for p in (0, 0.25, "1/3")]
    [0.5738, 0.5322, 0.473]
    """
    n = checked_counts(counts)
    _one_of("breaches", breaches, BREACHES)
    _one_of("objective", objective, OBJECTIVES)
    program = Program.of(_gammas(n, gamma, rho1, rho2, theta), number(floor, "floor"), breaches == "both")
    if objective == "records":
        if workload is not None:
            raise ParameterError("a workload is only for objective='error'; objective='records' takes weights alone")
        return Channel(most_records(program, n if weights is None else checked_weights(weights, len(n), "value")))
    return Channel(
        least_error(program, ErrorOf(n, np.full(len(n), 1 / len(n)), Workload.of(len(n), workload, weights)))
    )


def gammas_from_scores(scores: Any, gamma: Any, *, values: Sequence[Any] | None = None) -> Vector:
    """The gammas of values by how sensitive they are: gamma_i = gamma ^ (1 / score_i).

    ln gamma is a budget in the sense of local differential privacy, and a score divides it: 1 is ordinary, a value of
    score 2 gets half the budget, a value of score 0 needs no protection.

    scores  one for each value; or a mapping from some of `values`, where the rest are ordinary

    >>> gammas_from_scores([1, 2, 0], 9).tolist()
    [9.0, 3.0, inf]
    >>> gammas_from_scores({"HIV": 2}, 9, values=["flu", "HIV"]).tolist()
    [9.0, 3.0]
    """
    ordinary = _gamma(gamma)
    if isinstance(scores, Mapping):
        known = list(values or [])
        for name in scores:
            if name not in known:
                raise ParameterError(f"a score is given for {name!r}{did_you_mean(str(name), map(str, known))}")
        scores = [scores.get(value, 1) for value in known]
    elif values is not None and len(scores) != len(values):
        raise ParameterError(f"{len(scores)} scores are given for {len(values)} values; give one for each")
    given = np.array([number(score, "a score") for score in scores])
    if wrong := np.flatnonzero(given < 0).tolist():
        raise ParameterError(f"a score must be 0 or above; value {wrong[0]} has {given[wrong[0]]}")
    return np.array([math.inf if score == 0 else ordinary ** (1 / score) for score in given])


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
    found = [uniform, shared]
    for value in itertools.islice(program.able(np.argsort(error.gradient(uniform))), LONE):
        tops = (program.alone[value], program.limit(value))
        found.append(_search(functools.partial(program.apart, value), tops, program.floor, error))
    return min([*found, most_records(program, error.counts)], key=error.value)


def _search(bounds: Callable[[float], Vector], tops: tuple[float, float], floor: float, error: ErrorOf) -> Vector:
    """The best retentions over tops and the boxes below them: a grid of tops first, then one between its neighbours."""

    def box(top: float) -> Vector:
        # two values of next to no retention have an error too large to be computed; one of none has a finite one
        return _settled(bounds(top), floor, 1e-6)

    def best_of(top: float) -> Vector:
        return _within(box(top), floor, error)

    grid = np.linspace(*tops, TOPS)
    best = int(np.argmin([error.value(box(top)) for top in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, TOPS - 1)]
    fine = minimize_scalar(lambda top: error.value(best_of(top)), bounds=around, method="bounded")
    return min(best_of(grid[best]), best_of(fine.x), key=error.value)


def _within(box: Vector, floor: float, error: ErrorOf) -> Vector:
    """The best retentions below these, which are the best themselves unless the error falls with one of them."""
    if box.min() <= 0 or np.all(error.gradient(box) <= 0):
        return box
    scale = error.value(box)
    found = minimize(
        lambda share: (error.value(share * box) / scale, error.gradient(share * box) * box / scale),
        np.ones(len(box)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(low, 1) for low in np.clip(floor / box, 1e-3, 1)],
    )
    return min(box, found.x * box, key=error.value)


def _gammas(n: Vector, gamma: Any, rho1: Any, rho2: Any, theta: Any) -> Vector:
    """The gamma of each value, however the protection is given."""
    ways = [gamma is not None, rho1 is not None or rho2 is not None, theta is not None]
    if sum(ways) != 1 or (rho1 is None) != (rho2 is None):
        raise ParameterError("the protection is given by gamma, or by rho1 and rho2, or by theta: exactly one of them")
    if theta is not None:
        found = _gammas_from_tolerance(n / n.sum(), number(theta, "theta"))
    elif gamma is not None:
        found = _smallest([gamma], len(n), ["gamma"], _gamma)
    else:
        found = _smallest([rho1, rho2], len(n), ["rho1", "rho2"], gamma_bound)
    if np.all(np.isinf(found)):
        raise ParameterError("no value needs protection by these parameters; lower gamma or theta, or publish as it is")
    return found


def _gammas_from_tolerance(f: Vector, theta: float) -> Vector:
    """gamma_i = theta (1 - f_i) / (1 - theta f_i), that is rho1_i = f_i and rho2_i = theta f_i."""
    if theta <= 1:
        raise ParameterError(
            f"theta must be above 1, not {theta:.6g}: at 1 no belief may grow, and nothing is published"
        )
    if len(absent := np.flatnonzero(f == 0)):
        raise ParameterError(
            f"theta takes the frequency of a value for its prior, and value {absent[0]} has none (count 0); give gamma, or "
            "rho1 and rho2, or leave the value out of the domain"
        )
    return np.asarray(np.divide(theta * (1 - f), 1 - theta * f, out=np.full(len(f), np.inf), where=theta * f < 1))


def _smallest(given: list[Any], size: int, names: list[str], bound: Callable[..., float]) -> Vector:
    """The smallest bound over the conditions of each value."""
    columns = [_conditions(each, size, name) for each, name in zip(given, names, strict=True)]
    found = np.empty(size)
    for value, lists in enumerate(zip(*columns, strict=True)):
        count = max(map(len, lists))
        if any(len(each) not in (1, count) for each in lists) or count == 0:
            raise ParameterError(f"value {value}: {' and '.join(names)} must hold as many conditions as each other")
        try:
            found[value] = min(bound(*(each[k % len(each)] for each in lists)) for k in range(count))
        except ParameterError as error:
            raise ParameterError(f"value {value}: {error}") from None
    return found


def _conditions(given: Any, size: int, name: str) -> list[list[Any]]:
    """The conditions of each value, from one number for all, one for each, or several for each."""
    if _single(given):
        return [[given]] * size
    if len(given) != size:
        raise ParameterError(f"{name} is given for {len(given)} values, but there are {size}; give one for each")
    return [[each] if _single(each) else list(each) for each in given]


def _single(given: Any) -> bool:
    return isinstance(given, str) or not np.iterable(given)


def _gamma(given: Any) -> float:
    """A gamma above 1; inf asks for nothing."""
    value = math.inf if given in (math.inf, "inf") else number(given, "gamma")
    if value <= 1:
        raise ParameterError(f"gamma must be above 1, not {given}: at 1 nothing of the value is published")
    return value


def _one_of(name: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ParameterError(f"there is no {name} {given!r}{did_you_mean(str(given), known)}")
