"""The form of counted tuples, in one table or in several that cannot be joined: its declaration."""

from typing import TYPE_CHECKING

from scumble.core.deferred import deferred
from scumble.forms.form import Form, View
from scumble.forms.tuples.record import Exact, Midpoints, Practical, TuplesRecord

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def _view(manifest: "Manifest") -> View:
    record = manifest.form
    assert isinstance(record, TuplesRecord)
    counting, roles = record.counting, record.transactions or {}
    return View(
        k=record.k or 1,
        suppressed=isinstance(counting, Exact | Practical),
        ranges=isinstance(counting, Midpoints),
        looked_up=not isinstance(counting, Midpoints) and record.schema_ is None,
        people=[table.name for table in record.tables] or (None,),
        invented=frozenset(roles[role] for role in ("user", "pattern") if role in roles),
        domains=record.all_declared or {},
    )


FORM = Form(
    name="tuples",
    record=TuplesRecord,
    columns=deferred("scumble.forms.tuples.totals", "columns"),
    answer=deferred("scumble.forms.tuples.totals", "answer"),
    checks=deferred("scumble.forms.tuples.checks", "checks"),
    place=deferred("scumble.forms.tuples.readme", "place"),
    howto=deferred("scumble.forms.tuples.readme", "howto"),
    view=_view,
    explored=deferred("scumble.forms.tuples.explored", "explored"),
    beside=("_se", "_low", "_high", "_bound", "_least"),
)
