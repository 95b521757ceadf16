"""Difference sets: every difference occurs equally often, counted one by one; and what is none is refused."""

from itertools import product

import numpy as np
import pytest

from scumble.core.difference_set import DifferenceSet, Field, demand_difference_set, prime_powers, singer, sizes
from scumble.core.errors import ParameterError

FIELDS = [(2, 3), (2, 5), (3, 4), (4, 3), (4, 4), (5, 3), (7, 3), (8, 3), (9, 3), (16, 3), (25, 3), (3, 6)]


@pytest.mark.parametrize(("order", "dimension"), FIELDS)
def test_every_difference_occurs_equally_often(order: int, dimension: int) -> None:
    """Counted pair by pair, apart from the transform by which the software itself counts."""
    made = singer(order, dimension)
    codes, inside, repeats = sizes(order, dimension)
    differences = (made.offsets[:, None] - made.offsets[None, :]) % codes
    times = np.bincount(differences.ravel(), minlength=codes)
    assert (made.codes, len(made.offsets), made.repeats) == (codes, inside, repeats)
    assert times[0] == inside
    assert set(times[1:].tolist()) == {repeats}


def test_a_set_with_one_place_moved_is_refused() -> None:
    made = singer(3, 5)
    free = np.setdiff1d(np.arange(made.codes), made.offsets)[0]
    moved = np.sort(np.append(made.offsets[1:], free))
    with pytest.raises(ParameterError, match="no difference set of 121 codes"):
        demand_difference_set(DifferenceSet(made.codes, moved))


@pytest.mark.parametrize("order", prime_powers(27))
def test_a_field_is_one(order: int) -> None:
    """Addition and multiplication are commutative and associative, one distributes over the other, and all but 0 has an inverse."""
    field = Field(order)
    plus, times = field.plus, field.times
    some = range(min(order, 9))
    for a, b, c in product(some, some, some):
        assert plus[a][b] == plus[b][a]
        assert times[a][b] == times[b][a]
        assert plus[plus[a][b]][c] == plus[a][plus[b][c]]
        assert times[times[a][b]][c] == times[a][times[b][c]]
        assert times[a][plus[b][c]] == plus[times[a][b]][times[a][c]]
    assert all(1 in row for row in times[1:])
    assert all(plus[a][0] == a and times[a][1] == a for a in range(order))


@pytest.mark.parametrize(("order", "dimension"), [(3, 2), (2, 25)])
def test_a_set_of_another_size_is_refused(order: int, dimension: int) -> None:
    with pytest.raises(ParameterError, match="3 coordinates or more"):
        singer(order, dimension)
