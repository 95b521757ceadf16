"""Questions to a release of counted tuples: how many, corrected for the bias at k, and what was suppressed as a bound.

A tuple is published X times. The rows that it truly stands for are estimated by X where X > k and by k - r/(1-r) where X = k, with variance
2r/(1-r)^2 and r/(1-r)^2 (`ClampedCounts.estimate`): unbiased, given which tuples were published. For the published tuples that match,

    A = sum of estimates over matching tuples        se^2 = sum of variances        interval A +- q se, not below k for each tuple

where q is the quantile of a sum of as many two-sided geometric variables, which have longer tails than a normal variable while they are few.
What was suppressed cannot be estimated. Where the number n of all rows is public, matching rows are at most n - C, C the published rows that do
NOT match; a_bound is that with C at the low end of its interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.domain import Domain
from scumble.engines.counting import CountedFiles, Rule
from scumble.errors import NotEstimable, ParameterError, QueryError
from scumble.estimate import Estimate, Estimates
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.parameters import number
from scumble.query.answer import arranged
from scumble.query.parse import Group, Query, parse

MANY = 200
"""Published tuples from which on the normal quantile is used."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CountedTable:
    """A published table: its attributes (columns, or items of transactions) and its files."""

    name: str
    attributes: Sequence[Any]
    files: Sequence[Path]
    rows: int = 0


@dataclass(frozen=True)
class CountedRelease:
    """The tables of a release, and what was done to their counts."""

    columns: Sequence[str]
    tables: Sequence[CountedTable]
    noise: ClampedCounts | None
    """None: counts are exact."""
    total: int | None
    transactions: dict[str, str] | None
    domains: dict[str, Domain] | None
    """Where every tuple of the domain was counted."""
    c_star: int
    complete: bool = False
    """Whether every row was published, as boxes are."""
    engines: dict[tuple[str, ...], "Counting"] = field(default_factory=dict, compare=False)
    """What was set up for earlier questions, by the tables that were asked."""

    def asked(self, tables: Sequence[CountedTable]) -> "Counting":
        """The tuples of some of the tables, counted once for all questions."""
        names = tuple(table.name for table in tables)
        if names not in self.engines:
            self.engines[names] = Counting.of(self, tables)
        return self.engines[names]


@dataclass(frozen=True)
class Counting:
    """Counted tuples, and what all of them together count."""

    files: CountedFiles
    whole: dict[str, float]

    @classmethod
    def of(cls, release: CountedRelease, tables: Sequence[CountedTable]) -> "Counting":
        """Counts the tuples of the tables."""
        columns = release.columns if release.transactions else tables[0].attributes
        held = [(table.files, table.attributes) for table in tables]
        files = CountedFiles(held, list(columns), release.transactions, release.domains, _rule(release.noise))
        return cls(files, {name: float(numbers[0]) for name, numbers in _numbers(files.sums([], None)).items()})


def _numbers(found: pa.Table) -> dict[str, Floats]:
    return {n: np.nan_to_num(found.column(n).to_numpy().astype(np.float64)) for n in ("v", "s", "t")}


def ask_counts(sql: str, release: CountedRelease, level: Any) -> Estimates:
    """The answer to COUNT(*) with WHERE and GROUP BY."""
    share = number(level, "level")
    if not 0 < share < 1:
        raise ParameterError(
            f"level is the share of intervals that hold the truth and lies between 0 and 1, not {level}"
        )
    query = parse(sql, release.columns)
    for aggregate in query.aggregates:
        if aggregate.kind != "count" or aggregate.value is not None:
            raise QueryError(f"a release of counted tuples answers COUNT(*), and not {aggregate.name!r}")
    tables = _answering(query, release)
    found = _sums(query, release, tables)
    estimates = [_estimate(a.name, found, release, share) for a in query.aggregates]
    names = [output.name for output in query.outputs]
    answer = Estimates(names, _groups(query, found), estimates, share, _notes(release, tables, found))
    return arranged(answer, query)


def _answering(query: Query, release: CountedRelease) -> list[CountedTable]:
    """The tables that a question is put to: one that has all its columns, or all of the transactions."""
    if release.transactions is not None:
        _refuse_pseudonyms(query, release.transactions)
        return list(release.tables)
    asked = _asked(query)
    fitting = [table for table in release.tables if asked <= set(table.attributes)]
    if fitting:
        return [max(fitting, key=lambda table: table.rows)]
    held = "; ".join(
        f"{name!r} is in "
        + " and ".join(
            f"{t.name} ({', '.join(map(str, t.attributes))})" for t in release.tables if name in t.attributes
        )
        for name in sorted(asked)
    )
    raise NotEstimable(
        f"no column of the schema has all of {', '.join(sorted(asked))}, and what was published apart cannot be put together: {held}. "
        "Ask for each part by itself"
    )


def _asked(query: Query) -> set[str]:
    from sqlglot import exp

    parts = [*(g.expression for g in query.groups), *([query.where] if query.where is not None else [])]
    return {column.name for part in parts for column in part.find_all(exp.Column)}


def _refuse_pseudonyms(query: Query, roles: dict[str, str]) -> None:
    asked = _asked(query) & {roles["user"], roles["pattern"]}
    if asked:
        raise NotEstimable(
            f"{sorted(asked)[0]!r} numbers published copies anew and stands for nobody; ask about {roles['item']!r}"
            + (f" and {roles['value']!r}" if "value" in roles else "")
        )


@dataclass(frozen=True)
class Sums:
    """For each group: estimate, variance and number of the published tuples that match, and the same of all that are published."""

    groups: pa.Table
    value: Floats
    variance: Floats
    tuples: Floats
    all_value: float
    all_variance: float
    all_tuples: int


def _sums(query: Query, release: CountedRelease, tables: Sequence[CountedTable]) -> Sums:
    counting = release.asked(tables)
    keys = [(f"g{i}", group.expression) for i, group in enumerate(query.groups)]
    found = counting.files.sums(keys, query.where)
    read, total = _numbers(found), counting.whole
    return Sums(
        found.select([name for name, _ in keys]),
        read["v"],
        read["s"],
        read["t"],
        total["v"],
        total["s"],
        int(total["t"]),
    )


def _rule(noise: ClampedCounts | None) -> Rule:
    if noise is None:
        return Rule()
    values, variances = noise.estimate([noise.floor, noise.floor + 1])
    return Rule(noise.floor, float(values[0]), float(variances[0]), float(variances[1]))


def _estimate(name: str, found: Sums, release: CountedRelease, share: float) -> Estimate:
    se = np.sqrt(found.variance)
    low, high = _interval(found.value, found.variance, found.tuples, release, share)
    bound = None
    if release.total is not None and release.transactions is None and release.domains is None:
        others = found.all_value - found.value, np.maximum(found.all_variance - found.variance, 0)
        rest_low, _ = _interval(*others, found.all_tuples - found.tuples, release, share)
        bound = np.maximum(release.total - rest_low, low)
    if (
        release.noise is None
    ):  # exact for what was published; suppressed rows may add to it, up to the bound or without a known one
        most = np.full_like(found.value, np.inf) if bound is None else bound
        if release.complete:
            return Estimate(name, found.value, se, found.value, found.value, "published")
        return Estimate(name, found.value, np.full_like(se, np.nan), found.value, most, "published", bound)
    return Estimate(name, found.value, se, low, high, "unbiased", bound)


def _interval(
    value: Floats, variance: Floats, tuples: Floats, release: CountedRelease, share: float
) -> tuple[Floats, Floats]:
    if release.noise is None:
        return value, value
    quantiles = np.array([quantile(release.noise.rate, int(t), share) for t in tuples.tolist()])
    reach = quantiles * np.sqrt(variance)
    return np.maximum(value - reach, release.noise.floor * (release.transactions is None) * tuples), value + reach


@lru_cache(maxsize=4096)
def quantile(rate: float, count: int, share: float) -> float:
    """The q with Pr[|Z_1 + ... + Z_m| <= q sd] >= share, Z two-sided geometric with r = e^-rate, sd that of the sum.

    >>> round(quantile(0.5, 1, 0.95), 3), round(quantile(0.5, 1000, 0.95), 2)
    (2.143, 1.96)
    """
    normal = NormalDist().inv_cdf(0.5 + share / 2)
    if count == 0 or count >= MANY:
        return normal
    r = float(np.exp(-rate))
    deviation = float(np.sqrt(count * 2 * r)) / (1 - r)
    reach = int(40 * deviation + 60)
    size = 1 << (2 * reach).bit_length()
    angle = 2 * np.pi * np.fft.rfftfreq(size)
    transform = ((1 - r) ** 2 / (1 - 2 * r * np.cos(angle) + r * r)) ** count
    mass = np.fft.irfft(transform, size)
    centred = np.cumsum(np.concatenate([mass[:1], 2 * mass[1 : size // 2]]))
    return max(normal, float(np.searchsorted(centred, share)) / deviation) if deviation else normal


def _groups(query: Query, found: Sums) -> pa.Table:
    places = {group.expression: f"g{i}" for i, group in enumerate(query.groups)}
    return pa.table({o.name: found.groups.column(places[o.expression]) for o in query.outputs if isinstance(o, Group)})


def _notes(release: CountedRelease, tables: Sequence[CountedTable], found: Sums) -> list[str]:
    notes: list[str] = []
    if release.domains is not None or release.complete:
        return notes
    if release.transactions is None and len(release.tables) > 1:
        notes.append(f"answered from {tables[0].name}: {', '.join(map(str, tables[0].attributes))}")
    if len(release.tables) > release.c_star:
        notes.append(
            f"each tuple stayed in at most {release.c_star} of {len(release.tables)} columns of the schema; where it was taken out it counts as suppressed"
        )
    if release.total is None or release.transactions is not None:
        notes.append("the interval is for what was published; rare tuples were suppressed, how many rows is not known")
    else:
        missing = max(release.total - found.all_value, 0)
        notes.append(
            f"the interval is for what was published; about {missing:,.0f} of {release.total:,} rows were suppressed, and any of them may match"
        )
    return notes
