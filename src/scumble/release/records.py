"""The records that a manifest is made of: domains, channels, columns, samples, files and counts as JSON has them. How they evolve: manifest.py."""

from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from scumble.core.arrow_types import named_type
from scumble.core.channel import Channel
from scumble.core.coins import Coins, spread
from scumble.core.domain import Categories, Domain, Grid
from scumble.core.errors import ReleaseError
from scumble.privacy.guarantee import Clause, Guarantee
from scumble.spec.spec import Coarsen, Model


class DomainRecord(Model):
    """A domain in JSON."""

    kind: Literal["categories", "grid"]
    values: list[Any] | None = None
    low: str | None = None
    high: str | None = None
    step: str | None = None
    from_data: bool = False

    @classmethod
    def of(cls, domain: Domain, from_data: bool) -> "DomainRecord":
        """The record of a domain."""
        if isinstance(domain, Grid):
            return cls(kind="grid", low=domain.low, high=domain.high, step=domain.step, from_data=from_data)
        return cls(kind="categories", values=[_json_value(v) for v in domain.values.to_pylist()], from_data=from_data)

    def domain(self, kind: str) -> Domain:
        """The domain itself, of values of that Arrow type."""
        arrow = named_type(kind)
        if self.kind == "grid":
            return Grid(str(self.low), str(self.high), str(self.step), arrow)
        if pa.types.is_date(arrow) or pa.types.is_timestamp(arrow) or pa.types.is_decimal(arrow):
            return Categories(pa.array(self.values, pa.string()).cast(arrow).to_pylist(), arrow)
        if pa.types.is_time(arrow):
            return Categories([v if v is None else time.fromisoformat(v) for v in self.values or []], arrow)
        return Categories(self.values or [], arrow)


class ChannelRecord(Model):
    """A channel in JSON: the retention as it was applied, threshold / 2^bits, and uniform replacement."""

    retain: float | list[float]
    replace: Literal["uniform", "published"]
    """Uniform, or the column's own distribution, which is reconstructed from what was published."""
    size: int
    bits: int
    threshold: int | list[int]
    members: list[int] | None = Field(None, description="the places of its values in the domain, where not all of them")

    @property
    def even(self) -> bool:
        """Whether all values are drawn alike as replacements."""
        return self.replace != "published"

    @classmethod
    def of(cls, coins: Coins) -> "ChannelRecord":
        """The record of the coins that were flipped."""
        thresholds = [int(t) for t in coins.thresholds]
        one = len(thresholds) == 1
        return cls(
            retain=thresholds[0] / 2**coins.bits if one else [t / 2**coins.bits for t in thresholds],
            replace="published" if coins.own else "uniform",
            size=coins.size,
            bits=coins.bits,
            threshold=thresholds[0] if one else thresholds,
            members=None if coins.members is None else coins.members.tolist(),
        )

    def coins(self, domain_size: int) -> Coins:
        """The coins that it says were flipped; refused where they are none."""
        self.channel(domain_size, np.ones(self.size) / self.size)
        thresholds = self.threshold if isinstance(self.threshold, list) else [self.threshold]
        members = None if self.members is None else np.array(self.members)
        whole = None if members is None else domain_size
        return Coins(self.size, self.bits, np.array(thresholds, np.uint64), members, whole, self.replace == "published")

    def channel(self, domain_size: int, frequencies: npt.NDArray[np.float64] | None = None) -> Channel:
        """The channel on the whole domain, drawing from the given frequencies where it draws from what was published."""
        thresholds = self.threshold if isinstance(self.threshold, list) else [self.threshold]
        retained = self.retain if isinstance(self.retain, list) else [self.retain]
        whole = 1 << self.bits
        exact = [t / whole for t in thresholds] == retained
        uneven = self.even and any(t and (whole - t) % self.size for t in thresholds)
        if not exact or uneven or any(not 0 <= t < whole for t in thresholds):
            raise ReleaseError("the manifest's retention is not the one of its threshold; the manifest was changed")
        if self.replace == "published":
            return Channel(self.retain, frequencies, size=self.size)
        members = None if self.members is None else np.array(self.members)
        if (domain_size if members is None else len(members)) != self.size:
            raise ReleaseError(
                "the manifest's channel is not for as many values as its domain has; the manifest was changed"
            )
        return spread(Channel(self.retain, size=self.size), members, domain_size)


class MergedRecord(Model):
    """A published value, and the values of the table that it stands for."""

    published: Any
    values: list[Any]


def representative(records: Sequence[MergedRecord], value: Any) -> Any:
    """What a value of the table is published as; a number between two that occurred belongs to the interval before it."""
    for record in records:
        if value in record.values:
            return record.published
    if isinstance(value, int | float):
        below = [r.published for r in records if isinstance(r.published, int | float) and r.published <= value]
        return max(below, default=value)
    return value


def number_ends(records: Sequence[MergedRecord]) -> list[tuple[float, float]]:
    """The smallest and the largest of numbers that were put together, where a column has numbers and some were."""
    values = [value for record in records for value in (record.published, *record.values) if value is not None]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return []
    numbers = [(r.published, [v for v in r.values if v is not None]) for r in records if r.published is not None]
    return [(published, max(held)) for published, held in numbers if held and max(held) > published]


class SamplingRecord(Model):
    """How many records of a personal group were published at most, and from what that was computed."""

    sizes: Literal["one", "ladder", "paper"]
    lam: float
    delta: float
    tail: Literal["exact", "chernoff"]
    least: int = Field(description="the sample size for groups of a single value, the smallest of all")
    ladder: list[float] | None = None


class ColumnRecord(Model):
    """A column of the published table."""

    name: str
    role: Literal[
        "public",
        "sensitive",
        "stratum",
        "weight",
        "counted",
        "copies",
        "bucket",
        "apart",
        "count",
        "tuple",
        "low",
        "high",
        "set",
        "size",
    ]
    """The last four are of rows that stand for groups: the ends of a range, a set of values, and how many rows a group has."""
    type: str
    coarsened: Coarsen | None = None
    domain: DomainRecord | None = None
    channel: ChannelRecord | None = None
    channels: list[ChannelRecord] | None = None
    """One for each stratum, where there are several."""
    merged: list[MergedRecord] | None = None
    """The values of the table that a published value stands for, where some of a public column were put together."""
    of: str | None = None
    """The column of the table that this one is the low or the high end of, where rows stand for groups."""

    @property
    def records(self) -> list[ChannelRecord]:
        """The channels of a sensitive column, one for each stratum."""
        return self.channels or ([self.channel] if self.channel is not None else [])


class FileRecord(Model):
    """A file of the release."""

    path: str
    sha256: str
    bytes: int
    rows: int | None = None


class Randomness(Model):
    """Where the coins came from. The seed or key is never here."""

    source: Literal["operating system, AES-256-CTR", "seeded: INSECURE, for tests only"]
    secure: bool
    keyed: bool = Field(False, description="the coins of a record are a keyed function of its id and value")


class GuaranteeRecord(Model):
    """A guarantee in JSON, in codes for programs and in sentences for people. It is a claim: what holds is derived (terms.py)."""

    kind: str
    columns: list[str]
    statement: str
    parameters: dict[str, float]
    conditions: list[str]
    bounds: list[list[float | None]] | None = None
    condition_codes: list[Clause] | None = None
    """The conditions as codes; releases that were made before there were any have sentences alone."""

    @classmethod
    def of(cls, guarantee: Guarantee) -> "GuaranteeRecord":
        """The record of a guarantee."""
        return cls(
            kind=guarantee.kind,
            columns=guarantee.columns,
            statement=guarantee.statement,
            parameters=guarantee.parameters,
            conditions=[condition.sentence for condition in guarantee.conditions],
            bounds=guarantee.bounds,
            condition_codes=guarantee.conditions,
        )

    def claim(self) -> Guarantee:
        """What is claimed, without a word of prose."""
        return Guarantee(
            kind=self.kind,
            columns=self.columns,
            parameters=self.parameters,
            conditions=self.condition_codes or [],
            bounds=self.bounds,
        )


class TableRecord(Model):
    """One of the tables of a release that has several: a column of its schema."""

    name: str
    attributes: list[Any]
    """Names of columns; of transactions, the items."""
    rows: int
    files: list[str]


class CountedRecord(Model):
    """How tuples were counted, where a release publishes those that occur often."""

    matrix: Literal["exact", "practical", "full", "boxes", "anatomy", "alpha_beta", "generalized"]
    k: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    """The three of one table."""
    total: int | None = None
    """The number of tuples, where the publisher stated it as public knowledge."""
    transactions: dict[str, str] | None = None
    """Which columns are the user, the item and the value, where a tuple is all the transactions of a user."""
    domains: dict[str, DomainRecord] | None = None
    """Of all columns, where each tuple of the domain was counted."""
    declared: dict[str, DomainRecord] | None = None
    """Of columns of numbers, where it was declared which values there can be: in suppressed rows, too."""
    tables: list[TableRecord] | None = None
    schema_from: Literal["given", "budget"] | None = None
    c_star: int | None = None
    diversity: int | None = None
    """The l of anatomy, whose tables are `rows` and `values`."""
    alpha: float | None = None
    beta: float | None = None
    """A tuple of the table is published with probability alpha + beta, any other one with beta."""


def _json_value(value: Any) -> Any:
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value
