"""The form of boxes, each standing for a group of rows with the perturbed value of one: its declaration."""

from typing import TYPE_CHECKING

from scumble.core.deferred import deferred
from scumble.forms.boxes.record import BoxesRecord
from scumble.forms.form import Form, View

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def _view(manifest: "Manifest") -> View:
    record = manifest.form
    assert isinstance(record, BoxesRecord)
    return View(k=record.k)


FORM = Form(
    name="boxes",
    record=BoxesRecord,
    columns=deferred("scumble.forms.boxes.totals", "columns"),
    answer=deferred("scumble.forms.boxes.totals", "answer"),
    checks=deferred("scumble.forms.boxes.checks", "checks"),
    place=deferred("scumble.forms.boxes.readme", "place"),
    howto=deferred("scumble.forms.boxes.readme", "howto"),
    view=_view,
)
