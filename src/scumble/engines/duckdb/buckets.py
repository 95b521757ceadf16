"""The two tables of Anatomy with DuckDB: each row joined with every value of its bucket."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from scumble.engines.duckdb.complaint import refusal
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.interruptible import arrow
from scumble.engines.sql import listed, parquet


class Buckets:
    """The two tables, read and numbered once for all questions."""

    def __init__(self, rows: Sequence[Path], values: Sequence[Path], columns: Sequence[str]) -> None:
        self.columns = columns
        self._connection = connect([*rows, *values])
        self._connection.execute(
            f"""CREATE TEMP TABLE r AS SELECT *, row_number() OVER () AS "scumble r", COUNT(*) OVER (PARTITION BY bucket) AS "scumble n"
            FROM {parquet(rows)};
            CREATE TEMP TABLE v AS SELECT *, row_number() OVER () AS "scumble v" FROM {parquet(values)}"""
        )

    def sums(self, keys: Sequence[tuple[str, exp.Expression]], where: exp.Expression | None) -> pa.Table:
        """For each group the estimate v = sum of T / n over buckets, and its variance s under values dealt at random within each bucket.

            s = sum of (T - R / n - C / n + T^2 / n^2) / (n - 1)

        where T counts the pairs of a row and a value of the bucket that match, n is its size, and R and C are the sums over rows and over
        values of the squared numbers of their pairs: the variance of a sum over a random permutation (Hoeffding).
        """
        names = [name for name, _ in keys]
        named = "".join(f"{e.sql(dialect='duckdb')} AS {name}, " for name, e in keys)
        condition = f"WHERE {where.sql(dialect='duckdb')}" if where is not None else ""
        group, by = (
            "".join(f"{n}, " for n in names),
            f"GROUP BY {', '.join(f'r.{n}' for n in names)} ORDER BY ALL" if names else "",
        )
        same = "".join(f" AND r.{n} IS NOT DISTINCT FROM c.{n}" for n in names)
        statement = f"""
            WITH pairs AS (SELECT {listed(self.columns)}, bucket AS "scumble b", count AS "scumble c", "scumble r", "scumble n", "scumble v" FROM r JOIN v USING (bucket)),
            hit AS (SELECT {named} "scumble b" AS b, "scumble c" AS c, "scumble r" AS r, "scumble n" AS n, "scumble v" AS v FROM pairs {condition}),
            r_sums AS (SELECT {group} b, SUM(t) AS t, SUM(t * t) AS q, ANY_VALUE(n)::DOUBLE AS n FROM
                (SELECT {group} b, r, SUM(c)::DOUBLE AS t, ANY_VALUE(n) AS n FROM hit GROUP BY {group} b, r) GROUP BY {group} b),
            c_sums AS (SELECT {group} b, SUM(c * t * t) AS q FROM
                (SELECT {group} b, v, COUNT(*)::DOUBLE AS t, ANY_VALUE(c) AS c FROM hit GROUP BY {group} b, v) GROUP BY {group} b)
            SELECT {"".join(f"r.{n} AS {n}, " for n in names)} SUM(r.t / r.n) AS v,
                SUM((r.t - (r.q + c.q) / r.n + r.t * r.t / (r.n * r.n)) / GREATEST(r.n - 1, 1)) AS s
            FROM r_sums r JOIN c_sums c ON r.b = c.b{same} {by}"""
        try:
            return arrow(self._connection, statement)
        except duckdb.Error as error:
            raise refusal(error, self._connection, ["r", "v"], [*(e for _, e in keys), where]) from None
