"""Reconstruction privacy: the figures of the paper and of its correction, the definition by brute force, and errors."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from scumble.core.errors import ParameterError
from scumble.privacy.reconstruction import rung_for, rungs, sample_size
from scumble.privacy.tails import Tails, fails, lambda_limits, tails
from scumble.privacy.violations import violations


def by_fractions(n, c, p, m, lam):
    """Both tails in exact rational arithmetic."""
    p, lam = Fraction(p), Fraction(lam)
    own, other = p + (1 - p) / m, (1 - p) / m

    def law(trials, chance):
        return [comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]

    mean, upper, lower = n * other + p * c, Fraction(0), Fraction(0)
    for i, first in enumerate(law(c, own)):
        for j, second in enumerate(law(n - c, other)):
            upper += first * second * (i + j > mean + lam * p * c)
            lower += first * second * (i + j < mean - lam * p * c)
    return float(upper), float(lower)


def by_definition(f, p, m, lam, delta):
    """The sample size, pair by pair."""
    n = 1
    while all(min(by_fractions(n, c, p, m, lam)) >= delta for c in range(1, -int(-Fraction(f) * n // 1) + 1)):
        n += 1
    return n - 1


@pytest.mark.parametrize(
    ("m", "f", "expected"),
    [
        (2, 0.5, 214.0),
        (2, 0.7, 131.0),
        (2, 0.9, 92.5),
        (50, 0.1, 642.1),
        (50, 0.3, 190.3),
        (50, 0.5, 111.3),
        (50, 0.9, 60.8),
    ],
)
def test_chernoff_sample_sizes_of_the_paper(m, f, expected):
    assert sample_size(f, 0.5, m, 0.3, 0.3, tail="chernoff") == pytest.approx(expected, abs=0.051)


@pytest.mark.parametrize(
    ("n", "c", "m", "upper", "lower"),
    [(214, 107, 2, 0.0045, 0.0045), (642, 64, 50, 0.016, 0.015), (190, 57, 50, 0.020, 0.011)],
)
def test_true_tails_at_the_chernoff_sample_size(n, c, m, upper, lower):
    """Where the bound says 0.3 the tails are 15 times smaller and more."""
    found = tails(n, c, 0.5, m, 0.3)
    assert (round(float(found.upper), len(str(upper)) - 2), round(float(found.lower), len(str(lower)) - 2)) == (
        upper,
        lower,
    )
    assert tails(n, c, 0.5, m, 0.3, tail="chernoff").lower == pytest.approx(0.3, abs=0.003)


@pytest.mark.parametrize(
    ("n", "c", "p", "m", "lam"),
    [
        (1, 1, "1/2", 2, "3/10"),
        (20, 20, "1/2", 2, "3/10"),  # 5 + 13: the threshold is whole, and not exceeded by itself
        (40, 20, "1/2", 2, "3/10"),
        (28, 12, "1/2", 5, "3/10"),  # whole too, and in floating point on the wrong side of it
        (23, 5, "3/10", 2, "3/10"),
        (30, 3, "9/10", 50, "1/10"),
        (45, 40, "1/10", 7, "1/2"),
        (60, 1, "1/2", 50, "3/10"),
    ],
)
def test_tails_equal_rational_arithmetic(n, c, p, m, lam):
    expected = by_fractions(n, c, p, m, lam)
    assert [float(t) for t in tails(n, c, p, m, lam)] == pytest.approx(expected, rel=1e-11, abs=1e-300)


@pytest.mark.slow
def test_tails_are_relatively_accurate_where_they_are_tiny():
    """A tail of 1e-30 comes out to 9 digits."""
    expected = by_fractions(400, 200, "1/2", 2, "4/5")
    assert expected[0] < 1e-15
    assert [float(t) for t in tails(400, 200, 0.5, 2, 0.8)] == pytest.approx(expected, rel=1e-9)


def test_tails_take_arrays_and_large_groups():
    found = tails(np.array([[10], [10**6]]), np.array([1, 5]), 0.5, 50, 0.3)
    assert np.shape(found.upper) == (2, 2)
    assert 0.4 < found.upper[1, 0] < 0.5
    assert tails(10**6, 5 * 10**5, 0.5, 2, 0.01).upper == pytest.approx(3.9e-9, rel=0.02)  # Phi(-2500/433)


def test_bounds_are_bounds():
    """Chernoff is never below the tail, and the verdict of the bounds is that of the tails, for all pairs up to n = 60."""
    n, c = (grid.ravel() for grid in np.meshgrid(np.arange(1, 61), np.arange(1, 61)))
    n, c = n[c <= n], c[c <= n]
    for p, m, lam, delta in [(0.5, 2, 0.3, 0.1), (0.5, 50, 0.3, 0.1), (0.1, 4, 0.9, 0.3), (0.9, 3, 0.2, 0.01)]:
        exact, bound = tails(n, c, p, m, lam), tails(n, c, p, m, lam, tail="chernoff")
        assert (exact.upper <= bound.upper).all()
        assert (exact.lower <= bound.lower).all()
        assert (fails(n, c, p, m, lam, delta) == (exact.least < delta)).all()


def test_normal_bounds_decide_as_convolutions_do():
    """Pairs of large groups around the border, where Berry-Esseen decides most."""
    n, c = np.full(200, 4000), np.arange(3601, 4001, 2)
    assert (fails(n, c, 0.1, 2, 0.1, 0.1) == (tails(n, c, 0.1, 2, 0.1).least < 0.1)).all()
    assert 0 < fails(n, c, 0.1, 2, 0.1, 0.1).sum() < 200


@pytest.mark.parametrize(
    ("f", "p", "m", "lam", "delta"),
    [
        ("1", "1/2", 2, "3/10", 0.1),
        ("1", "1/2", 50, "3/10", 0.1),
        ("7/10", "1/2", 2, "3/10", 0.1),
        ("1/2", "1/2", 5, "3/10", 0.15),
        ("1", "3/10", 2, "3/10", 0.1),
        ("3/10", "1/2", 50, "3/10", 0.1),
    ],
)
@pytest.mark.slow
def test_sample_size_is_the_definition(f, p, m, lam, delta):
    assert sample_size(f, p, m, lam, delta) == by_definition(f, p, m, lam, delta)


def test_sample_sizes_of_many_frequencies_are_those_of_each():
    """One sweep for all, whatever their order; and a higher frequency never allows more."""
    asked = np.array([0.31, 1, 0.1, 0.31, 0.77, 0.5])
    together = sample_size(asked, 0.5, 50, 0.3, 0.1)
    assert together.tolist() == [sample_size(f, 0.5, 50, 0.3, 0.1) for f in asked]
    assert (np.diff(together[np.argsort(asked)]) <= 0).all()


def test_default_sample_sizes():
    """At f = 1, delta = 0.1: a dozen records; delta = 0.3 leaves one or none; the smooth approximation said 20 at f = 0.9."""
    assert [sample_size(1, 0.5, m, 0.3, 0.1) for m in (2, 50)] == [8, 12]
    assert [sample_size(1, 0.5, m, 0.3, 0.3) for m in (2, 50)] == [0, 1]
    assert sample_size([0.1, 0.3, 0.9], 0.5, 50, 0.3, 0.05).tolist() == [344, 83, 27]


def test_an_estimate_that_cannot_be_too_high_is_never_private():
    """p = 0.9, m = 2: no estimate exceeds f by 30% when f = 1, so the upper tail is 0 and the sample empty."""
    _, above = lambda_limits(1, 0.9, 2)
    assert above < 0.3
    assert tails(50, 50, 0.9, 2, 0.3).upper == 0
    assert sample_size(1, 0.9, 2, 0.3, 0.1) == 0


@pytest.mark.slow
def test_violations_are_those_of_the_definition():
    """Against every tail of 300 random groups."""
    generator = np.random.default_rng(4)
    counts = generator.multinomial(generator.integers(0, 60, 300), [0.5, 0.2, 0.2, 0.1])
    found = violations(counts, 0.5, 0.3, 0.1)
    for group, violating in zip(counts, found.exact.violating, strict=True):
        present = group[group > 0]
        assert violating == bool(len(present) and (tails(group.sum(), present, 0.5, 4, 0.3).least < 0.1).any())
    assert (found.chernoff.violating <= found.exact.violating).all()
    groups = counts.sum(axis=1) > 0
    assert found.exact.groups == found.exact.violating.sum() / groups.sum()
    assert found.exact.records == counts[found.exact.violating].sum() / counts.sum()


def test_the_worst_groups_come_first_with_both_tails():
    found = violations([[3, 2], [6000, 4000], [70, 10]], 0.5, 0.3, 0.1, worst=2)
    assert [exposure.group for exposure in found.worst] == [1, 2]
    worst = found.worst[1]
    assert (worst.value, worst.size, worst.count) == (0, 80, 70)
    assert worst.exact == Tails(*(float(t) for t in tails(80, 70, 0.5, 2, 0.3)))
    assert worst.exact.least < worst.chernoff.least


def test_a_group_of_the_sample_size_passes_and_stays_so():
    """At f = 1 every composition of s records or fewer passes, and some of s + 1 does not."""

    def compositions(n):
        return [(i, j, n - i - j) for i in range(n + 1) for j in range(n - i + 1)]

    size = sample_size(1, 0.5, 3, 0.3, 0.1)
    smaller = [counts for n in range(1, size + 1) for counts in compositions(n)]
    assert violations(smaller, 0.5, 0.3, 0.1).exact.groups == 0
    assert violations(compositions(size + 1), 0.5, 0.3, 0.1).exact.groups > 0


def test_the_ladder_is_public_and_wide():
    ladder = rungs(0.3, lowest=1 / 50)
    assert ladder[0] == 1
    assert ladder[:-1] / ladder[1:] == pytest.approx((1.3 / 0.7) ** 2)
    assert ladder[-1] <= 1 / 50 < ladder[-2]
    assert (rung_for(ladder, ladder) == ladder).all()
    assert (rung_for(np.linspace(0.02, 1, 99), ladder) >= np.linspace(0.02, 1, 99)).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0.5, 0.5, 2, 2.1, 0.1), r"lambda must lie in .* = \(0, 2\).*not 2.1"),
        ((1, 0.5, 2, 1.5, 0.1), r"\(0, 1.5\)"),
        ((1, 0.5, 2, 0, 0.1), r"\(0, 1.5\)"),
        ((1, 0.5, 1, 0.3, 0.1), "at least 2, not 1"),
        ((1, 1, 2, 0.3, 0.1), r"p is a retention probability and must lie in \(0, 1\)"),
        ((1, 0.5, 2, 0.3, 0), r"delta must lie in \(0, 1\), not 0"),
        ((1, 0.5, 2, 0.3, 1), r"delta must lie in \(0, 1\), not 1"),
        ((0, 0.5, 2, 0.3, 0.1), r"f is a frequency and must lie in \(0, 1\]"),
        (([0.5, 1.1], 0.5, 2, 0.3, 0.1), r"f is a frequency"),
    ],
)
def test_errors_name_the_range(given, words):
    with pytest.raises(ParameterError, match=words):
        sample_size(*given)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sample_size(1, 0.5, 2, 0.3, 0.1, tail="chernof"), "did you mean 'chernoff'"),
        (lambda: tails(5, 0, 0.5, 2, 0.3), "1 <= c <= n"),
        (lambda: tails(5, 6, 0.5, 2, 0.3), "1 <= c <= n"),
        (lambda: tails(5.5, 1, 0.5, 2, 0.3), "n counts records"),
        (lambda: violations([[0, 0]], 0.5, 0.3, 0.1), "not all zero"),
        (lambda: violations([[3], [4]], 0.5, 0.3, 0.1), "at least 2, not 1"),
        (lambda: rungs(0.3, power=1), "closer rungs tell f"),
        (lambda: rungs(1), r"lambda in \(0, 1\)"),
        (lambda: rung_for(0.5, [0.1, 0.2]), "above the highest rung"),
    ],
)
def test_errors_name_the_way_out(call, words):
    with pytest.raises(ParameterError, match=words):
        call()


@pytest.mark.parametrize(("lam", "delta"), [(0.01, 0.05), (1e-9, 0.05), (1e-300, 0.05), (0.3, 1e-300)])
def test_sizes_that_cannot_be_found_in_seconds_are_refused_at_once(lam, delta):
    """A search over all sizes and counts would take minutes to years; a manifest may ask for it, too."""
    with pytest.raises(ParameterError, match="let samples have more than 3,162 records"):
        sample_size(1, 0.5, 3, lam, delta)


def test_a_small_lambda_with_small_sizes_is_answered():
    assert sample_size(1, 0.5, 3, 1e-4, 0.3) == 1
    assert sample_size(1, 0.5, 3, 0.05, 0.05) == 920
