"""The cards of the roles: a column, its picture, what it looks like, and what it gives away."""

from dataclasses import dataclass

from scumble.spec.interview import MEANINGS, Question
from scumble.spec.spec import UNDECIDED, Role, Spec
from scumble.studio.pictures import column_picture
from scumble.studio.reading import TableScan


@dataclass(frozen=True)
class RoleCard:
    """One column."""

    place: int
    name: str
    type: str
    role: Role
    why: str
    gives: str
    picture: str
    choices: list[tuple[Role, str]]


def role_cards(spec: Spec, reading: TableScan, drawn: dict[str, str]) -> list[RoleCard]:
    """Those in doubt first, then in the order of the table.

    drawn   pictures that were drawn before, by column
    """
    suggested_first = [place for place, column in enumerate(reading.suggested) if column.role == UNDECIDED]
    others = [place for place in range(len(reading.suggested)) if place not in set(suggested_first)]
    return [_card(place, spec, reading, drawn) for place in (*suggested_first, *others)]


def _card(place: int, spec: Spec, reading: TableScan, drawn: dict[str, str]) -> RoleCard:
    column = reading.suggested[place]
    name = column.seen.name
    own = spec.columns[name].role if name in spec.columns else UNDECIDED
    if name not in drawn:
        drawn[name] = column_picture(reading.sample.column(name))
    question = Question(column, own, place + 1, len(reading.suggested))
    choices = [(role, question.meaning(role)) for role in MEANINGS]
    return RoleCard(
        place, name, str(column.seen.kind), own, _sentence(column.why), _gives(name, reading), drawn[name], choices
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _gives(name: str, reading: TableScan) -> str:
    """How well the column alone finds a row."""
    alone, rows = reading.alone(name), max(1, reading.sample.num_rows)
    if alone == rows:
        return "Every row is alone with its value: it finds each person."
    if alone == 0:
        return "No row is alone with its value."
    share = alone / rows
    shown = f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"
    return (
        f"{alone:,} row{'s are' if alone > 1 else ' is'} alone with {'their' if alone > 1 else 'its'} value ({shown})."
    )
