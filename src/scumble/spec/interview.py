"""The questions of `scumble init`: one a column, those in doubt first. Who asks, a screen or a line, is no matter here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scumble.core.display import cell
from scumble.spec.spec import UNDECIDED, Role
from scumble.spec.suggest import BECOMES, Suggestion, has_domain, in_steps

Step = Literal["back", "rest", "quit"]
"""The column before; the rest as it is suggested; nothing is written."""

KEYS = "b: the column before   w: write, the rest as suggested   q: quit, write nothing"
"""How to say a step, by a key or a letter."""

MEANINGS: dict[Role, str] = {
    "sensitive": "perturbed",
    "public": "published as it is",
    "identifier": "left out: it names or numbers people",
    "dropped": "left out",
    UNDECIDED: "leave it open; nothing is published before it is decided",
}
"""The roles to choose from, in this order, and what each of them means."""

IN_STEPS = "published in steps, which the spec says"
NO_DOMAIN = "its values cannot be listed, so that the spec will lack a domain: write it by hand"


@dataclass(frozen=True)
class Question:
    """Which role a column shall have."""

    column: Suggestion
    chosen: Role
    """As it stands: suggested, or chosen before."""
    number: int
    of: int

    @property
    def lines(self) -> list[str]:
        """What there is to know of the column."""
        seen = self.column.seen
        examples = ", ".join(cell(value) for value in seen.examples) or "none"
        missing = f"; {seen.missing:,} of {seen.rows:,} rows have none" if seen.missing else ""
        return [
            f"column {self.number} of {self.of}: {cell(seen.name)}",
            "",
            f"type       {seen.kind}",
            f"seen       {self.column.why}",
            f"values     such as {examples}{missing}",
            f"suggested  {self.column.role}: {BECOMES[self.column.role]}",
        ]

    def meaning(self, role: Role) -> str:
        """What a role would do to this column."""
        if role == "sensitive" and not has_domain(self.column.seen):
            return f"{MEANINGS[role]}; {NO_DOMAIN}"
        return IN_STEPS if role == "public" and in_steps(self.column.seen) else MEANINGS[role]


Ask = Callable[[Question], Role | Step]
"""Puts a question, and has the answer."""


def interview(suggested: Sequence[Suggestion], ask: Ask) -> list[Suggestion] | None:
    """The columns with the roles that were chosen, in the order of the table; none where somebody quit."""
    order = sorted(range(len(suggested)), key=lambda place: suggested[place].role != UNDECIDED)
    chosen = [column.role for column in suggested]
    turn = 0
    while turn < len(order):
        place = order[turn]
        answer = ask(Question(suggested[place], chosen[place], turn + 1, len(order)))
        if answer == "quit":
            return None
        if answer == "rest":
            break
        if answer == "back":
            turn = max(0, turn - 1)
        else:
            chosen[place], turn = answer, turn + 1
    return [replace(column, role=role) for column, role in zip(suggested, chosen, strict=True)]
