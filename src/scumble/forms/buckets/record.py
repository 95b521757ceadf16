"""The record of buckets: how many different values each has at least, and the two tables."""

from typing import Literal

from scumble.forms.records import FormRecord, TableRecord


class BucketsRecord(FormRecord):
    """Rows with the number of their bucket, and apart from them the values of each bucket."""

    kind: Literal["buckets"] = "buckets"
    diversity: int
    """No value is in a bucket more than once in so many rows."""
    rows: TableRecord
    values: TableRecord

    @property
    def tables(self) -> list[TableRecord]:
        """Both, the rows first."""
        return [self.rows, self.values]

    @property
    def rows_in(self) -> list[str] | None:
        """The files of the first table."""
        return self.rows.files
