"""Several columns as one: a combination of values is a text, so that whatever knows columns of text knows it.

    12 | Retail        the parts in their order, each as text

Whole numbers, texts, truth values and days are written so that they can be read again; a missing one has a word of its own. Texts with the bar of the
separator in them, and that word, are refused: a combination would be read as another one.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, is_text, published_type
from scumble.core.errors import SchemaError

BAR = "|"
SEPARATOR = f" {BAR} "
MISSING = "(missing)"

KINDS = "whole numbers, texts, truth values or days"


def joined(values: Iterable[Any]) -> str:
    """A combination as text.

    >>> joined([12, "Retail", None, True])
    '12 | Retail | (missing) | true'
    """
    return SEPARATOR.join(_text(value) for value in values)


def _text(value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime) or not isinstance(value, int | str | date):
        raise SchemaError(f"a part of a column has {KINDS}, not {value!r}")
    text = value.isoformat() if isinstance(value, date) else str(value)
    _demand_plain([text] if isinstance(value, str) else [])
    return text


def together(columns: Sequence[pa.Array], names: Sequence[str]) -> pa.Array:
    """Columns of the same rows as one, of text.

    >>> together([pa.array([1, None]), pa.array(["a", "b"])], ["x", "y"]).to_pylist()
    ['1 | a', '(missing) | b']
    """
    texts = [_texts(column, name) for column, name in zip(columns, names, strict=True)]
    return pc.binary_join_element_wise(*texts, SEPARATOR)


def _texts(column: pa.Array, name: str) -> pa.Array:
    """A part as text, its words once each where it has a dictionary."""
    kind = part_type(column.type, name)
    words = column if pa.types.is_dictionary(column.type) else column.cast(kind).dictionary_encode()
    if is_text(kind):
        _demand_plain([word for word in words.dictionary.to_pylist() if word is not None], name)
    spelt = words.dictionary.cast(kind).cast(pa.string())
    return decoded(pa.DictionaryArray.from_arrays(words.indices, spelt)).fill_null(MISSING)


def part_type(kind: pa.DataType, name: str) -> pa.DataType:
    """The type of a part, or the sentence that it cannot be one."""
    plain = published_type(kind)
    if not (pa.types.is_integer(plain) or is_text(plain) or pa.types.is_boolean(plain) or pa.types.is_date(plain)):
        raise SchemaError(
            f"column {name!r} has the type {plain}, and a part of a column has {KINDS}; cast it, or perturb it by itself"
        )
    return pa.string() if is_text(plain) else plain


def readable(text: str, kinds: Sequence[pa.DataType]) -> bool:
    """Whether a text is a combination of values of these types.

    >>> readable("12 | Retail", [pa.int8(), pa.string()]), readable("x | Retail", [pa.int8(), pa.string()]), readable("12", [pa.int8(), pa.string()])
    (True, False, False)
    """
    words = text.split(SEPARATOR)
    return len(words) == len(kinds) and all(map(_reads, words, kinds))


def _reads(word: str, kind: pa.DataType) -> bool:
    if word == MISSING or is_text(kind):
        return BAR not in word
    if pa.types.is_boolean(kind):
        return word in ("true", "false")
    try:
        pa.scalar(date.fromisoformat(word) if pa.types.is_date(kind) else int(word), kind)
    except (ValueError, OverflowError, pa.ArrowException):
        return False
    return word.isascii() and " " not in word


def _demand_plain(texts: Sequence[str], name: str = "") -> None:
    for text in texts:
        if BAR in text or text == MISSING:
            where = f"column {name!r} has" if name else "there is"
            raise SchemaError(
                f"{where} a value {text!r}, which a combination cannot be told from another with; rename it"
            )
