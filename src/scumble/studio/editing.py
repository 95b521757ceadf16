"""Changes to a spec, as forms ask for them; what a column gets with a role is what `scumble init` would write for it."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from scumble.core.errors import ParameterError
from scumble.spec.interview import MEANINGS
from scumble.spec.problems import first_problem
from scumble.spec.spec import ColumnSpec, Role, Spec
from scumble.spec.suggest import Suggestion, written
from scumble.studio.reading import TableScan

Form = Mapping[str, str]

ROLES: dict[str, Role] = {role: role for role in MEANINGS}
NOT_SAID, EACH_ROW = "", "each row"


def with_roles(spec: Spec, form: Form, reading: TableScan) -> Spec:
    """The spec with the roles that a form gives, by the place of a column in the table; others stay as they are."""
    columns = dict(spec.columns)
    for place, column in enumerate(reading.suggested):
        role = ROLES.get(form.get(f"role-{place}", ""))
        name = column.seen.name
        if role is not None and (name not in columns or columns[name].role != role):
            columns[name] = suggested_column(column, role, columns.get(name))
    order = {name: columns[name] for name in spec.columns} | columns
    person = spec.person
    if person is not None and (person not in order or order[person].role in ("public", "sensitive")):
        person = None
    return checked(spec, columns=order, person=person, **({} if person else {"rows_per_person": None, "answers": None}))


def with_persons(spec: Spec, form: Form, reading: TableScan) -> Spec:
    """The spec with what a form says of whose rows they are."""
    if "person" not in form:
        return spec
    whose, most = form["person"], form.get("rows_per_person", "")
    if whose in (NOT_SAID, EACH_ROW):
        said = "one row each" if whose == EACH_ROW else None
        return checked(spec, person=None, persons=said, rows_per_person=None, answers=None)
    place = int(whose) if whose.isdigit() and int(whose) < len(reading.suggested) else None
    if place is None:
        raise ParameterError("say whose row it is by one of the columns that are left out")
    rows: int | str | None = int(most) if most.isdigit() and int(most) else "all" if most == "all" else None
    person = reading.suggested[place].seen.name
    answers = spec.answers if isinstance(rows, int) else None
    return checked(spec, person=person, persons=None, rows_per_person=rows, answers=answers)


def suggested_column(column: Suggestion, role: Role, before: ColumnSpec | None) -> ColumnSpec:
    """What `scumble init` writes for a column of that role."""
    text = [column.seen.name] if before is not None and before.text else []
    made = tomllib.loads(written("table", [replace(column, role=role)], text))
    return ColumnSpec.model_validate(made["columns"][column.seen.name])


def checked(spec: Spec, **changes: Any) -> Spec:
    """The spec with changes, once they are as a spec has them."""
    try:
        return Spec.model_validate({**dict(spec), **changes})
    except ValidationError as error:
        raise ParameterError(first_problem(error, Spec)) from None
