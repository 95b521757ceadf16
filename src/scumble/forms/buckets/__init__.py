"""The form of buckets: rows, and apart from them the values of each bucket. Its declaration."""

from typing import TYPE_CHECKING

from scumble.core.deferred import deferred
from scumble.forms.buckets.record import BucketsRecord
from scumble.forms.form import Form, View

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def _view(manifest: "Manifest") -> View:
    record = manifest.form
    assert isinstance(record, BucketsRecord)
    return View(people=(record.rows.name,))


FORM = Form(
    name="buckets",
    record=BucketsRecord,
    columns=deferred("scumble.forms.buckets.totals", "columns"),
    answer=deferred("scumble.forms.buckets.totals", "answer"),
    checks=deferred("scumble.forms.buckets.checks", "checks"),
    place=deferred("scumble.forms.buckets.readme", "place"),
    howto=deferred("scumble.forms.buckets.readme", "howto"),
    view=_view,
)
