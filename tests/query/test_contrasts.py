"""The largest of many differences has the law of the studentized range where estimates are independent."""

import numpy as np
import pytest
from scipy.stats import studentized_range

from scumble.query.contrasts import Contrasts


def independent(lines: int) -> Contrasts:
    one, other = np.triu_indices(lines, 1)
    return Contrasts(np.eye(lines), one, other)


@pytest.mark.slow
@pytest.mark.parametrize("lines", [3, 6, 20])
def test_reach_and_chances_are_those_of_the_studentized_range(lines: int) -> None:
    contrasts = independent(lines)
    reach = studentized_range.ppf(0.95, lines, np.inf) / np.sqrt(2)
    assert contrasts.reach(0.05) == pytest.approx(reach, abs=0.02)
    far = np.array([1.0, 2.0, 2.8])
    assert contrasts.chances(far) == pytest.approx(studentized_range.sf(far * np.sqrt(2), lines, np.inf), abs=0.005)


def test_a_tail_that_no_point_reaches_is_bounded_by_the_sum_over_pairs() -> None:
    (chance,) = independent(4).chances(np.array([7.0]))
    assert 0 < chance < 1e-10


def test_estimates_that_go_together_differ_little() -> None:
    together = np.full((3, 3), 0.9) + 0.1 * np.eye(3)
    contrasts = Contrasts(together, np.array([0, 0, 1]), np.array([1, 2, 2]))
    assert contrasts.errors == pytest.approx(np.sqrt(0.2))
    assert contrasts.reach(0.05) == pytest.approx(independent(3).reach(0.05), abs=0.02)


def test_one_difference_is_that_of_a_normal_number() -> None:
    contrasts = independent(2)
    assert contrasts.reach(0.05) == pytest.approx(1.959964, abs=1e-6)
    assert contrasts.chances(np.array([0.0, 1.959964])) == pytest.approx([1, 0.05], abs=1e-6)


def test_what_is_known_has_no_part_in_the_largest() -> None:
    contrasts = Contrasts(np.diag([1.0, 0.0, 0.0]), np.array([0, 1]), np.array([1, 2]))
    assert contrasts.errors.tolist() == [1, 0]
    assert np.isfinite(contrasts.reach(0.05))
