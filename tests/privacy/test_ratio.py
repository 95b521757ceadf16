"""Disclosure by two noisy counts: tables 1 and 2 of reconstruction privacy, and the law behind them."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError
from scumble.privacy.ratio import laplace, ratio_disclosure, simulate

ADULT = Path(__file__).parents[3] / "shared/data/adult.parquet"

TABLE_2 = {
    0.2: [0.000008, 0.0002, 0.0008, 0.005, 0.02],
    0.1: [0.000032, 0.0008, 0.0032, 0.02, 0.08],
    0.05: [0.000128, 0.0032, 0.0128, 0.08, 0.32],
    0.01: [0.0032, 0.08, 0.32, 2, 8],
}
BOLD = {0.2: 4, 0.1: 3, 0.05: 2, 0.01: 1}

TABLE_1 = {0.01: (1.34392, 1.36299), 0.1: (0.860966, 0.0985138), 0.5: (0.832659, 0.0645165)}


@pytest.mark.parametrize("epsilon", TABLE_2)
def test_table_2_comes_out(epsilon):
    """2 (b/x)^2 for x = 5000 .. 100, and what is printed bold is what b/x <= 1/20 calls a disclosure."""
    found = [ratio_disclosure(x, x, epsilon) for x in (5000, 1000, 500, 200, 100)]
    assert [f.bias_bound for f in found] == pytest.approx(TABLE_2[epsilon])
    assert [f.discloses for f in found] == [i < BOLD[epsilon] for i in range(5)]


@pytest.mark.parametrize("epsilon", TABLE_1)
def test_table_1_confidence_comes_out(epsilon):
    """The confidence of 10 trials, as printed, is within 2 printed standard errors of our expectation and median."""
    asked = ratio_disclosure(501, 420, epsilon)
    printed, error = TABLE_1[epsilon]
    assert abs(asked.expectation - printed) < 2 * error
    assert abs(simulate(asked, Entropy.seeded(1).stream("table 1")).median - printed) < 2 * error


def test_table_1_relative_errors_cannot_be_those_of_its_own_noise():
    """The mean of 10 relative errors is (b/y) Gamma(10)/10. For epsilon = 0.5 the printed 0.0700 has probability below
    1e-20 with b = 4; at epsilon = 0.01 the printed 0.570 is ordinary."""

    def chance(printed, b, answer):
        return stats.gamma.sf(10 * printed * answer / b, 10)

    assert chance(0.069974, 4, 420) < 1e-20
    assert chance(0.570118, 200, 420) > 0.1
    assert chance(0.614742, 200, 501) > 0.01


def test_simulation_agrees_with_taylor_where_noise_is_small():
    """20,000 trials at b/x = 1/125: median within 6 standard errors, deviation within 5% (sampling error 0.5% to 1%)."""
    asked = ratio_disclosure(501, 420, 0.5)
    found = simulate(asked, Entropy.seeded(2).stream("simulation"), 20_000)
    assert abs(found.median - asked.ratio) < 6 * 1.2533 * sqrt(asked.variance / 20_000)
    assert np.std(found.ratios) == pytest.approx(sqrt(asked.variance), rel=0.05)
    assert np.mean(found.errors_x) == pytest.approx(4 / 501, rel=0.06)
    low, high = found.quantiles(0.05, 0.95)
    assert low < asked.ratio < high
    assert found.quantiles()[0] == low


@pytest.mark.slow
def test_laplace_noise_has_its_law():
    """Kolmogorov-Smirnov on 400,000 noises, false-alarm rate 1e-6; a scale 3% larger is rejected."""
    noise = laplace(Entropy.seeded(3).stream("noise"), 400_000, 4.0)
    assert stats.kstest(noise, stats.laplace(scale=4.0).cdf).pvalue > 1e-6
    assert stats.kstest(noise, stats.laplace(scale=4.12).cdf).pvalue < 1e-6


def test_b_of_more_queries_and_fractions():
    assert ratio_disclosure(100, 50, "1/10", sensitivity=2, queries=3).scale == pytest.approx(60)


@pytest.mark.slow
def test_the_two_queries_of_example_1():
    """On Adult's 45,222 complete rows Q1 = 501 and Q2 = 420."""
    if not ADULT.exists():
        pytest.skip("shared/data/adult.parquet is not here")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(ADULT).to_pylist()
    complete = [row for row in table if not any(value in (None, "?") for value in row.values())]
    wanted = {"education": "Prof-school", "occupation": "Prof-specialty", "race": "White", "sex": "Male"}
    people = [row for row in complete if all(row[name] == value for name, value in wanted.items())]
    assert len(complete) == 45_222
    assert (len(people), sum(row["income"] == ">50K" for row in people)) == (501, 420)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0, 0, 1), "x > 0"),
        ((10, 11, 1), "y counts some of x"),
        ((10, 5, 0), "epsilon and sensitivity must be above 0"),
        ((10, 5, 1, 1, 0), "queries at least 1"),
        ((10, 5, "much"), "epsilon must be a number"),
    ],
)
def test_errors_name_the_rule(given, words):
    with pytest.raises(ParameterError, match=words):
        ratio_disclosure(*given)


def test_a_simulation_needs_trials():
    with pytest.raises(ParameterError, match="at least 1 trial"):
        simulate(ratio_disclosure(10, 5, 1), Entropy.seeded(1).stream("x"), 0)
