"""Fine-grain perturbation: the papers' figures, the direct search against a linear program, and exact posteriors."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from scumble.core.channel import Channel, gamma_bound
from scumble.core.coins import Coins
from scumble.core.errors import ParameterError
from scumble.mechanisms.channel_utility import expected_error, record_utility
from scumble.mechanisms.fine_grain_channel import fine_grain, gammas_from_scores
from scumble.privacy import posteriors

THESIS = [4, 4, 3, 2, 1]
PAPER: dict[str, Any] = {"rho1": ["1/10", "1/10", "1/9", "1/8"], "rho2": ["1/7", "1/4", "19/35", "18/25"]}


def rows(gamma, breaches):
    """All m (m - 1) rows of the program, or twice as many, as A p <= b."""
    m, found, right = len(gamma), [], []
    for i, j in ((i, j) for i in range(m) for j in range(m) if i != j and math.isfinite(gamma[i])):
        for kept, other in [(i, j), (j, i)][: 2 if breaches == "both" else 1]:
            row = np.zeros(m)
            row[kept], row[other] = m - 1, gamma[i]
            found.append(row)
            right.append(gamma[i] - 1)
    return np.array(found), np.array(right)


def uniform_retention(gamma):
    return (min(gamma) - 1) / (len(gamma) - 1 + min(gamma))


def random_instance(rng, largest=60):
    m = int(rng.integers(2, rng.choice([6, 15, largest + 1])))
    gamma = 1 + rng.exponential(rng.choice([0.5, 5, 50]), m)
    if rng.random() < 0.4:
        gamma = rng.choice([1.5, 3.0, 9.0, 20.0], m)
    if rng.random() < 0.3:
        gamma[rng.random(m) < 0.3] = math.inf
    gamma[0] = 1 + rng.exponential(5)
    weights = rng.random(m) ** rng.integers(1, 9)
    if rng.random() < 0.2:
        weights[1:][rng.random(m - 1) < 0.4] = 0
    breaches = str(rng.choice(["upward", "both"]))
    return gamma, weights, breaches, float(rng.choice([0, 0, 0.3, 0.9, 1])) * uniform_retention(gamma)


def worst_prior(channel, value, mass):
    """All that is not on the value is on the other that its publication makes least likely."""
    row = np.delete(channel.matrix()[value], value)
    other = int(np.delete(np.arange(channel.size), value)[np.argmin(row)])
    prior = np.zeros(channel.size)
    prior[value], prior[other] = mass, 1 - mass
    return prior


def test_the_thesis_example():
    channel = fine_grain(THESIS, theta=3)
    assert channel.retain.round(4).tolist() == [0.5283, 0.5283, 0.5283, 0.2807, 0.1681]
    assert round(record_utility(channel, THESIS), 4) == 0.5738
    assert round(record_utility(fine_grain(THESIS, theta=3, breaches="both"), THESIS), 4) == 0.5711
    assert round(record_utility(Channel.from_gamma(5, gamma_bound("1/14", "3/14")), THESIS), 3) == 0.470


def test_theta_is_the_frequency_and_its_multiple():
    f = np.array(THESIS) / 14
    gamma = [gamma_bound(x, 3 * x) for x in f]
    assert gamma[2] == pytest.approx(6 + 3 / 5)  # AIDS; table 7 prints 6 2/7
    np.testing.assert_allclose(fine_grain(THESIS, gamma=gamma).retain, fine_grain(THESIS, theta=3).retain)
    np.testing.assert_allclose(fine_grain(THESIS, rho1=f, rho2=3 * f).retain, fine_grain(THESIS, theta=3).retain)


def test_the_paper_example():
    channel = fine_grain([1, 1, 1, 1], **PAPER)
    assert np.diag(channel.matrix()).round(9).tolist() == [0.25, 0.5, 0.5, 0.5]
    assert record_utility(channel, [1, 1, 1, 1]) == pytest.approx(0.4375)
    both = fine_grain([1, 1, 1, 1], **PAPER, breaches="both")
    assert record_utility(both, [1, 1, 1, 1]) == pytest.approx(0.34375)


def test_upward_protection_does_not_imply_downward():
    """Prior of SARS 1/7, the rest cancer: seeing cancer leaves SARS below its rho1 of 1/10, unless both are asked for."""
    prior = [1 / 7, 0, 0, 6 / 7]
    upward = posteriors(fine_grain([1, 1, 1, 1], **PAPER), prior)[3, 0]
    both = posteriors(fine_grain([1, 1, 1, 1], **PAPER, breaches="both"), prior)[3, 0]
    assert round(upward, 4) == 0.0769
    assert both >= 1 / 10 - 1e-12


@pytest.mark.slow
def test_the_direct_search_is_the_linear_program():
    rng = np.random.default_rng(4)
    alone = 0
    for _ in range(400):
        gamma, weights, breaches, floor = random_instance(rng)
        p = fine_grain(np.ones(len(gamma)), gamma=gamma, weights=weights, breaches=breaches, floor=floor).retention
        matrix, right = rows(gamma, breaches)
        assert np.all(matrix @ p <= right * (1 + 1e-12) + 1e-12)
        assert floor <= p.min() <= p.max() <= 1
        program = linprog(-weights, matrix, right, bounds=[(floor, 1)] * len(p), method="highs")
        # HiGHS stops within its own tolerance of 1e-7, ours is exact: it must never be below
        assert weights @ p >= -program.fun - 1e-6 * weights.sum()
        assert weights @ p <= -program.fun + 1e-6 * weights.sum()
        alone += np.count_nonzero(p == p.max()) == 1 and math.isfinite(gamma[np.argmax(p)])
    assert alone > 20, "the case of one value above all others must have been tried"


def test_one_value_may_exceed_all_others():
    """With one gamma for all, the best is not the uniform channel where one value has nearly all the weight."""
    channel = fine_grain([97, 1, 1, 1], gamma=3)
    assert np.argmax(channel.retention) == 0
    assert record_utility(channel, [97, 1, 1, 1]) > record_utility(Channel.from_gamma(4, 3), [97, 1, 1, 1]) + 0.1


@pytest.mark.parametrize("breaches", ["upward", "both"])
def test_no_posterior_exceeds_what_was_asked(breaches):
    rng = np.random.default_rng(7)
    for _ in range(60):
        m = int(rng.integers(2, 9))
        rho1 = rng.uniform(0.01, 0.4, m)
        rho2 = rho1 + rng.uniform(0.05, 0.9, m) * (1 - rho1)
        asked = fine_grain(rng.random(m), rho1=rho1, rho2=rho2, breaches=breaches)
        applied = Coins.of(asked).channel()
        assert np.all(applied.retention <= asked.retention)
        for channel in (asked, applied):
            for i in range(m):
                after = posteriors(channel, worst_prior(channel, i, rho1[i]))[:, i]
                assert np.nanmax(after) <= rho2[i] + 1e-12
                for other in set(range(m)) - {i} if breaches == "both" else ():
                    prior = np.zeros(m)
                    prior[i], prior[other] = rho2[i], 1 - rho2[i]
                    assert np.nanmin(posteriors(channel, prior)[:, i]) >= rho1[i] - 1e-12


def test_the_smallest_gamma_of_several_conditions_counts():
    several = fine_grain(THESIS, rho1=[0.1, [0.1, 0.2], 0.1, 0.1, 0.1], rho2=[0.5, [0.5, 0.3], 0.5, 0.5, 0.5])
    assert several == fine_grain(THESIS, gamma=[9, [gamma_bound(0.2, 0.3), 9], 9, 9, 9])
    assert several == fine_grain(
        THESIS, rho1=[[0.1, 0.1]] + [[0.1, 0.2]] + [[0.1, 0.1]] * 3, rho2=[[0.5] * 2, [0.5, 0.3]] + [[0.5] * 2] * 3
    )


def test_a_floor_holds_and_ends_at_the_uniform_channel():
    limit = uniform_retention([39 / 11] * 5)
    utilities = [record_utility(fine_grain(THESIS, theta=3, floor=f * limit), THESIS) for f in (0, 0.25, 0.5, 0.75)]
    assert utilities == sorted(utilities, reverse=True)
    np.testing.assert_allclose(fine_grain(THESIS, theta=3, floor=limit * (1 - 1e-12)).retention, limit, rtol=1e-9)
    with pytest.raises(ParameterError, match=r"between 0 and 0\.337349.*value 4"):
        fine_grain(THESIS, theta=3, floor=0.34)


def test_a_value_without_protection_or_records():
    """Weight 0 drives retention to 0, where two values cannot be told apart: the floor is for that."""
    counts, gamma = [90, 10, 0, 0], [math.inf, 4, 4, 4]
    assert len(fine_grain(counts, gamma=gamma).never_retained) == 3
    assert expected_error(fine_grain(counts, gamma=gamma), counts) == math.inf
    assert math.isfinite(expected_error(fine_grain(counts, gamma=gamma, floor=0.1), counts))


@pytest.mark.slow
def test_the_error_objective_is_never_worse():
    rng = np.random.default_rng(11)
    gains = []
    for _ in range(25):
        gamma, weights, breaches, floor = random_instance(rng, largest=12)
        counts = 1000 * rng.random(len(gamma)) ** 4 + 1
        workload = rng.random((4, len(gamma))) < 0.5 if rng.random() < 0.3 else None
        given = {"gamma": gamma, "breaches": breaches, "floor": floor}
        asked = None if workload is not None else weights
        best = fine_grain(counts, **given, objective="error", workload=workload, weights=asked)
        matrix, right = rows(gamma, breaches)
        assert np.all(matrix @ best.retention <= right * (1 + 1e-12) + 1e-12)
        assert best.retention.min() >= floor * (1 - 1e-12)
        error, uniform, records = (
            expected_error(channel, counts, workload, asked)
            for channel in (best, Channel(uniform_retention(gamma), size=len(gamma)), fine_grain(counts, **given))
        )
        assert error <= min(uniform, records) * (1 + 1e-9)
        gains.append(uniform / error if error > 0 else 1)
    assert max(gains) > 1.5


def test_each_objective_wins_on_its_own_ground():
    counts = np.floor(1e5 / np.arange(1, 47))
    records, error = (fine_grain(counts, theta=20, objective=each) for each in ("records", "error"))
    assert record_utility(records, counts) > record_utility(error, counts) + 0.05
    assert expected_error(error, counts) < expected_error(records, counts) / 3


def test_the_expected_error_is_the_variance_of_the_estimates():
    """By enumeration of all outcomes of a record, with zero retention and given replacement too."""
    rng = np.random.default_rng(3)
    for zero in (False, True):
        retain, replace, counts = rng.uniform(0.1, 1, 5), rng.dirichlet(np.ones(5)), rng.integers(0, 50, 5)
        retain[2] *= not zero
        channel, workload = Channel(retain, replace), rng.normal(size=(3, 5)) + 100
        total = 0.0
        for h in workload:
            phi, P = channel.weights(h), channel.matrix()
            total += sum(n * (P[:, x] @ phi**2 - (P[:, x] @ phi) ** 2) for x, n in enumerate(counts))
        assert expected_error(channel, counts, workload) == pytest.approx(total, rel=1e-6)
    apart = Channel([0, 0, 0.5])
    assert expected_error(apart, [1, 1, 1]) == math.inf
    assert 0 < expected_error(apart, [1, 1, 1], [[1, 1, 0]]) < math.inf


def test_scores_divide_the_budget():
    gamma = gammas_from_scores([1, 2, 0], 9)
    assert gamma.tolist() == [9, 3, math.inf]
    assert fine_grain([1, 1, 1], gamma=gamma).retention.min() >= 0
    with pytest.raises(ParameterError, match="'HVI'; did you mean 'HIV'"):
        gammas_from_scores({"HVI": 2}, 9, values=["flu", "HIV"])
    with pytest.raises(ParameterError, match="3 scores are given for 2 values"):
        gammas_from_scores([1, 2, 0], 9, values=["flu", "HIV"])
    with pytest.raises(ParameterError, match="value 1 has -1"):
        gammas_from_scores([1, -1], 9)


@pytest.mark.parametrize(
    ("counts", "given", "message"),
    [
        ([1, 1], {"gamma": 1}, "value 0: gamma must be above 1, not 1"),
        ([1, 1], {"gamma": [2, 0.5]}, "value 1: gamma must be above 1"),
        ([1, 1, 1], {"gamma": [2, 3]}, "given for 2 values, but there are 3"),
        ([1, 1], {"rho1": [0.1, 0.3], "rho2": 0.2}, "value 1: 0 < rho1 < rho2 < 1 must hold"),
        ([1, 1], {"rho1": [[0.1, 0.1, 0.1], 0.1], "rho2": [[0.2, 0.3], 0.2]}, "value 0: .* as many conditions"),
        ([1, 1], {"rho1": 0.1}, "exactly one"),
        ([1, 1], {"theta": 2, "gamma": 2}, "exactly one"),
        ([1, 1], {}, "exactly one"),
        ([1, 1], {"theta": 1}, "theta must be above 1"),
        ([5, 0, 1], {"theta": 1.1}, r"value 1 has none \(count 0\)"),
        ([1, 1], {"theta": 2}, "no value needs protection"),
        ([1, 1], {"gamma": "inf"}, "no value needs protection"),
        ([1, 1], {"gamma": 2, "breaches": "downward"}, "there is no breaches 'downward'"),
        ([1, 1], {"gamma": 2, "objective": "recrods"}, "did you mean 'records'"),
        ([1, 1], {"gamma": 2, "workload": [[1, 0]]}, "only for objective='error'"),
        ([1, 1], {"gamma": 2, "workload": [[1, 0, 0]], "objective": "error"}, "row of 2 finite numbers"),
        ([1, 1], {"gamma": 2, "weights": [1]}, "weights must hold 2 numbers"),
        ([1, 1], {"gamma": 2, "weights": [0, 0]}, "not all zero"),
        ([1, -1], {"gamma": 2}, "value 1 has -1"),
        ([0, 0], {"gamma": 2}, "all zero"),
        ([1], {"gamma": 2}, "two or more"),
        ([1, 1], {"gamma": 2, "floor": -0.1}, "floor must lie between 0 and"),
    ],
)
def test_mistakes_are_named(counts, given, message):
    with pytest.raises(ParameterError, match=message):
        fine_grain(counts, **given)


def test_large_domains_are_solved():
    """The program with all its rows would have 10,000 squared of them, and take minutes and gigabytes."""
    rng = np.random.default_rng(1)
    counts, gamma = rng.zipf(1.5, 10_000), 1 + rng.exponential(20, 10_000)
    channel = fine_grain(counts, gamma=gamma)
    largest = channel._largest_other()
    assert np.all(9_999 * channel.retention + gamma * largest <= (gamma - 1) * (1 + 1e-12))
