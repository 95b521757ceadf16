"""What the README of a release of counted tuples says: how to compute with it, by hand."""

import math
from typing import Any

from scumble.engines.sql import named, quoted
from scumble.forms.rows.readme_values import or_scumble
from scumble.release.manifest import Manifest
from scumble.release.markdown import block, code, plain
from scumble.release.records import CountedRecord, DomainRecord


def counted_place(manifest: Manifest) -> str:
    """Where the rows are."""
    record = manifest.counted
    assert record is not None
    if record.matrix == "anatomy":
        return "`rows*`, rows of like values together and otherwise in random order, and beside them `values.parquet`"
    if record.tables is None:
        many = len(manifest.data) > 1
        return "`data/*.parquet`, sorted by value" if many else "`data.parquet`, sorted by value"
    return f"{len(record.tables)} tables (`{record.tables[0].name}` and so on), each sorted by value"


def counted_howto(manifest: Manifest) -> str:
    """Counting, with the correction at k and the bound for what is missing."""
    record = manifest.counted
    assert record is not None
    if record.matrix == "anatomy":
        return _anatomy(manifest)
    if record.matrix == "alpha_beta":
        return _alpha_beta(manifest, record)
    parts = [_tables(record), _counting(record), _summing(record), _missing(record)]
    parts.append(_scumble(manifest, record))
    return "\n\n".join(part for part in parts if part)


def _summing(record: CountedRecord) -> str:
    """Sums and averages, by hand."""
    if record.matrix == "boxes":
        return ""
    if record.matrix == "exact":
        return "Sums and averages of these rows are exact for them, too."
    copies = " (of a pattern, the sum of its values)" if record.transactions else ""
    return (
        f"For a sum of x multiply what each tuple counts by its x{copies}, and its variance by x². An average a is the sum divided by the count; its standard error is the "
        "root of the sum of (x - a)² times the variance of each tuple, divided by the count."
    )


def _anatomy(manifest: Manifest) -> str:
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


def _alpha_beta(manifest: Manifest, record: CountedRecord) -> str:
    return (
        f"A tuple of the table was published with probability alpha + beta, any other tuple of the declared domain (in the manifest) with beta, where alpha = "
        f"{record.alpha!r} and beta = {record.beta!r}. Of D tuples of the domain that match a condition let s be published; then (s - beta D) / alpha "
        "is an unbiased estimate of how many are in the table.\n\n" + _scumble(manifest, record)
    )


def _tables(record: CountedRecord) -> str:
    if record.tables is None:
        return ""
    how = (
        "was given by the publisher"
        if record.schema_from == "given"
        else "was computed from noisy counts, under a part of epsilon"
    )
    lines = [f"| {plain(t.name)} | {t.rows:,} | {_shown(t.attributes)} |" for t in record.tables]
    copies = (
        f" Users are numbered anew in each table; those with the same {code(record.transactions['pattern'])} are copies of one tuple."
        if record.transactions
        else ""
    )
    return (
        f"The attributes were divided into columns of a schema, each published as a table of its own; the schema {how}. A tuple stayed in at most "
        f"{record.c_star} of them, chosen at random, and was left out where it has no value at all. Tables cannot be joined.{copies}\n\n"
        + "\n".join(["| table | rows | attributes |", "|---|---|---|", *lines])
    )


def _shown(attributes: list[object]) -> str:
    return ", ".join(map(plain, attributes[:20])) + (", ..." if len(attributes) > 20 else "")


def _counting(record: CountedRecord) -> str:
    if record.matrix == "boxes":
        return f"Each row is a box of values that holds at least {record.k} rows of the original table; boxes do not overlap, and counting rows counts exactly."
    if record.matrix == "exact":
        return f"Tuples that occur fewer than {record.k} times are missing; the others occur exactly as often as in the original table."
    rate = (record.epsilon or 0.0) / (1 if record.matrix == "full" else 2)
    r = math.exp(-rate)
    k = record.k or 0
    at, above = k - r / (1 - r), 2 * r / (1 - r) ** 2
    zero = (
        " (a tuple of the declared domain that is not in the table has X = 0, and counts too)"
        if record.matrix == "full"
        else ""
    )
    return (
        f"A tuple that occurs i times was published X = max({k}, i + Z) times, Z two-sided geometric with r = {r!r}, or not at all. So count tuple by tuple"
        f"{zero}: X where X > {k}, and {at!r} where X = {k}. The sum over the tuples that match is an unbiased estimate for the rows behind published "
        f"tuples; its variance is the sum of {above!r} where X > {k} and of {above / 2!r} where X = {k}."
        if record.matrix == "practical"
        else f"Every tuple of the declared domain was published X = max(0, i + Z) times, i its true count, Z two-sided geometric with r = {r!r}. So count "
        f"tuple by tuple{zero}: X where X > 0, and {at!r} where X = 0, with variances {above!r} and {above / 2!r}."
    )


def _missing(record: CountedRecord) -> str:
    if record.matrix in ("full", "boxes") or record.transactions:
        return ""
    if record.total is None:
        return "How many rows are missing is not known."
    known = f"The original table has {record.total:,} rows: what matches is at most {record.total:,} minus the published rows that do not match."
    ends = [f"{code(name)} from {_least(d)} to {_most(d)}" for name, d in (record.declared or {}).items()]
    return f"{known} Missing rows have {', '.join(ends)}." if ends else known


def _least(domain: DomainRecord) -> Any:
    return domain.low if domain.values is None else min(v for v in domain.values if v is not None)


def _most(domain: DomainRecord) -> Any:
    return domain.high if domain.values is None else max(v for v in domain.values if v is not None)


def _scumble(manifest: Manifest, record: CountedRecord) -> str:
    asked = record.transactions["item"] if record.transactions else manifest.columns[0].name
    name = named(asked)
    question = f"SELECT {name}, COUNT(*) AS n FROM release GROUP BY {name}"
    return or_scumble(question)
