"""Lots: whoever holds a number is found as by counting them out."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.core.lots import STRETCHES, Holders


@given(st.lists(st.integers(1, 50), min_size=1, max_size=300))
def test_every_lot_has_its_holder(lots: list[int]) -> None:
    counted = np.repeat(np.arange(len(lots)), lots)
    found = Holders(np.array(lots, np.uint64)).of(np.arange(sum(lots), dtype=np.uint64))
    assert found.tolist() == counted.tolist()


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_stretches_that_several_hold_are_searched(kind: type) -> None:
    """Far more lots than stretches, and values that hold a part of one: the first and the last lot of each, and one in between."""
    draw = np.random.default_rng(5)
    lots = draw.integers(1, 100 * STRETCHES, 300).astype(np.uint64)
    ends = np.cumsum(lots)
    asked: Any = np.concatenate([ends - lots, ends - np.uint64(1), ends - lots + lots // np.uint64(2)]).astype(kind)
    assert Holders(lots).of(asked).tolist() == [*range(300)] * 3


def test_a_number_beyond_the_last_lot_gets_some_value() -> None:
    """Words of values that are kept wrap around; what is looked up for them is thrown away, but must not fail."""
    found = Holders(np.array([3, 4], np.uint64)).of(np.array([7, 2**32 - 1], np.uint32))
    assert set(found.tolist()) <= {0, 1}
