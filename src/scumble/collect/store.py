"""Where answers are kept: what every store does.

    answers   batch, id, period, noted, codes       perturbed codes; the id is drawn by the server, and orders them at random
    spent     key, period, tag                      hashes of tokens that were used (tokens.py), ordered by themselves
    codes     key                                   hashes of codes that may be used

Nothing joins the three. A message's answer and its token are written in one transaction, so that each is there with the other, and
nothing in either says which came with which; how the order in which they came is taken out of the files: `settle`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol


class Outcome(Enum):
    """What became of an arrival."""

    STORED = "stored"
    REPEATED = "repeated"
    SPENT = "spent"
    UNKNOWN = "unknown"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message that was looked at, as a store takes it."""

    key: bytes
    tag: bytes
    period: str
    codes: bytes
    once: str
    """The period in which its token is good once; empty where that is in all of them."""
    by_code: bool
    """Whether its key must be one of a code."""
    noted: str = ""


@dataclass(frozen=True)
class StoreTally:
    """What a store has, in numbers."""

    answers: Mapping[str, int] = field(default_factory=dict)
    """By period."""
    noted: Mapping[str, int] = field(default_factory=dict)
    """By what is kept of when they came."""
    codes: int = 0
    spent: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)
    """Periods that are closed, and the digest of the release that each became."""


class Store(Protocol):
    """What the server and its collector ask of a store. One thread uses one."""

    name: str
    """What messages call it: no host, no user."""
    survey: str
    """The document that its answers are of."""

    def take(self, arrivals: Sequence[Arrival], least: int) -> list[Outcome]:
        """Keeps arrivals, all in one transaction that is on the disk when this returns; `least` answers make a batch."""

    def add_codes(self, keys: Sequence[bytes]) -> None:
        """Codes that may be used."""

    def issue(self, key: bytes, period: str, tag: bytes) -> Outcome:
        """Whether a code may be exchanged for a token, once in a period, and for the same one again."""

    def refuse(self, counts: Mapping[str, int]) -> None:
        """Adds to the numbers of refusals."""

    def tally(self) -> StoreTally:
        """What it has."""

    def full_batches(self, period: str) -> int:
        """How many batches of a period have enough answers to show."""

    def answers(self, period: str, first: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The codes of a period's batches from the first to before the end, many answers at a time."""

    def close(self, period: str) -> None:
        """Takes no more answers in a period: those that were acknowledged are there, and none comes later."""

    def released(self, period: str, digest: str) -> None:
        """The release that a period became."""

    def settle(self) -> None:
        """Writes everything anew in the order of its keys, so that no file shows in which order it came."""

    def disconnect(self) -> None:
        """Lets go of it."""


NO_STORE = "there is no store {}; `scumble collect serve SURVEY --store STORE` makes one"
ANOTHER = "the store {} has the answers of another survey; name another one"
