"""How many rows a person has in the table, as a manifest says it, and what that makes of the promise.

The promise of a mechanism is about one row. Where a person has up to c of them, the person's promise stands before it, and the row's
says that it is the row's alone.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator
from sqlglot import exp

from scumble.mechanisms.facts import Terms
from scumble.privacy.guarantee import Clause, Guarantee
from scumble.privacy.persons import OF_ONE, for_person, in_place_of_one
from scumble.spec.spec import Model


class PersonsRecord(Model):
    """Whose rows they are: how that is known, and how many a person has at most."""

    how: Literal["counted", "capped", "stated", "unanswered", "users"]
    """Counted by an identifier; capped by coins; stated by the publisher; not answered; or all transactions of a user are one tuple."""
    rows: int | None = Field(default=None, ge=1)
    answers: Literal["rows", "persons"] | None = None
    """What answers count by the weights of rows that were drawn; absent where rows have no weights."""

    @model_validator(mode="after")
    def _fits(self) -> "PersonsRecord":
        if self.answers is not None and self.how != "capped":
            raise ValueError("answers go with persons of whom rows were drawn")
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

    def weights(self, every: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """What a drawn row stands for, where its person has so many rows: as many of them, or a part of the person.

        >>> PersonsRecord(how="capped", rows=2, answers="rows").weights(np.array([1, 2, 5])).tolist()
        [1.0, 1.0, 2.5]
        >>> PersonsRecord(how="capped", rows=2, answers="persons").weights(np.array([1, 2, 5])).tolist()
        [1.0, 0.5, 0.5]
        """
        drawn = np.minimum(every, self.most)
        if self.answers == "rows":
            return np.asarray(every / drawn)
        return np.asarray(1 / drawn) if self.answers == "persons" else np.ones(len(every))

    def drawn(self, weight: exp.Expression) -> exp.Expression | None:
        """Which rows were drawn among others of their person, or may have been, by their weight; None where rows have no weights."""
        if self.answers is None:
            return None
        if self.answers == "rows":
            return exp.GT(this=weight, expression=exp.Literal.number(1))
        return exp.LT(this=weight, expression=exp.Literal.number(1 / (self.most - 0.5)))

    @property
    def answers_for(self) -> str:
        """What an answer counts."""
        if self.how != "capped":
            return "the rows of the table"
        if self.answers is not None:
            return f"{COUNTED[self.answers]}, estimated by at most {self.rows} of each person, drawn by coins, and their weights"
        if self.rows == 1:
            return "persons, by one row of each, drawn by coins"
        return f"kept rows, at most {self.rows} of a person, drawn by coins; not all rows of the table, and not persons"


COUNTED = {"rows": "all rows of the table", "persons": "persons, each of whom counts 1 over all of his rows"}

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
    tell += (
        []
        if persons.answers is None
        else [Clause(code="weights_tell", parameters={"rows": rows, "of": persons.answers})]
    )
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
