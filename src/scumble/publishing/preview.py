"""What the publisher sees before a row is published: the roles, and whose rows they are. It is for the publisher's eyes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scumble.core.display import Card, Grid, Note, Shown
from scumble.publishing.persons import Persons
from scumble.spec.spec import Spec


@dataclass(frozen=True, repr=False)
class Preview(Shown):
    """What was decided, and what was counted."""

    spec: Spec
    persons: Persons
    ledger: Sequence[str] = ()
    """What a ledger says of it."""

    def card(self) -> Card:
        """Which columns have which role, and whose rows they are, on one screen."""
        spec = self.spec
        named = {
            "left out": [name for name in spec.columns if name not in spec.published],
            "public": [name for name in spec.published if name not in spec.sensitive],
            "sensitive": spec.sensitive,
        }
        rows = [(role, f"{len(names)}", ", ".join(names) or "none") for role, names in named.items()]
        grid = Grid(("role", "columns", "names"), rows, (0, 2))
        return Card("roles", [grid, *(Note(line) for line in (f"persons: {self.persons.words}", *self.ledger))])


Show = Callable[[Preview], None]
"""What is done with it."""
