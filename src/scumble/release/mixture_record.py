"""The record of a mixture in JSON: its parts, and how many words of a coin each has."""

from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from scumble.core.coins import LONG
from scumble.core.difference_set import (
    MOST_CODES,
    DifferenceSet,
    demand_difference_set,
    of_recurrence,
    one_place,
    prime_factors,
    sizes,
)
from scumble.core.domain import LARGEST_GRID
from scumble.core.errors import ParameterError, ReleaseError
from scumble.core.mixture import Mixture
from scumble.core.mixture_choice import LISTED
from scumble.core.mixture_coins import MixtureCoins
from scumble.core.mixture_level import LevelPart
from scumble.core.mixture_part import Numbers, Part
from scumble.core.mixture_window import WindowPart
from scumble.release.coded_record import CodedRecord
from scumble.release.coded_words import how_mixed, weighing_mixed
from scumble.spec.spec import Model

MOST_PARTS = 64
MOST_STEPS = 256
"""Of a window: what is told of knots is a matrix of so many rows and columns."""


class LevelRecord(Model):
    """Intervals of `width` numbers, published by a difference set: listed, or by the sequence whose zeros it is."""

    kind: Literal["level"] = "level"
    width: int = Field(ge=1, le=LARGEST_GRID)
    ticks: int = Field(ge=1, lt=1 << LONG)
    codes: int = Field(ge=1, le=MOST_CODES)
    order: int = Field(ge=0, le=256, description="q of the field that the set is made from; 0 for the set of 0 alone")
    dimension: int = Field(ge=0, le=24, description="t of it")
    offsets: list[int] | None = Field(None, description="the set, where it is listed")
    recurrence: list[int] | None = Field(None, description="c_0 to c_(t-1) of its sequence, where it is not")

    @classmethod
    def of(cls, part: LevelPart, ticks: int) -> "LevelRecord":
        """The record of a level."""
        blocks = part.blocks
        listed = blocks.order == 0 or blocks.codes <= LISTED
        return cls(
            width=part.width,
            ticks=ticks,
            codes=blocks.codes,
            order=blocks.order,
            dimension=blocks.dimension,
            offsets=blocks.offsets.tolist() if listed else None,
            recurrence=None if listed else list(blocks.recurrence),
        )

    def part(self, numbers: Numbers) -> Part:
        """The level; refused where its set is none."""
        level = LevelPart(numbers, self.width, self._blocks())
        if level.codes < level.used:
            raise ParameterError(f"{level.used:,} intervals do not fit {level.codes:,} codes")
        return level

    def _blocks(self) -> DifferenceSet:
        if self.order == 0:
            if self.offsets != [0] or self.dimension or self.recurrence is not None:
                raise ParameterError("the set without a field is that of 0 alone")
            return one_place(self.codes)
        if (
            self.dimension < 3
            or len(prime_factors(self.order)) != 1
            or sizes(self.order, self.dimension)[0] != self.codes
        ):
            raise ParameterError("the set is not that of its field")
        if self.offsets is not None:
            return self._listed(self.offsets)
        if prime_factors(self.order) != [self.order] or self.recurrence is None:
            raise ParameterError("a set that is not listed is that of a sequence over a prime field")
        if len(self.recurrence) != self.dimension or not all(0 <= c < self.order for c in self.recurrence):
            raise ParameterError("the sequence is none of its field")
        return of_recurrence(self.order, tuple(self.recurrence))

    def _listed(self, offsets: list[int]) -> DifferenceSet:
        if len(offsets) != sizes(self.order, self.dimension)[1] or offsets != sorted({o % self.codes for o in offsets}):
            raise ParameterError("the set is not as large as its field says")
        blocks = DifferenceSet(self.codes, np.array(offsets, dtype=np.intp), self.order, self.dimension)
        demand_difference_set(blocks)
        return blocks


class WindowRecord(Model):
    """Knots at equal distances, `steps` + 1 of them, each published as one of `reach` neighbouring codes."""

    kind: Literal["window"] = "window"
    steps: int = Field(ge=1, le=MOST_STEPS)
    reach: int = Field(ge=1, le=MOST_STEPS)
    ticks: int = Field(ge=1, lt=1 << LONG)

    @classmethod
    def of(cls, part: WindowPart, ticks: int) -> "WindowRecord":
        """The record of a window."""
        return cls(steps=part.steps, reach=part.reach, ticks=ticks)

    def part(self, numbers: Numbers) -> Part:
        """The window; refused where knots are nearer to each other than numbers."""
        if self.steps >= numbers.points or self.ticks * numbers.points >= 1 << 63:
            raise ParameterError(f"{self.steps} steps are too many for {numbers.points:,} numbers, or their ticks are")
        return WindowPart(numbers, self.steps, self.reach)


class MixtureRecord(CodedRecord):
    """A mixture in JSON."""

    kind: Literal["mixed"] = "mixed"
    size: int = Field(ge=2)
    missing: Literal[True] | None = Field(None, description="that the last value is a missing one")
    bits: int = Field(ge=1, le=LONG)
    inside: int = Field(ge=1)
    outside: int = Field(ge=1)
    parts: list[Annotated[LevelRecord | WindowRecord, Field(discriminator="kind")]] = Field(max_length=MOST_PARTS)

    @property
    def coded(self) -> int | None:
        """How many codes are published in the place of values."""
        return self.coins(self.size).codes

    @property
    def how(self) -> str:
        """How values became codes."""
        return how_mixed(self)

    @property
    def weighing(self) -> str:
        """What codes weigh."""
        return weighing_mixed()

    @classmethod
    def of(cls, coins: MixtureCoins) -> "MixtureRecord":
        """The record of the coins that were flipped."""
        parts: list[LevelRecord | WindowRecord] = []
        for part, ticks in zip(coins.parts, coins.ticks, strict=True):
            if isinstance(part, LevelPart):
                parts.append(LevelRecord.of(part, ticks))
            elif isinstance(part, WindowPart):
                parts.append(WindowRecord.of(part, ticks))
        missing: Literal[True] | None = True if coins.numbers.missing else None
        return cls(
            size=coins.size, missing=missing, bits=coins.bits, inside=coins.inside, outside=coins.outside, parts=parts
        )

    def coins(self, domain_size: int) -> MixtureCoins:
        """The coins that it says were flipped; refused where they are none."""
        if self.size != domain_size:
            raise ReleaseError(
                "the manifest's mixture is not for as many values as its domain has; the manifest was changed"
            )
        return _coins(self.model_dump_json())

    def channel(self, domain_size: int, frequencies: npt.NDArray[np.float64] | None = None) -> Mixture:
        """The mixture."""
        return self.coins(domain_size).channel()


@lru_cache(maxsize=8)
def _coins(text: str) -> MixtureCoins:
    """The coins of a record, made and checked once."""
    record = MixtureRecord.model_validate_json(text)
    numbers = Numbers(record.size - (record.missing is True), record.missing is True)
    try:
        return _checked(record, numbers)
    except ParameterError as error:
        raise ReleaseError(f"the manifest's mixture is none: {error}; the manifest was changed") from None


def _checked(record: MixtureRecord, numbers: Numbers) -> MixtureCoins:
    widths = sorted(part.width for part in record.parts if isinstance(part, LevelRecord))
    nested = all(narrow < wide and wide % narrow == 0 for narrow, wide in pairwise(widths))
    if numbers.points < 2 or not widths or widths[0] != 1 or not nested:
        raise ParameterError("its levels are not intervals within intervals, down to single numbers")
    parts = [part.part(numbers) for part in record.parts]
    coins = MixtureCoins(parts, [part.ticks for part in record.parts], record.bits, record.inside, record.outside)
    if record.inside <= record.outside or sum(coins.spans) > 1 << record.bits:
        raise ParameterError("it has more words than a coin has")
    return coins
