"""Public columns that were made coarser, or whose values were put together: what the manifest says of it, beside the published values."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import is_text
from scumble.core.errors import ScumbleError
from scumble.core.parameters import number
from scumble.engines.engine import TABLE
from scumble.engines.expressions import column, select
from scumble.forms.files import arrays_of, schema_of
from scumble.forms.form import PART
from scumble.release.check import Check, said
from scumble.release.records import ColumnRecord, MergedRecord
from scumble.release.release import Release
from scumble.spec.coarsening import coarsen
from scumble.spec.spec import Coarsen
from scumble.spec.steps import labels

FEWEST = 3
"""Different numbers of which a common step is told, at least."""

CLOSE = 1e-6
"""How far a number may lie from a whole number of steps, in steps: widths such as 0.1 are rounded."""


def recoded_checks(release: Release) -> list[Check]:
    """A check of each column that was recoded, by the manifest's word, and a line for those that were not."""
    open_columns = [c for c in release.manifest.columns if c.role in ("public", "counted")]
    recoded = [c for c in open_columns if c.coarsened or c.merged is not None]
    plain = {what: [c.name for c in open_columns if c not in recoded and c.role == what] for what in AS_THEY_ARE}
    as_they_are = [_as_they_are(release, what, names) for what, names in plain.items() if names]
    return [*(_check(release, record) for record in recoded), *as_they_are]


AS_THEY_ARE = {"public": "as in the table", "counted": "counted by the values of the table"}
"""What nobody can see of columns that were not recoded, by their role."""


def _as_they_are(release: Release, what: str, names: list[str]) -> Check:
    """That nobody made a column coarser leaves no trace; steps that its numbers have all the same are told."""
    steps = [f"all of {name} are multiples of {step:,}" for name in names if (step := _step(release, name)) > 1]
    shown = f" ({'; '.join(steps)})" if steps else ""
    return said(
        f"{what} values",
        f"{', '.join(names)} {'are' if len(names) > 1 else 'is'} {AS_THEY_ARE[what]}, not made coarser{shown}",
    )


def _step(release: Release, name: str) -> int:
    """The largest number that divides all whole numbers of a column, as far as its first rows show; 1 of anything else, and of few different ones."""
    path = next((p for p in release.manifest.data if name in schema_of(release.file(p), p).names), None)
    rows = next(arrays_of(release.file(path), name), None) if path is not None else None
    if rows is None or not pa.types.is_integer(rows.type):
        return 1
    different = pc.unique(rows.drop_null())
    return int(np.gcd.reduce(different.to_numpy().astype(np.int64))) if len(different) >= FEWEST else 1


def _check(release: Release, record: ColumnRecord) -> Check:
    what = f"recoding of {record.name}"
    try:
        values = _published(release, record.name)
        problem = _coarsened(values, record.coarsened) if record.coarsened and record.merged is None else ""
        problem = problem or (_merged(values, record.merged) if record.merged is not None else "")
    except (ScumbleError, pa.ArrowException, ValueError, TypeError):
        problem = "the rule does not fit the values of the column"
    detail = "how it was made coarser; the published values do not contradict it, nor would they a finer rule"
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
