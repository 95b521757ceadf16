"""Public columns that were made coarser, or whose values were put together: what the manifest says of it, beside the published values."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import is_text
from scumble.core.errors import ScumbleError
from scumble.core.parameters import number
from scumble.engines.engine import TABLE
from scumble.engines.expressions import column, select
from scumble.forms.form import PART
from scumble.release.check import Check, said
from scumble.release.records import ColumnRecord, MergedRecord
from scumble.release.release import Release
from scumble.spec.coarsening import coarsen
from scumble.spec.spec import Coarsen
from scumble.spec.steps import labels

CLOSE = 1e-6
"""How far a number may lie from a whole number of steps, in steps: widths such as 0.1 are rounded."""


def recoded_checks(release: Release) -> list[Check]:
    """A check of record column that was recoded, by the manifest's word."""
    return [
        _check(release, record) for record in release.manifest.columns if record.coarsened or record.merged is not None
    ]


def _check(release: Release, record: ColumnRecord) -> Check:
    what = f"recoding of {record.name}"
    try:
        values = _published(release, record.name)
        problem = _coarsened(values, record.coarsened) if record.coarsened and record.merged is None else ""
        problem = problem or (_merged(values, record.merged) if record.merged is not None else "")
    except (ScumbleError, pa.ArrowException, ValueError, TypeError):
        problem = "the rule does not fit the values of the column"
    detail = "how it was made coarser; the published values do not contradict it"
    return Check(what, False, f"{problem}; the manifest was changed") if problem else said(what, detail)


def _published(release: Release, name: str) -> pa.Array:
    """The different values of a column."""
    parts = [PART.format(table.name) for table in release.manifest.form.tables if name in table.attributes]
    place = parts[0] if parts else TABLE
    return release.engine.run(select({"v": column(name)}, place, (), 1)).column("v").combine_chunks().drop_null()


def _coarsened(values: pa.Array, how: Coarsen) -> str:
    """The first published value that the rule cannot have made, if any."""
    if pa.types.is_list(values.type):
        values = values.flatten().unique()
    if how.bins is not None:
        steps = pc.divide(values.cast(pa.float64()), number(how.bins, "bins"))
        fits = pc.less(pc.abs(pc.subtract(steps, pc.round(steps))), CLOSE)
    elif how.prefix is not None:
        fits = pc.less_equal(pc.utf8_length(values), how.prefix)
    elif how.date is not None:
        fits = pc.equal(coarsen(values, how, "").cast(values.type), values)
    else:
        fits = pc.is_in(values.cast(pa.string()), value_set=pa.array(labels(how) or [], pa.string()))
    astray = values.filter(pc.invert(fits))
    return f"{astray[0].as_py()!r} is published, which the rule of the manifest does not give" if len(astray) else ""


def _merged(values: pa.Array, records: list[MergedRecord]) -> str:
    """What is wrong with the lists of values that were put together, if anything."""
    members = [str(value) for record in records for value in record.values]
    if len(set(members)) != len(members):
        return "a value is put together with two others"
    text = is_text(values.type)
    for record in records:
        if not record.values or record.published != _stands_for(record.values, text):
            return f"{record.published!r} does not stand for the values beside it"
    known = {str(record.published) for record in records}
    astray = next((value for value in values.to_pylist() if str(value) not in known), None)
    return "" if astray is None else f"{astray!r} is published, which is not among the values that were put together"


def _stands_for(values: list[Any], text: bool) -> Any:
    return " | ".join(map(str, values)) if text else min(values)
