"""The record of a cyclic design in JSON: its difference set, and how many words of a coin each place has."""

from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from scumble.core.design import MOST_LISTED, Design
from scumble.core.design_coins import DesignCoins
from scumble.core.difference_set import DifferenceSet, demand_difference_set, sizes
from scumble.core.errors import ParameterError, ReleaseError
from scumble.release.coded_record import CodedRecord
from scumble.release.coded_words import how_designed, weighing_designed


class DesignRecord(CodedRecord):
    """A cyclic design in JSON: the set, and how many words of a coin each place inside and outside of it has."""

    kind: Literal["cyclic"] = "cyclic"
    size: int = Field(ge=1)
    codes: int = Field(ge=2, le=MOST_LISTED)
    order: int = Field(ge=2, description="q of the field that the set is made from")
    dimension: int = Field(ge=3, le=24, description="t of it")
    bits: int = Field(ge=1, le=64)
    inside: int = Field(ge=1)
    outside: int = Field(ge=1)
    offsets: list[int]
    """The difference set: a value x is published as (x + d) mod codes, d one of these with `inside` words each, any other with `outside`."""

    @property
    def coded(self) -> int | None:
        """How many codes are published in the place of values."""
        return self.codes

    @property
    def how(self) -> str:
        """How values became codes."""
        return how_designed(self)

    @property
    def weighing(self) -> str:
        """What codes weigh."""
        return weighing_designed()

    @classmethod
    def of(cls, coins: DesignCoins) -> "DesignRecord":
        """The record of the coins that were flipped."""
        blocks = coins.blocks
        return cls(
            size=coins.size,
            codes=blocks.codes,
            order=blocks.order,
            dimension=blocks.dimension,
            bits=coins.bits,
            inside=coins.inside,
            outside=coins.outside,
            offsets=blocks.offsets.tolist(),
        )

    def coins(self, domain_size: int) -> DesignCoins:
        """The coins that it says were flipped; refused where they are none, or the set is no difference set."""
        if self.size != domain_size or self.codes < self.size:
            raise ReleaseError(
                "the manifest's design is not for as many values as its domain has; the manifest was changed"
            )
        blocks = _difference_set(self.codes, self.order, self.dimension, tuple(self.offsets))
        k = len(self.offsets)
        if self.inside <= self.outside or k * self.inside + (self.codes - k) * self.outside > 1 << self.bits:
            raise ReleaseError("the manifest's design has more words than a coin has; the manifest was changed")
        return DesignCoins(self.size, blocks, self.bits, self.inside, self.outside)

    def channel(self, domain_size: int, frequencies: npt.NDArray[np.float64] | None = None) -> Design:
        """The design."""
        return self.coins(domain_size).channel()


@lru_cache(maxsize=16)
def _difference_set(codes: int, order: int, dimension: int, offsets: tuple[int, ...]) -> DifferenceSet:
    """The set, once its differences have been counted."""
    if (codes, len(offsets)) != sizes(order, dimension)[:2] or list(offsets) != sorted({o % codes for o in offsets}):
        raise ReleaseError("the manifest's design has another set than its field; the manifest was changed")
    blocks = DifferenceSet(codes, np.array(offsets, dtype=np.intp), order, dimension)
    try:
        demand_difference_set(blocks)
    except ParameterError:
        raise ReleaseError(
            "the set of the manifest's design is no difference set; the manifest was changed, get the release again from its publisher"
        ) from None
    return blocks
