"""The form of published rows, of which some columns were perturbed: its declaration."""

from typing import TYPE_CHECKING

from scumble.core.deferred import deferred
from scumble.forms.form import Form, View
from scumble.forms.rows.record import RowsRecord

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def _view(manifest: "Manifest") -> View:
    record = manifest.form
    assert isinstance(record, RowsRecord)
    return View(row_by_row=True, sampling=record.sampling, joint=record.joint or ())


FORM = Form(
    name="rows",
    record=RowsRecord,
    columns=deferred("scumble.forms.rows.totals", "columns"),
    answer=deferred("scumble.forms.rows.totals", "answer"),
    checks=deferred("scumble.forms.rows.checks", "checks"),
    place=deferred("scumble.forms.rows.readme", "place"),
    howto=deferred("scumble.forms.rows.readme", "howto"),
    view=_view,
    explored=deferred("scumble.forms.rows.explored", "explored"),
)
