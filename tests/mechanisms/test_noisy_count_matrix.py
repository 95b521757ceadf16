"""The noisy count matrices: formulas against sums, draws against formulas."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix, listed_domain

MATRIX = NoisyCountMatrix(10, 1, 1e-5)
FULL = ClampedCounts.full(0.7)
COUNTS = [0, 9, 10, 11, 25, 32, 35, 60, 5000]
DRAWS = 1_000_000
FALSE_ALARM = 1e-6


def columns(i: int) -> np.ndarray:
    """Published counts that hold all but 1e-40 of the row of i."""
    return np.union1d(np.arange(0, 12), np.arange(max(0, i - 250), i + 251))


@pytest.mark.parametrize("i", COUNTS)
def test_rows_sum_to_one(i: int) -> None:
    assert MATRIX.probabilities(i, columns(i)).sum() == pytest.approx(1, abs=1e-12)
    assert FULL.probabilities(i, columns(i)).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("i", COUNTS)
@pytest.mark.parametrize("matrix", [MATRIX, FULL])
def test_mean_and_variance_are_those_of_the_row(matrix: Any, i: int) -> None:
    """The mean has exponent i-k+1; the printed i+1 makes the correction too small by r^k."""
    j = columns(i)
    row = matrix.probabilities(i, j)
    mean = (row * j).sum()
    assert matrix.mean(i) == pytest.approx(mean, rel=1e-10, abs=1e-12)
    assert matrix.variance(i) == pytest.approx((row * (j - mean) ** 2).sum(), rel=1e-8, abs=1e-12)


def test_the_printed_mean_is_rejected() -> None:
    r = math.exp(-0.5)
    printed = MATRIX.probabilities(10, columns(10))[1:].sum() * (10 + r**11 / (1 - r**2))
    assert abs(printed / float(MATRIX.mean(10)) - 1) > 0.05


@pytest.mark.parametrize("i", [10, 11, 14, 40])
@pytest.mark.parametrize("counts", [ClampedCounts(10, 0.5), ClampedCounts(0, 1.2)])
def test_estimates_and_their_variances_are_unbiased_given_publication(counts: ClampedCounts, i: int) -> None:
    j = columns(i)
    row = counts.probabilities(i, j)
    value, variance = counts.estimate(j)
    assert (row * value).sum() == pytest.approx(i, rel=1e-12)
    assert (row * variance).sum() == pytest.approx((row * (value - i) ** 2).sum(), rel=1e-10)


def test_below_k_nothing_is_published() -> None:
    assert MATRIX.probabilities(np.arange(10)[:, None], np.arange(1, 50)).max() == 0
    assert np.all(MATRIX.draw(Entropy.seeded(1).stream("low"), np.repeat(np.arange(10), 10_000)) == 0)


def test_published_counts_are_at_least_k() -> None:
    drawn = MATRIX.draw(Entropy.seeded(1).stream("high"), np.full(100_000, 34))
    assert set(np.unique(drawn[drawn < 11])) <= {0, 10}


def test_scalars_and_arrays_broadcast() -> None:
    table = MATRIX.probabilities(np.array([[9], [35]]), np.array([0, 35]))
    assert table.shape == (2, 2)
    assert table[0].tolist() == [1, 0]


def statistic(drawn: np.ndarray, probabilities: np.ndarray, j: np.ndarray) -> tuple[float, int]:
    """Chi-square over the cells, those of fewer than 10 expected draws taken together, and its degrees of freedom."""
    observed = np.bincount(np.searchsorted(j, drawn), minlength=len(j)).astype(float)
    expected = probabilities * len(drawn)
    rare = expected < 10
    cells = [np.append(v[~rare], v[rare].sum()) for v in (observed, expected)]
    used = slice(None) if cells[1][-1] >= 10 else slice(-1)
    return float(((cells[0][used] - cells[1][used]) ** 2 / cells[1][used]).sum()), len(cells[0][used]) - 1


@pytest.fixture(scope="module")
def drawn() -> dict[int, np.ndarray]:
    """1,000,000 draws of the practical matrix for each of four counts."""
    stream = Entropy.seeded(42).stream("matrix")
    return {i: MATRIX.draw(stream, np.full(DRAWS, i)) for i in (25, 32, 35, 60)}


@pytest.mark.slow
@pytest.mark.parametrize("i", [25, 32, 35, 60])
def test_draws_have_the_matrix_probabilities_in_every_cell(drawn: dict[int, np.ndarray], i: int) -> None:
    """n = 1,000,000 for each count, false alarm 1e-6."""
    found, freedom = statistic(drawn[i], MATRIX.probabilities(i, columns(i)), columns(i))
    assert found < chi2.isf(FALSE_ALARM, freedom)


@pytest.mark.parametrize(
    "wrong", [NoisyCountMatrix(10, 1, 1.02e-5), NoisyCountMatrix(10, 1.01, 1e-5), NoisyCountMatrix(11, 1, 1e-5)]
)
def test_a_matrix_that_is_slightly_off_is_rejected(drawn: dict[int, np.ndarray], wrong: NoisyCountMatrix) -> None:
    """delta off by 2%, epsilon by 1%, k by one: each is seen at i = 32, with the same n and false alarm."""
    found, freedom = statistic(drawn[32], wrong.probabilities(32, columns(32)), columns(32))
    assert found > chi2.isf(FALSE_ALARM, freedom)


@pytest.mark.parametrize("i", [60])
def test_noise_whose_rate_is_off_by_one_percent_is_rejected(drawn: dict[int, np.ndarray], i: int) -> None:
    """Where practically all is published only the noise shows."""
    wrong = np.append(MATRIX.probabilities(i, 0), ClampedCounts(10, 0.505).probabilities(i, columns(i)[1:]))
    found, freedom = statistic(drawn[i], wrong, columns(i))
    assert found > chi2.isf(FALSE_ALARM, freedom)


@pytest.mark.slow
@pytest.mark.parametrize("i", [0, 1, 7])
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3])
def test_draws_of_the_full_matrix(i: int, epsilon: float) -> None:
    """n = 1,000,000, false alarm 1e-6; a tuple that does not occur may be published."""
    full = ClampedCounts.full(epsilon)
    j = np.arange(0, i + int(60 / epsilon) + 60)
    drawn = full.draw(Entropy.seeded(i).stream("full", str(epsilon)), np.full(DRAWS, i))
    found, freedom = statistic(drawn, full.probabilities(i, j), j)
    assert found < chi2.isf(FALSE_ALARM, freedom)
    wrong, freedom = statistic(drawn, ClampedCounts.full(epsilon * 1.02).probabilities(i, j), j)
    assert wrong > chi2.isf(FALSE_ALARM, freedom)


def test_tiny_epsilon_draws_wide_noise() -> None:
    """Digit by digit there is no table of thresholds to run out of: |Z| has mean about 1 / rate."""
    noise = ClampedCounts(0, 1e-9).draw(Entropy.seeded(2).stream("wide"), np.full(10_000, 10**12)) - 10**12
    assert np.abs(noise).mean() == pytest.approx(1e9, rel=0.05)


def test_noise_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="does not fit 64-bit counts"):
        ClampedCounts(0, 1e-18).draw(Entropy.seeded(2).stream("wide"), [1])


def test_parameters_may_be_fractions() -> None:
    assert NoisyCountMatrix(10, "1/2", "1/100000") == NoisyCountMatrix(10, 0.5, 1e-5)  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [[-1], [1.5], [[1]]])
def test_counts_that_are_none_are_refused(counts: list[Any]) -> None:
    with pytest.raises(ParameterError, match="whole numbers that are not negative"):
        MATRIX.draw(Entropy.seeded(1).stream("x"), counts)


@pytest.mark.parametrize("settings", [{"k": 0}, {"delta": 1.0}, {"epsilon": -1}])
def test_bad_parameters_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        NoisyCountMatrix(**({"k": 10, "epsilon": 1.0, "delta": 1e-5} | settings))


def test_no_counts_draw_nothing() -> None:
    assert MATRIX.draw(Entropy.seeded(1).stream("x"), []).tolist() == []


def test_a_domain_too_large_for_the_full_matrix_is_refused_with_its_size() -> None:
    with pytest.raises(ParameterError, match="has 1,000,000,000 tuples"):
        listed_domain([1000, 1000, 1000])
