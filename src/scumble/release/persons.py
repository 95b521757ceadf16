"""How many rows a person has in the table, as a manifest says it, and what that makes of the promise.

The promise of a mechanism is about one row. Where a person has up to c of them, the person's promise stands before it, and the row's
says that it is the row's alone.
"""

from typing import Literal

from pydantic import Field, model_validator

from scumble.mechanisms.facts import Terms
from scumble.privacy.guarantee import Clause, Guarantee
from scumble.privacy.persons import OF_ONE, for_person, in_place_of_one
from scumble.spec.spec import Model


class PersonsRecord(Model):
    """Whose rows they are: how that is known, and how many a person has at most."""

    how: Literal["counted", "capped", "stated", "unanswered", "users"]
    """Counted by an identifier; capped by coins; stated by the publisher; not answered; or all transactions of a user are one tuple."""
    rows: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _fits(self) -> "PersonsRecord":
        if (self.rows is not None) != (self.how in ("counted", "capped")):
            raise ValueError("rows go with persons whose rows were counted or capped")
        return self

    @property
    def most(self) -> int:
        """The rows of a person, at most, as far as it is known."""
        return self.rows or 1

    @property
    def condition(self) -> Clause:
        """The condition that the promise to a person has."""
        return Clause(code=CONDITION[self.how], parameters={} if self.rows is None else {"rows": self.rows})

    @property
    def word(self) -> str:
        """What the publisher says of it. No release shows whose its rows are, however often somebody counted them."""
        rows = "1 row" if self.rows == 1 else f"up to {self.most:,} rows"
        return WORD[self.how].format(rows=rows)

    @property
    def answers_for(self) -> str:
        """What an answer counts."""
        if self.how != "capped":
            return "the rows of the table"
        if self.rows == 1:
            return "persons, by one row of each, drawn by coins"
        return f"kept rows, at most {self.rows} of a person, drawn by coins; not all rows of the table, and not persons"


CONDITION = {
    "counted": "rows_counted",
    "capped": "rows_capped",
    "stated": "one_row_stated",
    "unanswered": "one_row_unanswered",
    "users": "one_user",
}

WORD = {
    "counted": "a person has {rows} in the table, by a count of the publisher's",
    "capped": "{rows} of a person in the release, drawn by coins",
    "stated": "each person is one row; nobody counted",
    "unanswered": "nothing was said of how many rows a person has; a guarantee holds for one row, and for a person who has no more",
    "users": "all transactions of a user are one tuple, and a person is one user",
}


def under_persons(terms: Terms, persons: PersonsRecord | None) -> Terms:
    """The promise to persons. Releases of before there was the field say what they said."""
    if persons is None:
        return terms
    rows = persons.most
    tell = [Clause(code="rows_tell", parameters={"rows": rows})] if persons.how == "counted" else []
    depends = [*terms.depends_on_data, *tell]
    if rows == 1:
        changed = [in_place_of_one(guarantee, persons.condition) for guarantee in terms.guarantees]
        return Terms(changed, terms.not_covered, depends)
    alone = Clause(code="one_of_rows", parameters={"rows": rows})
    of_rows = [in_place_of_one(guarantee, alone) for guarantee in terms.guarantees]
    return Terms([*to_persons(terms, persons), *of_rows], terms.not_covered, depends)


def to_persons(terms: Terms, persons: PersonsRecord) -> list[Guarantee]:
    """What is promised to a person who has several rows, all of them together."""
    about_one = [guarantee for guarantee in terms.guarantees if any(c.code in OF_ONE for c in guarantee.conditions)]
    made = [promise for guarantee in about_one if (promise := for_person(guarantee, persons.most)) is not None]
    return [g.model_copy(update={"conditions": [persons.condition, *g.conditions]}) for g in made]
