"""What the publisher sees before a row is published: the roles, and whose rows they are. It is for the publisher's eyes."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scumble.core.display import Card, Grid, Note, Shown
from scumble.publishing.dependence import Dependence
from scumble.publishing.persons import Persons
from scumble.spec.spec import Spec


@dataclass(frozen=True, repr=False)
class Preview(Shown):
    """What was decided, and what was counted."""

    spec: Spec
    persons: Persons
    ledger: Sequence[str] = ()
    """What a ledger says of it."""
    dependence: Sequence[Dependence] = ()
    """What public columns tell of sensitive ones."""

    def card(self) -> Card:
        """Which columns have which role, and whose rows they are, on one screen."""
        spec = self.spec
        named = {
            "left out": [name for name in spec.columns if name not in spec.published],
            "public": [name for name in spec.published if name not in spec.sensitive],
            "sensitive": spec.sensitive,
        }
        rows = [line for role, names in named.items() for line in _lines(role, names)]
        grid = Grid(("role", "columns", "names"), rows, (0, 2))
        notes = [Note(f"persons: {self.persons.words}"), *(Note(line) for line in self.ledger)]
        return Card("roles", [grid, *notes, *told_by_public(self.dependence)])


def _lines(role: str, names: list[str]) -> list[tuple[str, str, str]]:
    """The names of a role, in as many lines as they need."""
    shown = textwrap.wrap(", ".join(names), 120, break_long_words=False, break_on_hyphens=False) or ["none"]
    return [(role, f"{len(names)}", shown[0]), *(("", "", line) for line in shown[1:])]


def told_by_public(dependence: Sequence[Dependence]) -> list[Note]:
    """What public columns tell of sensitive ones: for the publisher's eyes."""
    if not dependence:
        return []
    head = Note("what public columns tell, whatever the coins do (from the data, for your eyes only):", "heading")
    return [head, *(Note(one.words, "strong" if one.determined else "plain") for one in dependence)]


Show = Callable[[Preview], None]
"""What is done with it."""


def unseen(preview: Preview) -> None:
    """Nobody looks."""
