"""Fine-grain perturbation: a retention for each value, as large as that value's own protection allows.

Value i is protected when its odds rise by a factor of at most gamma_i, whatever is published. With uniform replacement
on m values that is a linear program in the retentions p:

    maximise    sum_i weight_i (p_i + (1 - p_i) / m)                     floor <= p_i <= 1
    subject to  (m - 1) p_i + gamma_i p_j <= gamma_i - 1                 for all j != i, so that odds do not rise more
                (m - 1) p_j + gamma_i p_i <= gamma_i - 1                 for all j != i, so that odds do not fall more

the last only where downward breaches count too. Every coefficient of p is positive, so that lowering any retention, as
the rounding of coins does, breaks none of them. Row i involves the others through the largest of them alone, which
leaves one or two numbers to search for instead of m (m - 1) rows: retention_program.py. The proofs are in docs/proofs/fine_grain.md.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from scumble.core.channel import Channel, Vector, gamma_bound
from scumble.core.errors import ParameterError, did_you_mean
from scumble.core.parameters import number
from scumble.mechanisms.channel_utility import ErrorOf, WeightedQueries, checked_counts, checked_weights
from scumble.mechanisms.retention_program import Program, least_error, most_records

BREACHES = ("upward", "both")
OBJECTIVES = ("records", "error")


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

    >>> from scumble.mechanisms.channel_utility import record_utility
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
        least_error(program, ErrorOf(n, np.full(len(n), 1 / len(n)), WeightedQueries.of(len(n), workload, weights)))
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


def _gammas(n: Vector, gamma: Any, rho1: Any, rho2: Any, theta: Any) -> Vector:
    """The gamma of each value, however the protection is given."""
    ways = [gamma is not None, rho1 is not None or rho2 is not None, theta is not None]
    if sum(ways) != 1 or (rho1 is None) != (rho2 is None):
        raise ParameterError("the protection is given by gamma, or by rho1 and rho2, or by theta: exactly one of them")
    if theta is not None:
        gammas = gammas_from_tolerance(n / n.sum(), number(theta, "theta"))
    elif gamma is not None:
        gammas = _smallest([gamma], len(n), ["gamma"], _gamma)
    else:
        gammas = _smallest([rho1, rho2], len(n), ["rho1", "rho2"], gamma_bound)
    if np.all(np.isinf(gammas)):
        raise ParameterError("no value needs protection by these parameters; lower gamma or theta, or publish as it is")
    return gammas


def gammas_from_tolerance(f: Vector, theta: float) -> Vector:
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
    columns = [_conditions(wanted, size, name) for wanted, name in zip(given, names, strict=True)]
    least = np.empty(size)
    for value, lists in enumerate(zip(*columns, strict=True)):
        count = max(map(len, lists))
        if any(len(conditions) not in (1, count) for conditions in lists) or count == 0:
            raise ParameterError(f"value {value}: {' and '.join(names)} must hold as many conditions as each other")
        try:
            least[value] = min(bound(*(conditions[k % len(conditions)] for conditions in lists)) for k in range(count))
        except ParameterError as error:
            raise ParameterError(f"value {value}: {error}") from None
    return least


def _conditions(given: Any, size: int, name: str) -> list[list[Any]]:
    """The conditions of each value, from one number for all, one for each, or several for each."""
    if _single(given):
        return [[given]] * size
    if len(given) != size:
        raise ParameterError(f"{name} is given for {len(given)} values, but there are {size}; give one for each")
    return [[wanted] if _single(wanted) else list(wanted) for wanted in given]


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
