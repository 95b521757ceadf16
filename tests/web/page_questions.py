"""Random questions as they are clicked, and whether a page answers them as `scumble query` does.

Every printed text is the same: estimate, bound, standard error, interval. Of some releases `scumble query` knows more (MORE), and it ranks with fewer
lines to pay for: there estimates are the same to the printed digit, its standard errors are no larger, and an interval of the page, two standard errors wider, holds that of `scumble query`; not of
estimates that are impossible, nor where numbers were rounded, whose reach it follows further.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

import scumble
from scumble.core.arrow_types import is_number
from scumble.core.errors import ScumbleError
from scumble.release.mixture_record import MixtureRecord

Question = dict[str, Any]


def label(value: Any) -> str | None:
    """A value as a page names it."""
    if isinstance(value, float):
        return f"{value:.15g}"
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def alike(name: str | None) -> str | None:
    """A label that is one of another for the same number: 2.50 is 2.5."""
    try:
        return label(float(name or ""))
    except ValueError:
        return name


@dataclass(frozen=True)
class Asker:
    """Makes questions to a release."""

    release: scumble.Release
    draw: random.Random

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns that can be clicked, with their values in order; a missing one last."""
        manifest, hidden = self.release.manifest, {"stratum", "weight", "copies"}
        roles = getattr(manifest.form, "transactions", None) or {}
        names = [
            c.name
            for c in manifest.columns
            if c.role not in hidden
            and c.name not in (roles.get("user"), roles.get("pattern"))
            and not any(isinstance(record, MixtureRecord) for record in c.records)  # which the page leaves out
        ]
        return {name: self._values(name) for name in names}

    def _values(self, name: str) -> list[Any]:
        domain = self.release.manifest.domains.get(name)
        if domain is not None:
            return list(domain.values.to_pylist())
        parts: list[str | None] = [table.name for table in self.release.manifest.form.tables]
        parts = parts or [None]
        tables = [table for part in parts if name in (table := self.release.table(part)).column_names]
        values = {value for table in tables for value in table.column(name).unique().to_pylist()}
        return [*sorted(value for value in values if value is not None), *([None] if None in values else [])]

    def _is_number(self, name: str) -> bool:
        values = [value for value in self.columns[name] if value is not None]
        return bool(is_number(pa.array(values[:1]).type))

    def question(self) -> Question:
        """One of those that a reader may put together."""
        draw, names = self.draw, list(self.columns)
        numbers = [name for name in names if self._is_number(name)]
        measure = draw.choice(["count", "count", "sum", "avg"]) if numbers else "count"
        groups = [name for name in names if len(self.columns[name]) <= 100]
        by = draw.sample(groups, min(len(groups), draw.choice([0, 1, 1, 2])))
        order = draw.choice(["group", "group", "most", "fewest"]) if len(by) == 1 else "group"
        return {
            "measure": measure,
            "of": draw.choice(numbers) if measure != "count" else None,
            "by": by,
            "where": [self._condition(name) for name in draw.sample(names, min(len(names), draw.choice([0, 0, 1, 2])))],
            "order": order,
            "top": draw.choice([2, 3, 5]) if order != "group" else None,
            "level": draw.choice([0.95, 0.95, 0.9, 0.99]),
        }

    def _condition(self, name: str) -> Question:
        column, values = self.release.manifest.column(name), self.columns[name]
        known = [value for value in values if value is not None]
        stepped = column is not None and (column.coarsened is not None or column.merged is not None)
        if self._is_number(name) and not stepped and len(known) > 1:
            low, high = sorted(self.draw.sample(known, 2))
            return {"column": name, "low": self.draw.choice([low, None]), "high": high}
        return {
            "column": name,
            "labels": [label(v) for v in self.draw.sample(values, self.draw.randint(1, max(1, len(values) - 1)))],
        }


MORE = {"swapped", "partitioned", "sps", "noisy_counts"}
"""Mechanisms of which `scumble query` has a law of few rows, or a variance, that the page has not."""
SLACK = 2.0
"""How far an interval of `scumble query` reaches beyond that of a page at most, in standard errors."""
LARGER = 1.1
"""How large a standard error of `scumble query` is beside that of a page at most."""


def differences(release: scumble.Release, question: Question, shown: dict[str, Any]) -> list[str]:
    """In what a page's answer differs from that of `scumble query`: lines, their order, estimates, errors, and what intervals hold.

    shown   { sql, groups: [{ name, labels }], texts: [{ heading, cells }], notes } or { refused }
    """
    if "refused" in shown:
        return [] if _refuses(release, shown) else [f"refused: {shown['refused']}"]
    try:
        answer = release.query(shown["sql"], level=question["level"])
    except ScumbleError as error:
        return [f"answered, and not by scumble query: {error}"]
    columns = release.manifest.columns
    rounded = any(column.rounded is not None for column in columns)
    coarse = any(column.coarsened is not None for column in columns)
    ranked = question.get("top") is not None
    summed = question.get("measure") == "sum"  # of perturbed numbers, whose variance follows them in another way
    loose = rounded or coarse or ranked or summed or release.manifest.mechanism in MORE
    grid, count = answer.grid(10**9), len(question["by"])
    named = answer.groups.to_pylist() if answer.groups.num_columns else [{}] * len(answer)
    lines = [tuple(alike(label(line[name])) for name in question["by"]) for line in named]
    texts = dict(zip(lines, (row[count:] for row in grid.rows), strict=True))
    cells = zip(*(column["cells"] for column in shown["texts"]), strict=True)
    keys = [
        tuple(alike(group["labels"][i]) for group in shown["groups"]) for i in range(len(shown["texts"][0]["cells"]))
    ]
    told = dict(zip(keys, cells, strict=True))
    found = [
        f"{key}: {texts.get(key)} and {told.get(key)}"
        for key in {**texts, **told}
        if key not in texts
        or key not in told
        or not (_agree_more if loose else _agree)(texts[key], told[key], rounded or coarse)
    ]
    return found + (["another order"] if lines != keys and not found else [])


def _agree(query: Sequence[str], page: Sequence[str], rounded: bool) -> bool:
    """Whether the texts of a line, estimate, error and interval, are the same."""
    return list(query) == list(page)


def _agree_more(query: Sequence[str], page: Sequence[str], rounded: bool) -> bool:
    """Whether they say the same of it as far as the page knows it; digits follow errors, and may be more of the one."""
    digit = max(10.0 ** -_decimals(texts[0]) for texts in (query, page))
    values = [_numbers(texts[0]) for texts in (query, page)]
    if len(values[0]) != len(values[1]) or any(abs(a - b) > digit * 0.51 for a, b in zip(*values, strict=True)):
        return False
    if len(query) == 1 or len(page) < 3:  # exact
        return len(page) < 3 or _numbers(page[1]) == [0.0]
    if len(query) != len(page):
        return False
    (own, other), (ends, wider) = ([_numbers(texts[i]) for texts in (query, page)] for i in (1, 2))
    if len(own) != 1 or len(other) != 1:
        return own == other
    if own[0] > LARGER * other[0] + 10.0 ** -_decimals(page[1]):
        return False
    if rounded or "(" in query[0]:
        return True
    if len(ends) != 2 or len(wider) != 2:
        return "unbounded" in page[2] or ends == wider
    slack = SLACK * other[0] + 10.0 ** -_decimals(page[2])
    return wider[0] - slack <= ends[0] and ends[1] <= wider[1] + slack


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", text)]


def _decimals(text: str) -> int:
    return max((len(part) for part in re.findall(r"\.(\d+)", text)), default=0)


def _refuses(release: scumble.Release, shown: dict[str, Any]) -> bool:
    """Whether `scumble query` refuses the question too; a page need not say it in the same words."""
    try:
        release.query(shown["sql"])
    except ScumbleError:
        return True
    return False
