"""Chi-square merging: the statistic, its level, what merges and what does not, and Adult."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from scumble.core.errors import ParameterError
from scumble.mechanisms.sps.generalize import generalize, homogeneity, merge

ADULT = Path(__file__).parents[3] / "shared/data/adult.parquet"


def test_the_statistic_is_that_of_a_contingency_table():
    """Equation (4) of the paper equals the chi-square of homogeneity of the 2 x m table, for 20 random pairs."""
    generator = np.random.default_rng(1)
    for _ in range(20):
        one, two = generator.integers(1, 60, (2, 6))
        expected = stats.chi2_contingency(np.stack([one, two]), correction=False)
        statistic, bins = homogeneity(one, two[np.newaxis])
        assert statistic[0] == pytest.approx(expected.statistic)
        assert bins[0] - 1 == expected.dof


@pytest.mark.slow
def test_degrees_of_freedom_are_bins_less_one():
    """2000 pairs from one distribution at m = 2: bins - 1 degrees reject 5% (within 6 deviations of 0.49%), m reject 1.3%."""
    generator = np.random.default_rng(2)
    pairs = generator.multinomial(400, [0.3, 0.7], (2000, 2))
    apart = {freedom: np.mean([merge(pair, freedom=freedom)[1] for pair in pairs]) for freedom in (None, 2)}
    assert apart[None] == pytest.approx(0.05, abs=0.029)
    assert apart[2] == pytest.approx(0.0143, abs=0.016)
    assert apart[2] < apart[None]


def test_bins_that_both_leave_empty_are_not_counted():
    """(20, 32) against (32, 20) differs at one degree of freedom (p = 0.019), and would pass at the 9 of ten bins."""
    counts = np.zeros((2, 10), dtype=int)
    counts[:, :2] = [[20, 32], [32, 20]]
    assert merge(counts).tolist() == [0, 1]
    assert merge(counts, freedom=9).tolist() == [0, 0]


def test_what_is_connected_merges():
    """1 and 2 differ, but both pass with the rare 0: all three merge, which is what the paper defines."""
    counts = [[2, 2], [400, 600], [600, 400], [10, 900]]
    assert merge(counts).tolist() == [0, 0, 0, 1]
    assert merge(counts[1:]).tolist() == [0, 1, 2]


def test_pairs_that_differ_least_merge_first_and_a_rare_value_is_no_bridge():
    """The rare 0 joins what it is most like; 1 and 2, which differ plainly, stay apart."""
    counts = [[2, 2], [400, 600], [600, 400], [10, 900], [0, 0]]
    assert merge(counts, merging="agglomerative").tolist() in ([0, 0, 1, 2, 3], [0, 1, 0, 2, 3])
    assert merge(counts[1:], merging="agglomerative").tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("ordered", [False, True])
def test_agglomerative_groups_are_all_told_apart(ordered):
    """And are unions of what the test would leave together pair by pair: against merging by hand, with no shortcut."""
    draw = np.random.default_rng(5)
    for _ in range(20):
        counts = np.stack([draw.multinomial(draw.integers(3, 200), draw.dirichlet([5, 3, 2])) for _ in range(9)])
        labels = merge(counts, ordered=ordered, merging="agglomerative")
        groups = [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]
        sums = np.stack([counts[group].sum(axis=0) for group in groups])
        pairs = [(i, j) for i in range(len(sums)) for j in range(i) if not ordered or i - j == 1]
        assert all(chance(sums[i], sums[j]) < 0.05 for i, j in pairs)
        assert sorted(map(sorted, groups)) == sorted(map(sorted, by_hand(counts, ordered)))


def chance(one, other):
    statistic, bins = homogeneity(one, [other])
    return stats.chi2.sf(statistic[0], bins[0] - 1) if bins[0] > 1 else 1.0


def by_hand(counts, ordered):
    groups = [[i] for i in range(len(counts))]
    while len(groups) > 1:
        pairs = [(i, j) for i in range(len(groups)) for j in range(i) if not ordered or i - j == 1]
        alike = [chance(counts[groups[i]].sum(axis=0), counts[groups[j]].sum(axis=0)) for i, j in pairs]
        if max(alike) < 0.05:
            break
        i, j = pairs[int(np.argmax(alike))]
        groups[j] += groups.pop(i)
    return groups


def test_rows_without_records_join_the_one_before_among_ordered_ones():
    counts = [[0, 0], [50, 50], [0, 0], [5, 95], [0, 0]]
    assert merge(counts, ordered=True, merging="agglomerative").tolist() == [0, 0, 0, 1, 1]


def test_ordered_values_merge_with_neighbours_only():
    counts = [[50, 50], [48, 52], [5, 95], [50, 50], [0, 0], [52, 48]]
    assert merge(counts).tolist() == [0, 0, 1, 0, 2, 0]
    assert merge(counts, ordered=True).tolist() == [0, 0, 1, 2, 2, 2]


def test_groups_do_not_depend_on_the_order_of_rows():
    generator = np.random.default_rng(3)
    counts = generator.multinomial(300, [0.2, 0.3, 0.5], 12) + generator.integers(0, 2, (12, 1)) * [80, 0, 0]
    order = generator.permutation(12)
    straight, shuffled = merge(counts), merge(counts[order])
    same = straight[:, np.newaxis] == straight
    assert (same[np.ix_(order, order)] == (shuffled[:, np.newaxis] == shuffled)).all()


def test_values_of_one_bin_merge():
    assert merge([[5, 0], [900, 0]]).tolist() == [0, 0]


def test_the_map_names_the_members():
    found = generalize([10, 20, 30], [[5, 95], [6, 94], [60, 40]], ordered=True)
    assert found == {10: (10, 20), 20: (10, 20), 30: (30,)}


def adult_counts():
    if not ADULT.exists():
        pytest.skip("shared/data/adult.parquet is not here")
    pd = pytest.importorskip("pandas")
    rows = pd.read_parquet(ADULT).replace("?", None).dropna()
    assert len(rows) == 45_222
    names = ("education", "occupation", "race", "sex")
    return {name: pd.crosstab(rows[name].astype(str), rows["income"].astype(str)) for name in names}


def test_adult_merges_as_in_the_paper():
    """16, 14, 5, 2 values become 7, 4, 2, 2 with bins - 1 degrees of freedom: the paper's figures, though it says m."""
    tables = adult_counts()
    assert [len(table) for table in tables.values()] == [16, 14, 5, 2]
    assert [merge(table.to_numpy()).max() + 1 for table in tables.values()] == [7, 4, 2, 2]
    assert [merge(table.to_numpy(), freedom=2).max() + 1 for table in tables.values()] == [7, 3, 2, 2]


def test_a_rare_value_is_a_bridge_in_adult():
    """Without the 14 of the armed forces, ten occupations that were one value fall into several."""
    table = adult_counts()["occupation"]
    with_bridge, without = merge(table.to_numpy()), merge(table.drop("Armed-Forces").to_numpy())
    assert np.bincount(with_bridge).max() == 11
    assert without.max() > with_bridge.max()
    apart = merge(table.to_numpy(), merging="agglomerative")
    assert (apart.max() + 1, np.bincount(apart).max()) == (10, 3)


@pytest.mark.parametrize(
    ("counts", "options", "words"),
    [
        ([[1, 2], [3, -1]], {}, "none negative"),
        ([[0.5, 2]], {}, "whole numbers"),
        ([1, 2], {}, "a table of values"),
        ([[1, 2]], {"significance": 0}, r"significance must lie in \(0, 1\)"),
        ([[1, 2]], {"freedom": 0}, "freedom must be at least 1"),
        ([[1, 2]], {"merging": "by hand"}, "connected, agglomerative"),
    ],
)
def test_errors_name_the_rule(counts, options, words):
    with pytest.raises(ParameterError, match=words):
        merge(counts, **options)


def test_each_value_needs_a_row():
    with pytest.raises(ParameterError, match="there are 1 values and 2 rows"):
        generalize(["a"], [[1, 2], [3, 4]])
