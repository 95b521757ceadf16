"""What a published table looks like, and so how it is asked, checked, described and attacked: one folder a form, one line here."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scumble.forms.form import Form

FORMS: dict[str, str] = {
    "rows": "scumble.forms.rows",
    "tuples": "scumble.forms.tuples",
    "buckets": "scumble.forms.buckets",
    "boxes": "scumble.forms.boxes",
    "tuple_set": "scumble.forms.tuple_set",
}
"""The module that has the `FORM` of each, imported when a release has it."""


def find_form(kind: str) -> "Form":
    """The form of a kind of record."""
    form: Form = import_module(FORMS[kind]).FORM
    return form
