"""What buckets can be held to: the columns of both tables, and how values are spread."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from scumble.forms.buckets.record import BucketsRecord
from scumble.forms.checks import columns_check
from scumble.forms.files import table_of
from scumble.forms.form import Check
from scumble.privacy.numerals import at_most_share

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def checks(folder: Path, manifest: "Manifest") -> list[Check]:
    """Name, outcome and detail of each check."""
    record = manifest.form
    assert isinstance(record, BucketsRecord)
    return [columns_check(folder, manifest), _buckets(folder, record)]


def _buckets(folder: Path, record: BucketsRecord) -> Check:
    """Each bucket has as many rows as values, and no value more than once in l of them."""
    rows, values = (
        table_of([folder / path for path in table.files], names)
        for table, names in zip(record.tables, (["bucket"], ["bucket", "count"]), strict=True)
    )
    numbers = [*rows.columns, *values.columns]
    if (
        any(column.null_count or (len(column) and pc.min(column).as_py() < 0) for column in numbers)
        or not rows.num_rows
    ):
        return "buckets", False, "the number of a bucket, or a count, is missing or below 0"
    size = np.bincount(rows.column("bucket").to_numpy())
    bucket, count = values.column("bucket").to_numpy(), values.column("count").to_numpy()
    if not np.array_equal(np.bincount(bucket, weights=count, minlength=len(size)), size):
        return "buckets", False, "a bucket has more rows than values, or fewer"
    share = float((count / size[bucket]).max())
    sentence = f"the largest share of a value in one of {len(size):,} buckets is {at_most_share(share)}, l = {record.diversity}"
    return "buckets", share * record.diversity <= 1 + 1e-9, sentence
