"""Frequent patterns of transactions against counting them one by one."""

from collections import Counter

import numpy as np
import pytest

from scumble.core.errors import ParameterError
from scumble.mechanisms.columnized.patterns import frequent_patterns


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_patterns_are_those_of_a_dictionary(k: int, seed: int) -> None:
    """300 users with up to 4 of 6 items and 2 values: every pattern, its count and the order."""
    draw = np.random.default_rng(seed)
    rows = [
        (u, i, int(draw.integers(2))) for u in range(300) for i in draw.permutation(6)[: draw.integers(1, 5)].tolist()
    ]
    own: dict[int, list[tuple[int, int]]] = {}
    for user, item, value in rows:
        own.setdefault(user, []).append((item, value))
    expected = {p: n for p, n in Counter(tuple(sorted(v)) for v in own.values()).items() if n >= k}
    order = draw.permutation(len(rows))
    found = frequent_patterns(*np.array(rows)[order].T, k)
    listed = [
        tuple(zip(found.items[a:b].tolist(), found.values[a:b].tolist(), strict=True))
        for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)
    ]
    assert listed == sorted(expected)
    assert found.counts.tolist() == [expected[p] for p in listed]


def test_nothing_is_frequent_in_nothing() -> None:
    assert len(frequent_patterns([], [], [], 3)) == 0


def test_an_item_twice_is_refused() -> None:
    with pytest.raises(ParameterError, match="one item more than once"):
        frequent_patterns([1, 1], [5, 5], [0, 1], 1)
