"""What the README of a release of counted tuples says: how to compute with it, by hand."""

import math
from typing import TYPE_CHECKING, Any

from scumble.forms.by_hand import by_group, or_scumble
from scumble.forms.markdown import code, plain
from scumble.forms.records import DomainRecord
from scumble.forms.tuples.record import Exact, Full, Marginals, Midpoints, Practical, SchemaRecord, TuplesRecord
from scumble.mechanisms.kept_columns import KeptColumn

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def place(manifest: "Manifest") -> str:
    """Where the rows are."""
    tables = manifest.form.tables
    if tables:
        return f"{len(tables)} tables (`{tables[0].name}` and so on), each sorted by value"
    return "`data/*.parquet`, sorted by value" if len(manifest.data) > 1 else "`data.parquet`, sorted by value"


def howto(manifest: "Manifest") -> str:
    """Counting, with the correction at k and the bound for what is missing."""
    record = manifest.form
    assert isinstance(record, TuplesRecord)
    if isinstance(record.counting, Marginals):
        parts = [_marginals(record, record.counting), _summing(record), or_scumble(by_group(manifest.columns[0].name))]
        return "\n\n".join(parts)
    tables = "" if record.schema_ is None else _tables(record.schema_)
    asked = record.transactions["item"] if record.transactions else manifest.columns[0].name
    capped = "" if record.schema_ is None else _capped(record.schema_)
    parts = [tables, _counting(record), capped, _summing(record), _missing(record), or_scumble(by_group(asked))]
    return "\n\n".join(part for part in parts if part)


def _summing(record: TuplesRecord) -> str:
    """Sums and averages, by hand."""
    if isinstance(record.counting, Midpoints):
        return ""
    if isinstance(record.counting, Exact):
        return "Sums and averages of these rows are exact for them, too."
    copies = " (of a pattern, the sum of its values)" if record.transactions else ""
    return (
        f"For a sum of x multiply what each tuple counts by its x{copies}, and its variance by x². An average a is the sum divided by the count; its standard error is the "
        "root of the sum of (x - a)² times the variance of each tuple, divided by the count."
    )


def _tables(record: SchemaRecord) -> str:
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


def _marginals(record: TuplesRecord, counting: Marginals) -> str:
    """Each table, with the noise of its counts."""
    lines = []
    for table, epsilon in zip(record.tables, counting.epsilons, strict=True):
        r, rest = math.exp(-epsilon), -math.expm1(-epsilon)
        numbers = f"{epsilon!r} | {r!r} | {-r / rest!r} | {2 * r / rest**2!r} | {r / rest**2!r}"
        lines.append(f"| {plain(table.name)} | {_shown(table.attributes)} | {numbers} |")
    return (
        "Each table is a marginal: the rows of the original table were counted by some of the columns, and every combination of their declared values was published X = max(0, i + Z) "
        "times, i its true count, Z two-sided geometric with the r of the table. So count combination by combination: X where X > 0, and the table's number for X = 0 (a combination that "
        "is not in the table has X = 0, and counts too). The variance of a sum is the sum of the variances.\n\n"
        + "\n".join(
            [
                "| table | columns | epsilon | r | counts for X = 0 | variance where X > 0 | where X = 0 |",
                "|---|---|---|---|---|---|---|",
                *lines,
            ]
        )
        + "\n\nWhere several tables have the columns of a question, each gives an estimate of its own; weight them by the inverse of their variances."
    )


def _capped(record: SchemaRecord) -> str:
    """What a cap on tables took away, and how to put it right by hand."""
    if not record.capped:
        return ""
    if record.kept is None:
        return "How many tuples were taken out of a table by this cap was not published: what you count is a lower count, and has no upper end."
    size, kept = len(record.tables), record.kept
    columns = [KeptColumn.of(counts, record.c_star, size, kept.epsilon) for counts in kept.counts]
    factors = [f"{plain(t.name)}: {c.factor:.6g}" for t, c in zip(record.tables, columns, strict=True) if c is not None]
    return (
        "How many tables the tuples of each table had values in was counted with noise (`kept` in the manifest). So multiply what you count in a table by its factor "
        f"({'; '.join(factors)}). That is right where the tuples that match have values in as many tables as others do."
    )


def _shown(attributes: list[object]) -> str:
    return ", ".join(map(plain, attributes[:20])) + (", ..." if len(attributes) > 20 else "")


def _counting(record: TuplesRecord) -> str:
    counting = record.counting
    if isinstance(counting, Midpoints):
        return f"Each row is a box of values that holds at least {counting.k} rows of the original table; boxes do not overlap, and counting rows counts exactly."
    if isinstance(counting, Exact):
        return f"Tuples that occur fewer than {counting.k} times are missing; the others occur exactly as often as in the original table."
    assert not isinstance(counting, Marginals), "marginals have words of their own"
    return _noisy(counting)


def _noisy(counting: Practical | Full) -> str:
    k = counting.k if isinstance(counting, Practical) else 0
    r = math.exp(-counting.epsilon / (2 if isinstance(counting, Practical) else 1))
    at, above = k - r / (1 - r), 2 * r / (1 - r) ** 2
    if isinstance(counting, Practical):
        return (
            f"A tuple that occurs i times was published X = max({k}, i + Z) times, Z two-sided geometric with r = {r!r}, or not at all. So count tuple by tuple"
            f": X where X > {k}, and {at!r} where X = {k}. The sum over the tuples that match is an unbiased estimate for the rows behind published "
            f"tuples; its variance is the sum of {above!r} where X > {k} and of {above / 2!r} where X = {k}."
        )
    return (
        f"Every tuple of the declared domain was published X = max(0, i + Z) times, i its true count, Z two-sided geometric with r = {r!r}. So count "
        "tuple by tuple (a tuple of the declared domain that is not in the table has X = 0, and counts too): "
        f"X where X > 0, and {at!r} where X = 0, with variances {above!r} and {above / 2!r}."
    )


def _missing(record: TuplesRecord) -> str:
    if isinstance(record.counting, Full | Midpoints) or record.transactions:
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
