"""Recodings fixed in advance, suppression over all published attributes, and boxes split at fixed midpoints."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from scumble.core.errors import ParameterError, SchemaError
from scumble.privacy.anonymity import Algorithm, Dataset, check_algorithm
from scumble.spec.coarsening import coarsen
from scumble.spec.recoding import fixed_midpoints, frequent, groups, hierarchy, occurrences
from scumble.spec.spec import Coarsen

ZIPS = [
    ["90210", "902**", "9****", "*"],
    ["90211", "902**", "9****", "*"],
    ["94110", "941**", "9****", "*"],
    ["10001", "100**", "1****", "*"],
]


@pytest.mark.parametrize(
    "column", [pa.array(["90211", "10001"]), pa.array([90211, 10001]), pa.array(["90211", "10001"]).dictionary_encode()]
)
def test_a_hierarchy_fits_text_numbers_and_dictionaries(column: pa.Array) -> None:
    assert hierarchy(ZIPS, 2).recode(column, "zip").to_pylist() == ["9****", "1****"]


def test_level_zero_is_the_value_itself() -> None:
    assert hierarchy(ZIPS, 0).recode(pa.array(["94110"]), "zip").to_pylist() == ["94110"]


@pytest.mark.parametrize(
    ("rows", "level", "message"),
    [
        (ZIPS, 4, "levels 0 to 3, not 4"),
        ([], 0, "there are no rows"),
        ([["a", "x"], ["b"]], 1, r"rows of \[1, 2\] columns"),
        ([["a", "x"], ["a", "y"]], 1, "value 'a' is in more than one row"),
        ([["a", "x", "1"], ["b", "x", "2"]], 1, "'x' at level 1 is in both '1' and '2' at level 2"),
    ],
)
def test_what_is_no_hierarchy_is_refused(rows: list[list[str]], level: int, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        hierarchy(rows, level)


def test_a_missed_value_is_refused_by_name() -> None:
    with pytest.raises(
        SchemaError, match="column 'zip': the recoding has no place for '11111' and 1 more values; add them"
    ):
        hierarchy(ZIPS, 1).recode(pa.array(["11111", "90210", "22222", "11111"]), "zip")


def test_a_value_in_two_groups_is_refused() -> None:
    with pytest.raises(SchemaError, match="value 2 is in more than one group"):
        groups({"low": [1, 2], "high": [2, 3]})


def test_a_recoding_of_another_type_is_refused() -> None:
    with pytest.raises(SchemaError, match="column 'age' is of type int64"):
        groups({"a": ["x"]}).recode(pa.array([1]), "age")


def test_a_date_in_bins_is_told_what_dates_take() -> None:
    born = pa.array([0]).cast(pa.int32()).cast(pa.date32())
    with pytest.raises(SchemaError, match="by bins = 10; a date takes date = year"):
        coarsen(born, Coarsen(bins=10), "born")
    with pytest.raises(SchemaError, match=r"by bins = 10$"):
        coarsen(pa.array(["f"]), Coarsen(bins=10), "sex")


def test_an_empty_column_stays_empty() -> None:
    assert groups({"a": ["x"]}).recode(pa.array([], pa.string()), "c").to_pylist() == []


def test_all_published_attributes_are_counted() -> None:
    """Each column alone has every value three times; together only one tuple is frequent."""
    sex = pa.array(["f", "f", "f", "m", "m", "m"])
    job = pa.array(["a", "a", "b", "b", "b", "a"]).dictionary_encode()
    assert frequent([sex], 3).all()
    assert occurrences([sex, job]).tolist() == [2, 2, 1, 2, 2, 1]
    assert not frequent([sex, job], 3).any()


def test_missing_values_are_alike_and_differ_from_others() -> None:
    plain = pa.array(["a", None, None, "a"])
    assert occurrences([plain]).tolist() == occurrences([plain.dictionary_encode()]).tolist() == [2, 2, 2, 2]
    assert occurrences([pa.array(["a", None, "b"])]).tolist() == [1, 1, 1]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_occurrences_against_a_counter(k: int) -> None:
    draw = np.random.default_rng(k)
    columns = [draw.integers(0, 4, 300), draw.integers(0, 5, 300), draw.integers(0, 3, 300)]
    tuples = list(zip(*(c.tolist() for c in columns), strict=True))
    counted = Counter(tuples)
    assert occurrences([pa.array(c) for c in columns]).tolist() == [counted[t] for t in tuples]


def boxes(k: int) -> Algorithm:
    """Rows (x, y) of the square [0, 4]^2 published as boxes and their counts."""

    def run(rows: Dataset) -> dict[Any, Fraction]:
        found = fixed_midpoints(np.array(rows, float).reshape(-1, 2), [(0, 4), (0, 4)], k)
        return {tuple((tuple(s), int((found.cells == c).sum())) for c, s in enumerate(found.sides)): Fraction(1)}

    return run


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_boxes_are_semantically_anonymous(k: int) -> None:
    """By the definition, on 150 random datasets of 1 to 12 rows of a 4 x 4 grid."""
    draw = np.random.default_rng(k)
    for _ in range(150):
        dataset = tuple(map(tuple, (draw.integers(0, 4, (draw.integers(1, 13), 2)) + 0.5).tolist()))
        verdict = check_algorithm(boxes(k), dataset, k)
        assert verdict.holds, (dataset, str(verdict))


def test_trying_the_sides_in_turn_would_not_be() -> None:
    """Mondrian's habit: four rows low in x, four low in y, and a row low in both has one other that keeps both from splitting."""

    def in_turn(rows: Dataset) -> dict[Any, Fraction]:
        points = np.array(rows)
        for side in (0, 1):
            upper = points[:, side] >= 2
            if min(upper.sum(), (~upper).sum()) >= 3:
                return {(side, int(upper.sum())): Fraction(1)}
        return {("whole", len(rows)): Fraction(1)}

    dataset = ((1, 1), (1, 1), (3, 1), (3, 1), (1, 3), (1, 3))
    assert "only 1 of them would do" in str(check_algorithm(in_turn, dataset, 3))
    assert check_algorithm(boxes(3), dataset, 3).holds


def test_an_attribute_beside_the_boxes_would_break_them() -> None:
    """Boxes of x, then suppression over (box, colour): the red row at 1 has no other that changes neither."""

    def beside(rows: Dataset) -> dict[Any, Fraction]:
        cells = fixed_midpoints([[row[0]] for row in rows], [(0, 4)], 2).cells  # type: ignore[index]
        counted = Counter((int(c), row[1]) for c, row in zip(cells, rows, strict=True))  # type: ignore[index]
        return {tuple(sorted((t, n) for t, n in counted.items() if n >= 2)): Fraction(1)}

    dataset = ((1, "red"), (1, "blue"), (1, "blue"), (3, "red"))
    assert not check_algorithm(beside, dataset, 2).holds


def test_every_box_holds_k_and_its_rows() -> None:
    draw = np.random.default_rng(8)
    rows = draw.uniform(0, 100, (2000, 3))
    found = fixed_midpoints(rows, [(0, 100)] * 3, 25)
    assert np.bincount(found.cells).min() >= 25
    assert len(found.sides) > 20
    for cell, sides in enumerate(found.sides):
        inside = rows[found.cells == cell]
        assert all(low <= inside[:, d].min() and inside[:, d].max() <= high for d, (low, high) in enumerate(sides))


def test_fewer_rows_than_k_are_all_suppressed() -> None:
    found = fixed_midpoints([[1.0], [2.0]], [(0, 4)], 3)
    assert found.cells.tolist() == [-1, -1]
    assert found.sides == []


def test_equal_rows_are_one_box() -> None:
    assert set(fixed_midpoints(np.full((50, 2), 3.0), [(0, 4), (0, 4)], 2).cells.tolist()) == {0}


@pytest.mark.parametrize(
    ("rows", "ranges", "k", "message"),
    [
        ([[5.0]], [(0, 4)], 1, "5 is outside the declared range 0 to 4 of column 0"),
        ([[float("nan")]], [(0, 4)], 1, "nan is outside"),
        ([[1.0]], [(4, 0)], 1, "low end below its high end"),
        ([[1.0]], [(0, 4), (0, 4)], 1, "rows of 2 numbers are needed"),
        ([[1.0]], [(0, 4)], 0, "must be at least 1, not 0"),
    ],
)
def test_rows_and_ranges_that_do_not_fit_are_refused(
    rows: list[list[float]], ranges: list[tuple[float, float]], k: int, message: str
) -> None:
    with pytest.raises((ParameterError, SchemaError), match=message):
        fixed_midpoints(rows, ranges, k)
