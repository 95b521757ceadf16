"""Draws of counts follow their laws, and the tests would notice a small error.

Statistical tests: chi-square of TRIALS draws from a seeded stream, false-alarm rate 1e-6 each; every law is also shown to
be REJECTED when its parameter is off by a little.
"""

from collections.abc import Callable
from functools import partial
from math import comb

import numpy as np
import pytest
from scipy import stats

from scumble.core import draws
from scumble.core.entropy import Entropy, Stream
from scumble.core.errors import ParameterError

TRIALS = 200_000
FALSE_ALARM = 1e-6


@pytest.fixture
def stream() -> Stream:
    return Entropy.seeded(5).stream("draws")


def p_value(drawn: np.ndarray, law: Callable[[np.ndarray], np.ndarray]) -> float:
    """Chi-square of drawn integers against a law; outcomes expected fewer than 10 times are pooled with the rarest other."""
    outcomes = np.arange(drawn.max() + 2)
    expected = law(outcomes) * len(drawn)
    seen = np.bincount(drawn, minlength=len(outcomes)).astype(float)
    usual = expected >= 10
    cells, counts = expected[usual], seen[usual]
    least = np.argmin(cells)
    cells[least] += len(drawn) - cells.sum()
    counts[least] += len(drawn) - counts.sum()
    return float(stats.chi2.sf(((counts - cells) ** 2 / cells).sum(), len(cells) - 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (7, 0.5), (20, 0.51), (63, 0.01), (64, 0.75), (65, 0.99), (1000, 1 / 3)]
)
def test_binomial_has_its_law_and_not_a_neighbouring_one(stream, n, p):
    """Drawn at p, the law of p passes and that of a p off by 3% of min(p, 1 - p) is rejected."""
    drawn = draws.binomial(stream, np.full(TRIALS, n), p)
    assert p_value(drawn, lambda k: stats.binom.pmf(k, n, p)) > FALSE_ALARM
    wrong = p + 0.03 * min(p, 1 - p) if n >= 7 else p + 0.01
    assert p_value(drawn, lambda k: stats.binom.pmf(k, n, wrong)) < FALSE_ALARM


def test_binomial_takes_arrays_of_both_and_the_ends(stream):
    drawn = draws.binomial(stream, [[5], [0]], [0.0, 1.0, 0.5])
    assert drawn.shape == (2, 3)
    assert drawn[0, :2].tolist() == [0, 5]
    assert drawn[1].tolist() == [0, 0, 0]


def test_binomial_of_a_large_n_stays_within_six_deviations(stream):
    """Words are added up over many: 100 draws of Bin(10^6, 0.3), each within 6 deviations (false alarm 2e-7)."""
    drawn = draws.binomial(stream, np.full(100, 10**6), 0.3)
    assert np.abs(drawn - 3e5).max() < 6 * np.sqrt(1e6 * 0.21)


class Scripted:
    """A stream that hands out given words, to see single digits decide."""

    def __init__(self, *words: int) -> None:
        self.given = list(words)

    def integers(self, count: int, bits: int) -> np.ndarray:
        assert bits == 64
        return np.array([self.given.pop(0) for _ in range(count)], dtype=np.uint64)


def test_binomial_compares_digit_by_digit():
    """p = 0.625 = 0.101: of 4 records, 1 has digit 0 (succeeds), of 3 left 2 have digit 0 (stay), of 2 left 1 succeeds."""
    script = Scripted(0b0001 << 60, 0b011 << 61, 0b01 << 62)
    assert draws.binomial(script, 4, 0.625) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize("m", [1, 2, 3, 5, 8, 50])
@pytest.mark.slow
def test_uniform_has_its_law(stream, m):
    """The count of the first and of the last value is Bin(9, 1/m), and not Bin(9, 1.05/m)."""
    drawn = draws.uniform(stream, np.full(TRIALS, 9), m)
    assert drawn.shape == (TRIALS, m)
    assert (drawn.sum(axis=1) == 9).all()
    if m > 1:
        for value in (0, m - 1):
            assert p_value(drawn[:, value], lambda k: stats.binom.pmf(k, 9, 1 / m)) > FALSE_ALARM
            assert p_value(drawn[:, value], lambda k: stats.binom.pmf(k, 9, 1.05 / m)) < FALSE_ALARM


def test_uniform_spreads_two_records_over_all_pairs_alike(stream):
    """Jointly: two records on 3 values give each of the 6 outcomes with probability 1/9 or 2/9."""
    drawn = draws.uniform(stream, np.full(TRIALS, 2), 3)
    codes = drawn @ np.array([9, 3, 1])
    chances = {18: 1 / 9, 6: 1 / 9, 2: 1 / 9, 12: 2 / 9, 10: 2 / 9, 4: 2 / 9}
    assert p_value(codes, lambda k: np.array([chances.get(int(i), 0.0) for i in k])) > FALSE_ALARM


def test_multinomial_has_its_margins_and_total(stream):
    chances = np.array([0.1, 0.0, 0.6, 0.3])
    drawn = draws.multinomial(stream, np.full(TRIALS, 12), chances)
    assert (drawn.sum(axis=1) == 12).all()
    assert not drawn[:, 1].any()
    for value in (0, 2, 3):
        assert p_value(drawn[:, value], partial(stats.binom.pmf, n=12, p=chances[value])) > FALSE_ALARM
    assert p_value(drawn[:, 3], lambda k: stats.binom.pmf(k, 12, 0.31)) < FALSE_ALARM


def test_multinomial_loses_nobody_to_rounding(stream):
    """Ten times 0.1 is not 1 in floating point; the totals hold all the same."""
    assert (draws.multinomial(stream, np.full(1000, 1000), [0.1] * 10).sum(axis=1) == 1000).all()


def test_perturb_has_the_law_of_the_channel(stream):
    """The published count of a value is Bin(c, p + (1-p)/m) + Bin(n - c, (1-p)/m)."""
    drawn = draws.perturb(stream, np.tile([6, 3, 1, 0], (TRIALS, 1)), 0.5)
    law = np.convolve(stats.binom.pmf(np.arange(7), 6, 0.625), stats.binom.pmf(np.arange(5), 4, 0.125))
    assert (drawn.sum(axis=1) == 10).all()
    assert p_value(drawn[:, 0], lambda k: np.append(law, 0.0)[np.minimum(k, len(law))]) > FALSE_ALARM
    off = np.convolve(stats.binom.pmf(np.arange(7), 6, 0.635), stats.binom.pmf(np.arange(5), 4, 0.125))
    assert p_value(drawn[:, 0], lambda k: np.append(off, 0.0)[np.minimum(k, len(off))]) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 4, 9])
@pytest.mark.parametrize("few", [0, 1 << 30])
def test_hypergeometric_split_has_its_law(stream, monkeypatch, size, few):
    """A sample of 10 records (5, 3, 2) has jointly the multivariate hypergeometric law, and not that with replacement: halved or put into order."""
    monkeypatch.setattr(draws, "FEW", few)
    counts = [5, 3, 2]
    drawn = draws.hypergeometric_split(stream, np.tile(counts, (TRIALS, 1)), size)
    assert (drawn.sum(axis=1) == size).all()

    def law(codes):
        parts = [codes // 100, codes // 10 % 10, codes % 10]
        ways = [np.array([comb(n, int(k)) for k in part]) for n, part in zip(counts, parts, strict=True)]
        return np.prod(ways, axis=0) / comb(10, size) * (sum(parts) == size)

    codes = drawn @ np.array([100, 10, 1])
    assert p_value(codes, law) > FALSE_ALARM
    if size > 1:
        assert p_value(drawn[:, 0], lambda k: stats.binom.pmf(k, size, 0.5)) < FALSE_ALARM


def test_hypergeometric_split_takes_groups_of_any_size(stream):
    counts = np.array([[0, 0], [3, 0], [10**6, 10**6], [2, 5]])
    drawn = draws.hypergeometric_split(stream, counts, [0, 2, 1000, 7])
    assert drawn.sum(axis=1).tolist() == [0, 2, 1000, 7]
    assert (drawn <= counts).all()
    assert drawn[3].tolist() == [2, 5]


def test_proportional_split_rounds_each_count_and_keeps_its_mean(stream):
    """Of (7, 2, 1) five are 3.5, 1, 0.5: rounded down or up alike, and five in all."""
    drawn = draws.proportional_split(stream, np.tile([7, 2, 1], (TRIALS, 1)), 5)
    assert (drawn.sum(axis=1) == 5).all()
    assert set(drawn[:, 1].tolist()) == {1}
    assert p_value(drawn[:, 0] - 3, lambda k: stats.binom.pmf(k, 1, 0.5)) > FALSE_ALARM
    assert p_value(drawn[:, 0] - 3, lambda k: stats.binom.pmf(k, 1, 0.51)) < FALSE_ALARM


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: draws.binomial(s, -1, 0.5), "none negative"),
        (lambda s: draws.binomial(s, 1.5, 0.5), "whole numbers"),
        (lambda s: draws.binomial(s, 1, 1.5), r"in \[0, 1\]"),
        (lambda s: draws.multinomial(s, 1, [0.5, 0.4]), "sum to 1"),
        (lambda s: draws.uniform(s, 1, 0), "at least one value"),
        (lambda s: draws.hypergeometric_split(s, [[1, 2]], 4), "group 0 has 3 records and cannot give 4"),
        (lambda s: draws.hypergeometric_split(s, [1, 2], 1), "groups by values"),
    ],
)
def test_errors_name_the_rule(stream, call, words):
    with pytest.raises(ParameterError, match=words):
        call(stream)
