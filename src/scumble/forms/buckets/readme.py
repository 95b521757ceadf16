"""What the README of buckets says: how to join the two tables, by hand."""

from typing import TYPE_CHECKING

from scumble.engines.sql import quoted
from scumble.forms.by_hand import or_scumble
from scumble.forms.markdown import block, code

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def place(manifest: "Manifest") -> str:
    """Where the rows and the values are."""
    return "`rows*`, rows of like values together and otherwise in random order, and beside them `values.parquet`"


def howto(manifest: "Manifest") -> str:
    """Joining the two tables, each row with every value of its bucket."""
    value, rows = manifest.role("apart"), "rows.parquet" if len(manifest.rows_in) == 1 else "rows/*.parquet"
    name = quoted(str(value))
    sql = (
        f"SELECT {name}, SUM(v.count / n) AS estimate\n"
        f"FROM '{rows}' r JOIN 'values.parquet' v USING (bucket)\n"
        f"JOIN (SELECT bucket, COUNT(*) AS n FROM '{rows}' GROUP BY bucket) USING (bucket)\n"
        f"GROUP BY {name};"
    )
    return (
        f"Which value of a bucket belongs to which of its rows is not published. Take every value of the bucket as equally likely for each: a row counts "
        f"c / |bucket| for a value that the bucket has c times. In SQL (DuckDB, in this folder), for each {code(value)}:\n\n"
        f"{block(sql)}\n\n"
        "Conditions go into WHERE. Counts of public columns alone and of values alone are exact for the published rows; a count of both together is drawn "
        f"toward independence, by an amount that is not known. {or_scumble()}"
    )
