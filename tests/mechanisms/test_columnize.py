"""Correlations against their definitions, columns that go together, and the bound on columns a tuple."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chi2, chi2_contingency

from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError
from scumble.mechanisms.columnized.schema import (
    choose_columns,
    contingency_correlations,
    covered,
    group,
    mean_square_contingency,
    ratings_similarity,
)

pytest.importorskip("kmedoids")


def test_contingency_is_chi_square_over_its_largest_value() -> None:
    draw = np.random.default_rng(3)
    one = draw.integers(0, 5, 4000)
    other = np.where(draw.random(4000) < 0.4, one, draw.integers(0, 9, 4000))
    table = np.zeros((5, 9))
    np.add.at(table, (one, other), 1)
    expected = chi2_contingency(table, correction=False).statistic / 4000 / 4
    assert mean_square_contingency(one, other) == pytest.approx(expected, rel=1e-10)


def test_a_function_of_an_attribute_is_fully_correlated_and_a_constant_not_at_all() -> None:
    codes = np.arange(1000) % 7
    found = contingency_correlations([codes, (codes * 3 + 1) % 7, np.zeros(1000, int)])
    assert found.round(6).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_attributes_of_different_lengths_are_refused() -> None:
    with pytest.raises(ParameterError, match="equally many rows"):
        contingency_correlations([np.zeros(3, int), np.zeros(4, int)])


def test_similarity_is_agreement_over_union() -> None:
    """Against the definition, user by user, on 200 users and 9 items with user numbers far apart."""
    draw = np.random.default_rng(4)
    dense = np.where(draw.random((200, 9)) < 0.4, draw.integers(1, 6, (200, 9)), 0)
    users, items = np.nonzero(dense)
    found = ratings_similarity(users * 2**55 + 17, items, dense[users, items])
    for a, b in combinations(range(9), 2):
        agree = ((dense[:, a] == dense[:, b]) & (dense[:, a] > 0)).sum()
        either = ((dense[:, a] > 0) | (dense[:, b] > 0)).sum()
        assert found[a, b] == pytest.approx(agree / either, rel=1e-6)


def test_a_user_who_rates_an_item_twice_is_named() -> None:
    with pytest.raises(ParameterError, match="user 7 rates item 2 more than once"):
        ratings_similarity(np.array([3, 7, 7]), np.array([2, 2, 2]), np.array([1, 4, 5]))


@pytest.mark.slow
def test_memory_follows_the_ratings() -> None:
    """300,000 ratings of 480,000 users and 500 items: the dense matrix would take 240 MB in single bytes."""
    draw = np.random.default_rng(5)
    pairs = np.unique(draw.integers(0, 480_000 * 500, 300_000))
    tracemalloc.start()
    ratings_similarity(pairs // 500, pairs % 500, draw.integers(1, 6, len(pairs)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80e6


def test_too_many_attributes_are_refused_with_their_number() -> None:
    with pytest.raises(ParameterError, match="correlations of 20,001 attributes"):
        ratings_similarity(np.array([0]), np.array([20_000]), np.array([1]))


def blocks(*sizes: int) -> np.ndarray:
    """Correlations of 0.8 inside blocks of these sizes and 0.1 between them."""
    label = np.repeat(np.arange(len(sizes)), sizes)
    found = np.where(label[:, None] == label, 0.8, 0.1)
    np.fill_diagonal(found, 1)
    return found


def test_correlated_attributes_come_together() -> None:
    assert sorted(group(blocks(3, 5, 2), 3)) == [[0, 1, 2], [3, 4, 5, 6, 7], [8, 9]]


def test_several_numbers_of_columns_overlap() -> None:
    """Each number is a partition of its own; a column found twice is in the schema twice."""
    schema = group(blocks(3, 5, 2), [3, 3, 2])
    assert len(schema) == 8
    assert sorted([*schema[6], *schema[7]]) == list(range(10))
    assert sorted(schema[:3]) == sorted(schema[3:6])


def test_grouping_does_not_depend_on_chance() -> None:
    found = np.random.default_rng(6).random((40, 40))
    found = (found + found.T) / 2
    assert group(found, 6) == group(found, 6)


@pytest.mark.parametrize("columns", [0, 11, [3, 0], []])
def test_numbers_of_columns_that_cannot_be_are_refused(columns: int | list[int]) -> None:
    with pytest.raises(ParameterError, match="between 1 and the 10 attributes"):
        group(blocks(3, 5, 2), columns)


@pytest.mark.parametrize("correlation", [np.ones((2, 3)), np.full((2, 2), 1.5), np.full((2, 2), np.nan)])
def test_correlations_out_of_range_are_refused(correlation: np.ndarray) -> None:
    with pytest.raises(ParameterError, match=r"square table of numbers in \[0, 1\]"):
        group(correlation, 1)


def test_a_tuple_covers_the_columns_it_has_a_value_in() -> None:
    """Overlapping columns; user 2 rated nothing and covers nothing."""
    found = covered(np.array([0, 0, 1]), np.array([0, 3, 2]), [[0, 1], [2, 3], [0, 3]], 3)
    assert found.toarray().tolist() == [[True, True, True], [False, True, False], [False, False, False]]


def test_at_most_c_star_columns_of_its_own_are_kept() -> None:
    draw = np.random.default_rng(7)
    given = sparse.csr_array(draw.random((500, 12)) < 0.3)
    kept = choose_columns(Entropy.seeded(1).stream("choose"), given, 3)
    assert np.array_equal(kept.sum(axis=1), np.minimum(given.sum(axis=1), 3))
    assert (kept.toarray() <= given.toarray()).all()


@pytest.mark.slow
def test_every_choice_is_equally_likely() -> None:
    """n = 200,000 tuples, 2 of 5 columns: 10 choices, 9 degrees of freedom, false alarm 1e-6; a choice 8% too likely is rejected."""
    n = 200_000
    kept = choose_columns(Entropy.seeded(2).stream("choose"), sparse.csr_array(np.ones((n, 5), bool)), 2)
    code = (kept.toarray() @ (1 << np.arange(5))).astype(int)
    _, observed = np.unique(code, return_counts=True)
    assert len(observed) == 10
    assert ((observed - n / 10) ** 2 / (n / 10)).sum() < chi2.isf(1e-6, 9)
    skewed = n / 10 * np.array([1.08, 0.92, *[1.0] * 8])
    assert ((observed - skewed) ** 2 / skewed).sum() > chi2.isf(1e-6, 9)


def test_stored_zeros_are_no_memberships() -> None:
    given = sparse.csr_array((np.array([True, False]), (np.array([0, 0]), np.array([0, 1]))), shape=(1, 2))
    assert choose_columns(Entropy.seeded(1).stream("choose"), given, 2).nnz == 1


def test_c_star_below_one_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"c\* is how many columns"):
        choose_columns(Entropy.seeded(1).stream("choose"), sparse.csr_array((1, 1)), 0)
