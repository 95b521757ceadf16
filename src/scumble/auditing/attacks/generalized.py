"""Generalised rows: with the raw table, how many published rows fit a person, when labels are read as the values that they stand for?

    20-29   20..29   [20, 30)   (20, 30]   <18   >=65      numbers between
    902**                                                  texts that begin so
    {a, b}   a | b                                         one of these
    *                                                      anything

Classes that look large may still fit few: a person is pointed at where fewer than k published rows fit, all classes together. For tables
without a manifest whose labels are not the raw table's own values.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.finding import Finding
from scumble.core.arrow_types import decoded

NAME = "generalised rows"

LOOKED_AT = 2000
"""People who are looked at, at most, evenly over the raw table."""

MOST_LABELS = 100_000
"""Different labels of a column, at most."""

NUMBER = r"\s*(-?\d+(?:\.\d+)?)\s*"
BETWEEN = re.compile(rf"([\[(]?){NUMBER}(?:-|–|\.\.|,|to){NUMBER}([\])]?)")
BEYOND = re.compile(rf"(<=|>=|<|>){NUMBER}")

Fits = Callable[[Any], bool]


def attack(case: Case) -> Finding | None:
    """The share of people whom fewer than k published rows fit."""
    publication, raw = case.publication, case.raw
    if publication.manifest is not None or raw is None or not publication.quasi or not raw.num_rows:
        return None
    if not any(recoded(publication.table.column(name), raw.column(name)) for name in publication.quasi):
        return None
    people = raw.take(pa.array(np.unique(np.linspace(0, raw.num_rows - 1, LOOKED_AT).astype(np.int64))))
    fitting = _fitting(publication.table.select(publication.quasi), people)
    hits = int(((fitting > 0) & (fitting < publication.k)).sum())
    sentence = (
        f"of {len(people):,} people {hits:,} fit fewer than {publication.k} published rows ({int((fitting == 1).sum()):,} exactly one); "
        f"{int((fitting == 0).sum()):,} fit none, being suppressed or labelled in a way that is not understood"
    )
    return Finding.of_share(NAME, hits, len(people), 0.0, sentence, "singling out")


def recoded(published: pa.ChunkedArray, raw: pa.ChunkedArray) -> bool:
    """Whether a column has labels that are not values of the raw table."""
    (labels, values), count = together(["x"], pa.table({"x": published}), pa.table({"x": raw}))
    own = np.bincount(values, minlength=count) > 0
    return not own[labels].all()


def _fitting(published: pa.Table, people: pa.Table) -> Codes:
    """How many published rows fit each person, class by class."""
    (number,), count = together(published.column_names, published)
    size = np.bincount(number, minlength=count)
    one = np.zeros(count, dtype=np.int64)
    one[number] = np.arange(len(number))
    fits = np.ones((people.num_rows, count), dtype=np.bool_) if people.num_rows * count <= 4e8 else None
    if fits is None:  # too many classes to hold at a time
        half = people.num_rows // 2
        return np.concatenate([_fitting(published, people.slice(0, half)), _fitting(published, people.slice(half))])
    for name in published.column_names:
        labels, label = coded(published.column(name).take(pa.array(one)))
        values, value = coded(people.column(name))
        fits &= members(values, labels[:MOST_LABELS])[value][:, label]
    return np.asarray(fits @ size)


def coded(column: pa.ChunkedArray) -> tuple[list[Any], Codes]:
    """The different values of a column, a missing one among them, and the place of each row's; Parquet may hold them coded already."""
    whole = column.combine_chunks()
    plain = decoded(whole)
    coded = plain.dictionary_encode(null_encoding="encode")
    return coded.dictionary.to_pylist(), coded.indices.to_numpy()


def members(values: list[Any], labels: list[Any]) -> npt.NDArray[np.bool_]:
    """Which values each label stands for."""
    tests = [meaning(label) for label in labels]
    return np.array([[test(value) for test in tests] for value in values], dtype=np.bool_).reshape(len(values), -1)


def meaning(label: Any) -> Fits:
    """The values that a label stands for.

    >>> meaning("20-29")(25), meaning("[20, 30)")(30), meaning("902**")("90210"), meaning("{a, b}")("b"), meaning(">=65")(64)
    (True, False, True, True, False)
    """
    text = str(label).strip()
    if text == "" or set(text) <= {"*"} or text.lower() in ("any", "none", "nan"):
        return lambda value: True
    if match := BETWEEN.fullmatch(text):
        opens, low, high, closes = match.groups()
        return lambda value: _between(value, float(low), float(high), opens == "(", closes == ")")
    if match := BEYOND.fullmatch(text):
        return lambda value: _beyond(value, match[1], float(match[2]))
    if text.endswith("*"):
        start, length = text.rstrip("*"), len(text)
        return lambda value: str(value).startswith(start) and (text.count("*") == 1 or len(str(value)) == length)
    if (text[0], text[-1]) in (("{", "}"), ("[", "]"), ("(", ")")) or " | " in text:
        members = {part.strip(" '\"") for part in re.split(r"[,|;]", text.strip("{}[]()"))}
        return lambda value: str(value) in members
    return lambda value: str(value) == text


def number_of(value: Any) -> float | None:
    """A value as a number, where it is one."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _between(value: Any, low: float, high: float, above: bool, below: bool) -> bool:
    number = number_of(value)
    if number is None:
        return False
    return (low < number if above else low <= number) and (number < high if below else number <= high)


def _beyond(value: Any, sign: str, end: float) -> bool:
    number = number_of(value)
    if number is None:
        return False
    return {"<": number < end, "<=": number <= end, ">": number > end, ">=": number >= end}[sign]
