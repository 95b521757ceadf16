"""A schema under a budget: how much one tuple changes, how much noise that needs, and what is still found."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2

from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError
from scumble.mechanisms.columnized.noisy_schema import (
    _agreements,
    _chosen,
    noisy,
    noisy_contingency,
    noisy_similarity,
    pair_sensitivity,
    rating_sensitivity,
)
from scumble.mechanisms.columnized.schema import group


def contingency(rows: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    tables = []
    for a, b in combinations(range(rows.shape[1]), 2):
        cells = np.zeros((sizes[a], sizes[b]), np.int64)
        np.add.at(cells, (rows[:, a], rows[:, b]), 1)
        tables.append(cells)
    return tables


def test_one_row_changes_the_pairs_by_their_sensitivity() -> None:
    draw = np.random.default_rng(1)
    rows = draw.integers(0, 3, (50, 5))
    before, after = contingency(rows[1:], [3] * 5), contingency(rows, [3] * 5)
    assert sum(np.abs(a - b).sum() for a, b in zip(after, before, strict=True)) == pair_sensitivity(5)


@pytest.mark.parametrize("most", [1, 3, 7])
def test_one_user_changes_the_ratings_by_their_sensitivity_at_most(most: int) -> None:
    """A user who rates all 20 items alike is the worst case, and reaches it; the others keep their counts."""
    users, items = np.repeat(np.arange(6), 20), np.tile(np.arange(20), 6)
    values = np.where(users == 5, 1, items % 3)
    everyone = _chosen(Entropy.seeded(1).stream("s"), users, items, values, 20, most)
    others = everyone[:5]
    support = [np.bincount(c.indices % 20, minlength=20) for c in (everyone, others)]
    alike = [np.triu(_agreements(c, 20), 1) for c in (everyone, others)]
    assert np.abs(support[0] - support[1]).sum() + np.abs(alike[0] - alike[1]).sum() == rating_sensitivity(most)


def test_noise_is_as_wide_as_the_sensitivity_asks() -> None:
    """Y - n over 200,000 counts of 1,000 with r = e^(-1/6): variance 2r/(1-r)^2, tested by its standard error at 1e-6 (z = 4.9)."""
    n = 200_000
    error = noisy(Entropy.seeded(2).stream("n"), np.full(n, 1000), 1.0, 6) - 1000
    r = np.exp(-1 / 6)
    variance = 2 * r / (1 - r) ** 2
    spread = np.sqrt(((error**2 - variance) ** 2).mean() / n)
    assert abs((error**2).mean() - variance) < 4.9 * spread
    assert abs((error**2).mean() - variance / 1.05) > 4.9 * spread, "5% less noise would be noticed"
    observed = np.bincount(np.clip(error + 5, 0, 10).astype(int), minlength=11)
    inside = (1 - r) / (1 + r) * r ** np.abs(np.arange(-4, 5))
    tail = r**5 / (1 + r)
    expected = n * np.array([tail, *inside, tail])
    assert ((observed - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 10)


def test_correlated_attributes_come_out_together() -> None:
    """20,000 rows, two pairs of copies: found at epsilon = 1."""
    draw = np.random.default_rng(3)
    a, b = draw.integers(0, 4, (2, 20_000))
    tables = contingency(np.stack([a, b, a, b], axis=1), [4] * 4)
    alike = noisy_contingency(Entropy.seeded(1).stream("s"), tables, 4, 1.0)
    assert sorted(map(sorted, group(alike, 2))) == [[0, 2], [1, 3]]


def test_similar_items_come_out_together() -> None:
    draw = np.random.default_rng(4)
    taste = draw.integers(0, 2, 20_000)
    users = np.repeat(np.arange(20_000), 3)
    items = (3 * taste[:, None] + np.arange(3)).ravel()
    alike = noisy_similarity(Entropy.seeded(1).stream("s"), users, items, np.ones(60_000, int), 6, 3, 1.0)
    assert sorted(map(sorted, group(alike, 2))) == [[0, 1, 2], [3, 4, 5]]


def test_too_many_counts_are_refused_with_their_number() -> None:
    with pytest.raises(ParameterError, match="noise on 50,005,000 counts"):
        noisy_similarity(Entropy.seeded(1).stream("s"), *np.zeros((3, 1), int), 10_000, 3, 1.0)
