"""The checker: it passes the matrix in use, and catches every broken one."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from scumble.core.errors import ParameterError
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix
from scumble.mechanisms.suppression_odds import suppression
from scumble.privacy.anonymity import Algorithm, Dataset, check_algorithm, check_cells, check_suppression, exp_interval

PARAMETERS = [
    (10, 1.0, 1e-5),
    (3, math.log(5), 1e-7),
    (20, math.log(10), 1e-3),
    (1, 0.1, 0.5),
    (10, 0.02, 1e-12),
    (2, 30.0, 1e-300),
]
MEASURED = 1e-7
"""The slack at which keeping one side in doubles is seen to break epsilon where MATHS says."""


def only_w(k: int, epsilon: float, delta: float, upto: int) -> tuple[list[float], list[float]]:
    """The recursion as printed, in doubles: u is 1 - w and loses its digits where w is near 1."""
    w = [0.0] * k + [min(delta, 1 - math.exp(-epsilon))]
    while len(w) <= upto:
        w.append(min(1 - (1 - w[-1]) * math.exp(-epsilon), math.exp(epsilon / 2) * w[-1]))
    return w, [1 - x for x in w]


def only_u(k: int, epsilon: float, delta: float, upto: int) -> tuple[list[float], list[float]]:
    """The same recursion with u kept: w is 1 - u and loses its digits where it is small."""
    u = [1.0] * k + [max(1 - delta, math.exp(-epsilon))]
    while len(u) <= upto:
        u.append(max(u[-1] * math.exp(-epsilon), 1 - math.exp(epsilon / 2) * (1 - u[-1])))
    return [1 - x for x in u], u


@pytest.mark.parametrize(("k", "epsilon", "delta"), PARAMETERS)
@pytest.mark.slow
def test_the_matrix_in_use_holds_to_10000_without_slack(k: int, epsilon: float, delta: float) -> None:
    """On the integers that coins are compared with, in exact arithmetic."""
    verdict = NoisyCountMatrix(k, epsilon, delta).check(10_000)
    assert verdict.holds, str(verdict)
    assert verdict.margin >= 0


@pytest.mark.slow
@pytest.mark.parametrize(("k", "epsilon", "delta"), PARAMETERS)
def test_its_doubles_hold_to_rounding(k: int, epsilon: float, delta: float) -> None:
    w, u = suppression(k, epsilon, delta, 10_000)
    assert check_suppression(w.tolist(), u.tolist(), k, epsilon, delta, slack=1e-14).holds


def test_keeping_only_w_breaks_epsilon_from_53() -> None:
    """epsilon = 1, delta = 1e-5, k = 10; by 67 the ratio is 1/3 instead of 1/e."""
    w, u = only_w(10, 1, 1e-5, 100)
    verdict = check_suppression(w, u, 10, 1, 1e-5, slack=MEASURED)
    assert verdict.count == 53
    assert str(verdict).startswith("b3: a count of 53 is suppressed")
    assert verdict.margin < -2e-8
    assert u[67] / u[66] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("delta", "holds"), [(1e-5, True), (1e-10, True), (1e-11, False), (1e-12, False), (1e-15, False)]
)
def test_keeping_only_u_breaks_epsilon_for_delta_below_1e_10(delta: float, holds: bool) -> None:
    assert check_suppression(*only_u(10, 1, delta, 40), 10, 1, delta, slack=MEASURED).holds == holds


@pytest.mark.parametrize("delta", [1e-5, 1e-9])
def test_without_slack_either_is_caught_at_once(delta: float) -> None:
    for kept in (only_w, only_u):
        assert not check_suppression(*kept(10, 1, delta, 100), 10, 1, delta).holds


@pytest.mark.parametrize(
    ("place", "factor", "condition"),
    [(9, None, "b1"), (10, 1 + 1e-9, "b2"), (15, 1 + 1e-9, "b3"), (15, 0.5, "b3"), (60, 1 - 1e-9, "b3")],
)
def test_one_wrong_row_is_found_and_named(place: int, factor: float | None, condition: str) -> None:
    """A ninth digit is enough where a limit is reached; publishing a billionth less at 60 makes u_60 far too large."""
    w = [Fraction(x, 2**1000) for x in NoisyCountMatrix(10, 1, 1e-5).table(100)]
    w[place] = Fraction(1, 10**6) if factor is None else w[place] * Fraction(factor)
    verdict = check_suppression(w, [1 - x for x in w], 10, 1, 1e-5)
    assert str(verdict).split(":")[0] == condition


def test_probabilities_that_do_not_sum_to_one_are_found() -> None:
    assert str(check_suppression([0, 0.25], [1, 0.5], 1, 1, 0.5)).startswith("a: the probabilities of a count of 1")


def test_suppressing_too_rarely_at_k_is_found() -> None:
    assert "too rarely" in str(check_suppression([0, 0.75], [1, 0.25], 1, 1, 0.9))


@pytest.mark.parametrize("exponent", [Fraction(1, 3), Fraction(-7, 2), Fraction(700), Fraction(1, 10**9), Fraction(0)])
def test_intervals_hold_the_exponential(exponent: Fraction) -> None:
    low, high = exp_interval(exponent)
    back_low, back_high = exp_interval(-exponent)
    assert low < high
    assert low * back_low <= 1 <= high * back_high
    assert (high - low) / low < Fraction(1, 2**1200)
    assert float(low) == pytest.approx(math.exp(exponent), rel=1e-14)


def test_cell_by_cell_the_practical_matrix_holds() -> None:
    cells = NoisyCountMatrix(10, 1, 1e-5).probabilities(np.arange(300)[:, None], np.arange(900))
    assert check_cells(cells, 10, 1, 1e-5).holds
    assert str(check_cells(cells, 11, 1, 1e-5)).startswith("b1")
    assert str(check_cells(cells, 10, 1, 0.9e-5)).startswith("b2")
    assert str(check_cells(cells, 10, 0.99, 1e-5)).startswith("b3")


def test_cell_by_cell_the_full_matrix_is_differentially_private() -> None:
    cells = ClampedCounts.full(0.7).probabilities(np.arange(100)[:, None], np.arange(200))
    assert check_cells(cells, 0, 0.7, 0).holds
    assert not check_cells(cells, 0, 0.69, 0).holds


def duplicate(k: int) -> Algorithm:
    """Every record k times: k-anonymous, and all of it published."""
    return lambda rows: {tuple(sorted(rows * k, key=repr)): Fraction(1)}


def one_for_its_bucket(k: int) -> Algorithm:
    """Buckets of at least k records, all changed to the first: as many rows as before, k-anonymous, and records published."""

    def run(rows: Dataset) -> dict[Dataset, Fraction]:
        ordered = sorted(rows, key=repr)
        starts = [min(place // k, max(len(rows) // k - 1, 0)) * k for place in range(len(rows))]
        return {tuple(ordered[start] for start in starts): Fraction(1)}

    return run


def rare_sample(rate: Fraction) -> Algorithm:
    """Each record with probability `rate`: (0, rate)-differentially private, and what is published is published unchanged."""

    def run(rows: Dataset) -> dict[Dataset, Fraction]:
        found: dict[Dataset, Fraction] = {}
        for kept in product([False, True], repeat=len(rows)):
            output = tuple(sorted((row for row, stays in zip(rows, kept, strict=True) if stays), key=repr))
            chance = rate ** sum(kept) * (1 - rate) ** (len(rows) - sum(kept))
            found[output] = found.get(output, Fraction(0)) + chance
        return found

    return run


def k_dgs(k: int) -> Algorithm:
    """A recoding fixed in advance (the first letter), then suppression below k."""

    def run(rows: Dataset) -> dict[Dataset, Fraction]:
        recoded = Counter(str(row)[0] for row in rows)
        return {tuple(sorted((row, n) for row, n in recoded.items() if n >= k)): Fraction(1)}

    return run


PEOPLE = ("anna", "berta", "bruno", "carl", "cleo", "cora")


@pytest.mark.parametrize("algorithm", [duplicate(3), one_for_its_bucket(3)])
def test_a_k_anonymous_algorithm_that_publishes_rows_is_caught(algorithm: Algorithm) -> None:
    """Its output has every record at least 3 times, yet at no epsilon is it semantically 3-anonymous."""
    (output,) = algorithm(PEOPLE)
    assert min(Counter(output).values()) >= 3
    assert not check_algorithm(algorithm, PEOPLE, 3, epsilon=50).holds


def test_a_differentially_private_algorithm_that_publishes_rows_is_caught() -> None:
    """(0, 1e-5)-differential privacy: of 10,000,000 records it publishes 100 unchanged."""
    algorithm = rare_sample(Fraction(1, 10**5))
    assert "neither removed nor replaced" in str(check_algorithm(algorithm, PEOPLE, 3, epsilon=50))
    binomial = np.array([[math.comb(i, j) * 1e-5**j * (1 - 1e-5) ** (i - j) for j in range(6)] for i in range(6)])
    assert check_cells(binomial, k=3, epsilon=1, delta=1e-5).count == 1
    assert str(check_cells(binomial, k=3, epsilon=1, delta=1e-5)).startswith("b1")


@pytest.mark.parametrize("dataset", [PEOPLE, ("anna",), PEOPLE * 2, ("anna", "alma", "berta")])
def test_deterministic_generalization_and_suppression_is_semantically_anonymous(dataset: Dataset) -> None:
    assert check_algorithm(k_dgs(2), dataset, 2).holds
    assert check_algorithm(k_dgs(3), dataset, 3).holds


def test_it_is_not_anonymous_for_a_larger_k() -> None:
    assert not check_algorithm(k_dgs(2), PEOPLE, 3).holds


@pytest.mark.parametrize(("k", "epsilon"), [(0, 1), (10, -1), (10, 701)])
def test_bad_parameters_are_refused(k: int, epsilon: float) -> None:
    with pytest.raises(ParameterError):
        check_suppression([0], [1], k, epsilon, 1e-5)
