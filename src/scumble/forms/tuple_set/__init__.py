"""The form of a set of tuples, some of the table's and some made up: its declaration."""

from typing import TYPE_CHECKING

from scumble.core.deferred import deferred
from scumble.forms.form import Form, View
from scumble.forms.tuple_set.record import TupleSetRecord

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def _view(manifest: "Manifest") -> View:
    record = manifest.form
    assert isinstance(record, TupleSetRecord)
    return View(made_up=True, domains=record.domains)


FORM = Form(
    name="tuple_set",
    record=TupleSetRecord,
    columns=deferred("scumble.forms.tuple_set.totals", "columns"),
    answer=deferred("scumble.forms.tuple_set.totals", "answer"),
    checks=deferred("scumble.forms.tuple_set.checks", "checks"),
    place=deferred("scumble.forms.tuple_set.readme", "place"),
    howto=deferred("scumble.forms.tuple_set.readme", "howto"),
    view=_view,
)
