"""The records that a manifest is made of: channels, columns, guarantees and files as JSON has them. How they evolve: docs/manifest.md.

Those of its form are in forms/, one file each.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Discriminator, Field, Tag

from scumble.core.channel import Channel
from scumble.core.coins import SHORT, BaseCoins, Coins, spread
from scumble.core.design_coins import DesignCoins
from scumble.core.domain import Domain, code_domain
from scumble.core.errors import ReleaseError
from scumble.core.mixture_coins import MixtureCoins
from scumble.core.staged_coins import StagedCoins
from scumble.forms.records import DomainRecord
from scumble.privacy.guarantee import Clause, Guarantee
from scumble.release.design_record import DesignRecord
from scumble.release.mixture_record import MixtureRecord
from scumble.spec.spec import Coarsen, Model


class StagesRecord(Model):
    """The two stages of a channel: a memoised response by key, and a fresh one over it. Each retention is its threshold / 2^bits."""

    bits: int = Field(ge=1, le=32)
    memoised: int | list[int]
    fresh: int


class ChannelRecord(Model):
    """A channel in JSON: the retention as it was applied, threshold / 2^bits, and what replaces a value that is not kept."""

    retain: float | list[float]
    replace: Literal["uniform", "published", "given"]
    """Uniform, or the column's own distribution, which is reconstructed from what was published, or by given lots."""
    size: int = Field(ge=1)
    bits: int = Field(ge=1, le=64)
    threshold: int | list[int]
    lots: list[int] | None = Field(
        None, description="how many lots each value has as a replacement, where these are given"
    )
    members: list[int] | None = Field(None, description="the places of its values in the domain, where not all of them")
    stages: StagesRecord | None = Field(
        None, description="the two stages that it is the product of, where there are two"
    )

    @property
    def own(self) -> bool:
        """Whether replacements follow the column's own distribution."""
        return self.replace == "published"

    @property
    def even(self) -> bool:
        """Whether all values are drawn alike as replacements."""
        return self.replace == "uniform"

    @property
    def coded(self) -> int | None:
        """How many codes are published in the place of values: none, values are published."""
        return None

    how: ClassVar[str] = ""
    weighing: ClassVar[str] = ""

    @property
    def kept(self) -> list[float]:
        """The retention: one, or one for each value."""
        return self.retain if isinstance(self.retain, list) else [self.retain]

    @classmethod
    def of(cls, coins: Coins) -> "ChannelRecord":
        """The record of the coins that were flipped."""
        thresholds = [int(t) for t in coins.thresholds]
        one = len(thresholds) == 1
        return cls(
            retain=thresholds[0] / 2**coins.bits if one else [t / 2**coins.bits for t in thresholds],
            replace="published" if coins.own else "uniform" if coins.lots is None else "given",
            size=coins.size,
            bits=coins.bits,
            threshold=thresholds[0] if one else thresholds,
            lots=None if coins.lots is None else [int(lot) for lot in coins.lots],
            members=None if coins.members is None else coins.members.tolist(),
            stages=_stages(coins) if isinstance(coins, StagedCoins) else None,
        )

    def coins(self, domain_size: int) -> Coins:
        """The coins that it says were flipped; refused where they are none."""
        self._demand_sound(domain_size)
        self.channel(domain_size, np.ones(self.size) / self.size)
        thresholds = self.threshold if isinstance(self.threshold, list) else [self.threshold]
        members = None if self.members is None else np.array(self.members)
        whole = None if members is None else domain_size
        if self.stages is not None:
            return self._staged(self.stages)
        lots = None if self.lots is None else np.array(self.lots, np.uint64)
        return Coins(self.size, self.bits, np.array(thresholds, np.uint64), members, whole, self.own, lots)

    def channel(self, domain_size: int, frequencies: npt.NDArray[np.float64] | None = None) -> Channel:
        """The channel on the whole domain, drawing from the given frequencies where it draws from what was published."""
        self._demand_sound(domain_size)
        if self.replace == "published":
            return Channel(self.retain, frequencies, size=self.size)
        members = None if self.members is None else np.array(self.members)
        drawn = None if self.lots is None else np.array(self.lots, np.uint64) / float(sum(self.lots))
        return spread(Channel(self.retain, drawn, size=self.size), members, domain_size)

    def _staged(self, stages: StagesRecord) -> Coins:
        """The product of both stages; refused where it is another one."""
        first = stages.memoised if isinstance(stages.memoised, list) else [stages.memoised]
        whole = 1 << stages.bits
        sound = all(0 <= t < whole and (whole - t) % self.size == 0 for t in (*(t for t in first if t), stages.fresh))
        thresholds = self.threshold if isinstance(self.threshold, list) else [self.threshold]
        if not sound or self.members or [t * stages.fresh for t in first] != thresholds or self.bits != 2 * SHORT:
            raise ReleaseError("the manifest's channel is not the product of its two stages; the manifest was changed")
        memoised, fresh = (Coins(self.size, stages.bits, np.array(t, np.uint64)) for t in (first, [stages.fresh]))
        return StagedCoins.product(memoised, fresh)

    def _demand_sound(self, domain_size: int) -> None:
        """Refuses numbers that no coins have, before anything is made as large as they say."""
        thresholds = self.threshold if isinstance(self.threshold, list) else [self.threshold]
        retained = self.retain if isinstance(self.retain, list) else [self.retain]
        whole = 1 << self.bits
        members = range(domain_size) if self.members is None else self.members
        if len(members) != self.size or any(not 0 <= member < domain_size for member in members):
            raise ReleaseError(
                "the manifest's channel is not for as many values as its domain has; the manifest was changed"
            )
        parts = self._parts(whole)
        inside = all(0 <= t < whole for t in thresholds)
        exact = inside and [t / whole for t in thresholds] == retained
        if not exact or (not self.own and any(t and (whole - t) % parts for t in thresholds)):
            raise ReleaseError("the manifest's retention is not the one of its threshold; the manifest was changed")

    def _parts(self, whole: int) -> int:
        """How many lots there are; refused where they are none that coins have."""
        if (self.lots is None) == (self.replace == "given"):
            raise ReleaseError("the manifest's replacements have lots where they are given; the manifest was changed")
        if self.lots is None:
            return self.size
        if len(self.lots) != self.size or min(self.lots) < 1 or sum(self.lots) > whole or self.stages is not None:
            raise ReleaseError("the manifest's channel has other lots than its values; the manifest was changed")
        return sum(self.lots)


def _stages(coins: StagedCoins) -> StagesRecord:
    first = [int(t) for t in coins.memoised.thresholds]
    return StagesRecord(
        bits=coins.memoised.bits,
        memoised=first[0] if len(first) == 1 else first,
        fresh=int(coins.fresh.thresholds[0]),
    )


AnyChannel = Annotated[
    Annotated[ChannelRecord, Tag("replacement")]
    | Annotated[DesignRecord, Tag("cyclic")]
    | Annotated[MixtureRecord, Tag("mixed")],
    Discriminator(lambda given: kind if (kind := _kind(given)) in ("cyclic", "mixed") else "replacement"),
]
"""A channel of any kind; those of before there were kinds have none."""

KINDS = ("replacement", "cyclic", "mixed")
"""What tells the records of channels apart."""


def _kind(given: Any) -> Any:
    return given.get("kind") if isinstance(given, dict) else getattr(given, "kind", None)


def record_of(coins: BaseCoins) -> ChannelRecord | DesignRecord | MixtureRecord:
    """The record of the coins that were flipped."""
    if isinstance(coins, DesignCoins):
        return DesignRecord.of(coins)
    if isinstance(coins, MixtureCoins):
        return MixtureRecord.of(coins)
    assert isinstance(coins, Coins)
    return ChannelRecord.of(coins)


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


class PartRecord(Model):
    """A column of the table that is a part of a published one, whose values are combinations of its parts' values."""

    name: str
    type: str


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
    channel: AnyChannel | None = None
    channels: list[AnyChannel] | None = None
    """One for each stratum, where there are several."""
    merged: list[MergedRecord] | None = None
    """The values of the table that a published value stands for, where some of a public column were put together."""
    rounded: str | None = None
    """How far a number of the table lies at most from the published point of its grid, which is the nearest one; decimal text."""
    parts: list[PartRecord] | None = None
    """The columns of the table that it is made of: a value is the values of the parts, as text, with ` | ` between them."""
    of: str | None = None
    """The column of the table that this one is the low or the high end of, where rows stand for groups."""

    @property
    def records(self) -> list[ChannelRecord | DesignRecord | MixtureRecord]:
        """The channels of a sensitive column, one for each stratum."""
        return self.channels or ([self.channel] if self.channel is not None else [])

    @property
    def values(self) -> Domain:
        """The values of a perturbed column."""
        assert self.domain is not None
        return self.domain.domain(self.type)

    @property
    def shown(self) -> Domain:
        """What is published of a perturbed column: its values, or codes."""
        coded = self.records[0].coded if self.records else None
        return self.values if coded is None else code_domain(coded)


class FileRecord(Model):
    """A file of the release."""

    path: str
    sha256: str
    bytes: int = Field(ge=0)
    rows: int | None = Field(None, ge=0)


class StreamRecord(Model):
    """The coins of a column under a key: what they belong to, and a digest that shows whether two releases have the same ones."""

    column: str
    attribute: str
    commitment: str = Field(pattern="^[0-9a-f]{32}$")


Origin = Literal[
    "operating system, AES-256-CTR",
    "seeded: INSECURE, for tests only",
    "the respondents' own devices, before they sent",
]
SYSTEM: Origin = "operating system, AES-256-CTR"
SEED: Origin = "seeded: INSECURE, for tests only"
DEVICES: Origin = "the respondents' own devices, before they sent"


class Randomness(Model):
    """Where the coins came from. The seed or key is never here."""

    source: Origin
    secure: bool
    keyed: bool = Field(False, description="the coins of a record are a keyed function of its id and value")
    streams: list[StreamRecord] | None = None
    """What keyed coins depend on; releases that were made before there were any have coins of their column's name and its list of values."""


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
