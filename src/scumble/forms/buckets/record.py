"""The record of buckets: how many different values each has at least, and the two tables."""

from typing import ClassVar, Literal

from pydantic import Field

from scumble.forms.records import MANY, FormRecord, Roles, TableRecord


class BucketsRecord(FormRecord):
    """Rows with the number of their bucket, and apart from them the values of each bucket."""

    kind: Literal["buckets"] = "buckets"
    ROLES: ClassVar[Roles] = {"public": (0, MANY), "bucket": (1, 1), "apart": (1, 1), "count": (1, 1)}
    diversity: int = Field(ge=2)
    """No value is in a bucket more than once in so many rows."""
    rows: TableRecord
    values: TableRecord

    @property
    def tables(self) -> list[TableRecord]:
        """Both, the rows first."""
        return [self.rows, self.values]

    @property
    def table_names(self) -> list[str] | None:
        """Those of the two."""
        return ["rows", "values"]

    @property
    def on_word(self) -> list[str]:
        """Rows that are not there cannot be seen."""
        return [
            "whether rows of the most frequent values were left out before, and whether the values that there can be were taken from the data"
        ]

    def layout(self, columns: list[str], data: list[str]) -> list[tuple[list[str], list[str]]]:
        """Both tables, each with its own columns."""
        return [(list(table.attributes), table.files) for table in self.tables]

    @property
    def rows_in(self) -> list[str] | None:
        """The files of the first table."""
        return self.rows.files
