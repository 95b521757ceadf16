"""Combinations as text: written and read again, and nothing that could be read as another one."""

from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.core.combined import MISSING, SEPARATOR, joined, readable, together
from scumble.core.errors import SchemaError

words = st.text(st.characters(exclude_characters="|", codec="utf-8"), max_size=8).filter(lambda word: word != MISSING)


@given(st.lists(st.tuples(words, words), min_size=2, unique=True))
def test_different_combinations_are_different_texts(pairs: list[tuple[str, str]]) -> None:
    """Spaces and empty words too: what is between the bars is the word."""
    texts = [joined(pair) for pair in pairs]
    assert len(set(texts)) == len(pairs)
    assert [tuple(text.split(SEPARATOR)) for text in texts] == pairs


@given(st.lists(st.tuples(st.integers(-5, 5), words, st.booleans(), st.dates()), min_size=1, max_size=20))
def test_a_column_is_written_as_its_values_are(rows: list[tuple[Any, ...]]) -> None:
    kinds = [pa.int16(), pa.string(), pa.bool_(), pa.date32()]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    made = together(columns, ["a", "b", "c", "d"])
    assert made.to_pylist() == [joined(row) for row in rows]
    assert all(readable(text, kinds) for text in made.to_pylist())


def test_words_of_a_dictionary_and_missing_values() -> None:
    coded = pa.array(["x", None, "y"]).dictionary_encode()
    assert together([coded, pa.array([None, 2, 3])], ["a", "b"]).to_pylist() == [
        "x | (missing)",
        "(missing) | 2",
        "y | 3",
    ]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array(["a|b"]), "cannot be told from another"),
        (pa.array([MISSING]), "cannot be told from another"),
        (pa.array([1.5]), "has the type double"),
        (pa.array([datetime(2020, 1, 1)]), "has the type timestamp"),
        (pa.array([[1]]), "has the type list"),
    ],
)
def test_what_cannot_be_a_part_is_refused_by_name(column: pa.Array, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        together([column, column], ["odd", "odd"])


@pytest.mark.parametrize("value", [1.5, datetime(2020, 1, 1), "a | b", [1]])
def test_what_is_no_value_of_a_part_is_refused(value: Any) -> None:
    with pytest.raises(SchemaError):
        joined([value, 1])


@pytest.mark.parametrize(
    "text",
    [
        "300 | x | true | 2020-01-01",
        "x | x | true | 2020-01-01",
        "1 | x | yes | 2020-01-01",
        "1 | x | true",
        "1 | x | true | 1.1.2020",
    ],
)
def test_a_text_that_is_no_combination_is_told(text: str) -> None:
    assert not readable(text, [pa.int8(), pa.string(), pa.bool_(), pa.date32()])


def test_days_are_read_again() -> None:
    assert joined([date(2020, 1, 31)]) == "2020-01-31"
