"""What a published table looks like, and so how it is asked, checked and described: one folder a form, one line here."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from scumble.forms.form import Form

FORMS: dict[str, str] = {
    "rows": "scumble.forms.rows.totals",
    "tuples": "scumble.forms.tuples.totals",
    "buckets": "scumble.forms.buckets.totals",
    "boxes": "scumble.forms.boxes.totals",
    "tuple_set": "scumble.forms.tuple_set.totals",
}
"""Where each answers questions, imported when it is asked."""

COUNTED = {"anatomy": "buckets", "generalized": "boxes", "alpha_beta": "tuple_set"}
"""The forms of counted records, by their matrix, where these are not tuples."""


def form_of(manifest: Any) -> str:
    """The name of the form that a manifest tells of."""
    return "rows" if manifest.counted is None else COUNTED.get(manifest.counted.matrix, "tuples")


def form(name: str) -> "Form":
    """The form of that name."""
    return cast("Form", import_module(FORMS[name]))
