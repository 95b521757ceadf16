"""What the values of a column look like, whatever the column is called."""

import re
from collections.abc import Callable, Collection, Iterable
from datetime import date
from typing import Any

from scumble.spec.looks.check_digits import NUMBERS
from scumble.spec.looks.words import meaning

MOST = 0.9
"""The share of the values that must look alike."""

LEAST = 20
"""Values from which on check digits are no chance."""

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
PHONE = re.compile(r"(\+|00|0)\d[\d\s()/.-]{6,}\d|\d{3}-\d{3}-\d{4}|\(\d{3}\) ?\d{3}-\d{4}")
ICD10 = re.compile(r"[A-Z]\d[0-9AB](\.?[0-9A-Z]{1,4})?")
ICD9 = re.compile(r"\d{3}(\.\d{1,2})?|V\d{2}(\.\d{1,2})?|E\d{3}(\.\d)?")
ICD9_ONLY = re.compile(r"\d{3}\.\d{1,2}|[VE]\d.*")
POST_CODE = re.compile(
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"  # United Kingdom
    r"|\d{4} ?[A-Z]{2}|\d{2}-\d{3}|\d{3} \d{2}|\d{4}-\d{3}"  # Netherlands, Poland, Sweden, Portugal
    r"|\d{5}(-\d{4})?|[A-Z]-?\d{4,5}"
)
DAY = re.compile(
    r"(?P<a>\d{4})[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?P<b>\d{4})"
    r"|(?P<c>(18|19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\b"  # 19500324
)
LONG = 30
"""Characters of a text, on average, from which on it is written and not chosen."""


def _all(pattern: re.Pattern[str]) -> Callable[[list[str]], bool]:
    return lambda texts: _share(texts, lambda text: pattern.fullmatch(text) is not None)


def _share(texts: Collection[str], test: Callable[[str], bool]) -> bool:
    return bool(texts) and sum(map(test, texts)) >= MOST * len(texts)


def _diagnoses(texts: list[str]) -> bool:
    """Codes of ICD-10; or of ICD-9, where some of them are no plain number."""
    if len(texts) < 3:
        return False
    return _all(ICD10)(texts) or (_all(ICD9)(texts) and any(ICD9_ONLY.fullmatch(text) for text in texts))


def _written(texts: list[str]) -> bool:
    spaced = sum(text.count(" ") for text in texts) / max(1, len(texts))
    return len(texts) > LEAST and spaced >= 3 and sum(map(len, texts)) / len(texts) > LONG


SHAPES: dict[str, Callable[[list[str]], bool]] = {
    "an e-mail address": _all(EMAIL),
    "a diagnosis (codes of ICD-9 or ICD-10)": _diagnoses,
    "a post code": lambda texts: len(texts) >= LEAST and _all(POST_CODE)(texts),
    "a telephone number": lambda texts: len(texts) >= LEAST and _all(PHONE)(texts),
    "free text": _written,
}
"""What texts may look like; checked in this order."""


def numbered(values: Iterable[Any]) -> str | None:
    """The kind of number with a check digit that values are, if they are one.

    >>> numbered(range(1, 1000)) is None
    True
    """
    texts = [str(value).strip() for value in values]
    if len(texts) < LEAST:
        return None
    return next((kind for kind, test in NUMBERS.items() if _share(texts, test)), None)


def shaped(values: Iterable[Any]) -> str | None:
    """What texts look like, if anything private.

    >>> shaped(["E11.9", "I10", "J45.0"]), shaped(["250.83", "276", "V57"]), shaped(["north", "south"])
    ('a diagnosis (codes of ICD-9 or ICD-10)', 'a diagnosis (codes of ICD-9 or ICD-10)', None)
    """
    texts = [value.strip() for value in values if isinstance(value, str) and value.strip() not in ("", "?")]
    return next((kind for kind, test in SHAPES.items() if test(texts)), None) or meaning(texts)


def zip_numbers(values: Iterable[Any]) -> bool:
    """Whether whole numbers look like post codes that lost their zeros: many, of five digits or one less.

    >>> zip_numbers(range(10_115, 10_999, 20)), zip_numbers(range(50))
    (True, False)
    """
    numbers = [abs(value) for value in values]
    return len(numbers) >= LEAST and all(1_000 <= n <= 99_999 for n in numbers) and _five(numbers)


def _five(numbers: Collection[int]) -> bool:
    return sum(n >= 10_000 for n in numbers) >= MOST * len(numbers)


def years(values: Iterable[Any]) -> list[int] | None:
    """The years of dates, also of dates that are texts or whole numbers, and of years alone; None where values are none.

    >>> years(["1950-03-01", "2001-12-24"]), years(["24.12.1950"]), years([19500324]), years([1950, 2001]), years(["north"])
    ([1950, 2001], [1950], [1950], [1950, 2001], None)
    """
    numbers = [_year(value) for value in values]
    return None if None in numbers or not numbers else [year for year in numbers if year is not None]


def _year(value: Any) -> int | None:
    if isinstance(value, date):
        return value.year
    if isinstance(value, int) and 1850 <= value <= 2100:
        return value
    match = DAY.match(str(value).strip()) if isinstance(value, str | int) else None
    return None if match is None else int(match["a"] or match["b"] or match["c"])


def births(days: Iterable[int]) -> bool:
    """Whether years are spread like those in which people were born: over decades, and half of them long ago.

    >>> births(range(1930, 2020)), births([2019, 2020, 2021])
    (True, False)
    """
    ordered = sorted(days)
    last = ordered[-1]
    return last - ordered[0] >= 40 and last - ordered[len(ordered) // 2] >= 15
