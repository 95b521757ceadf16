"""Products of many lines are taken in parts, and are the same."""

import numpy as np
import pytest

from scumble.query.law import ALONE, times


@pytest.mark.parametrize("shape", [(1, 3, 2), (512, 64, 64), (511, 16, 900), (3, 600, 601)])
def test_a_product_in_parts_is_the_product(shape: tuple[int, int, int]) -> None:
    """In one part, in several of which the last is shorter, and line by line where the matrix alone is above the limit."""
    lines, inner, columns = shape
    draw = np.random.default_rng(2)
    left, right = draw.random((lines, inner)), draw.random((inner, columns))
    np.testing.assert_allclose(times(left, right), left @ right, rtol=1e-12)
    assert ALONE < 600 * 601
