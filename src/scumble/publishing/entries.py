"""What was published of whom: the entries of a publisher's ledger, and what they come to together.

An entry has looks. A look is one set of coins that a person's values went through: two releases with the same coins (the same
commitment) are one look, all others add up. A person who is in several entries has seen all their looks, so

    epsilon of all  <=  sum over different looks of epsilon,        and the same for delta

which holds however the releases are read together: factors on the odds multiply.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from scumble.core.display import Card, Grid, Note, Part, Shown
from scumble.privacy.numerals import at_most
from scumble.spec.spec import Model

EXACT = {"corruption", "corruption_of_buckets", "exact_counts"}
"""What releases do not cover whose counts are those of the table: two of them differ by the people that one has more."""


class Look(Model):
    """Coins that a person's values went through."""

    attribute: str | None = None
    """What the coins belong to; nothing where they are those of a whole table."""
    commitment: str | None = None
    """The same in every release with the same coins; none where coins are fresh."""
    epsilon: float | None = None
    """Its privacy loss, for a person; none where there is no bound."""
    delta: float = 0.0


class Entry(Model):
    """One publication."""

    number: int
    status: Literal["pending", "published"]
    """Pending: the release may be in place or not, which counts as published."""
    when: str
    release: str
    digest: str
    mechanism: str
    id: str
    people: int
    people_file: str
    rows_of_a_person: int = Field(default=1, description="how many rows a person has at most")
    looks: list[Look]
    exact: bool = Field(default=False, description="whether its counts are those of the table")
    again: bool = Field(default=False, description="whether it was accepted by --again")


@dataclass(frozen=True)
class Loss:
    """What several looks tell of a person together."""

    epsilon: float | None
    delta: float

    @property
    def words(self) -> str:
        """For people."""
        if self.epsilon is None:
            return "no bound"
        beside = f", delta = {at_most(self.delta)}" if self.delta else ""
        return f"epsilon = {at_most(self.epsilon)}{beside}"


def joint(looks: Iterable[Look]) -> Loss:
    """The loss of all looks, each set of coins once.

    >>> joint([Look(commitment="a", epsilon=1.0), Look(commitment="a", epsilon=1.0), Look(epsilon=0.5)])
    Loss(epsilon=1.5, delta=0.0)
    """
    known: dict[str, Look] = {}
    fresh: list[Look] = []
    for look in looks:
        if look.commitment is None:
            fresh.append(look)
        else:
            former = known.setdefault(look.commitment, look)
            if (look.epsilon or 0) > (former.epsilon or 0):  # a person had fewer rows there
                known[look.commitment] = look
    every = [*known.values(), *fresh]
    bounded = [look.epsilon for look in every if look.epsilon is not None]
    total = sum(bounded) if len(bounded) == len(every) else None
    return Loss(total, sum(look.delta for look in every))


@dataclass(frozen=True, repr=False)
class Book(Shown):
    """All entries of a ledger."""

    name: str
    entries: Sequence[Entry]

    def card(self) -> Card:
        """A line for each entry, and what they come to for whoever is in all of them."""
        if not self.entries:
            return Card(f"{self.name}: nothing was published yet", [])
        rows = [
            (
                str(e.number),
                e.when[:10],
                e.status,
                e.release,
                e.mechanism,
                f"{e.people:,}",
                _attributes(e),
                joint(e.looks).words,
            )
            for e in self.entries
        ]
        heads = ("", "when", "status", "release", "mechanism", "people", "attributes", "privacy loss")
        parts: list[Part] = [Grid(heads, rows, (1, 2, 3, 4, 6, 7))]
        every = joint(look for entry in self.entries for look in entry.looks)
        parts.append(Note(f"whoever is in all of them: {every.words}; the same coins are counted once"))
        if any(entry.status == "pending" for entry in self.entries):
            parts.append(
                Note("pending: publishing broke off at its end; the release may be out, and is counted", "strong")
            )
        return Card(self.name, parts)


def _attributes(entry: Entry) -> str:
    return ", ".join(look.attribute for look in entry.looks if look.attribute) or "the whole row"
