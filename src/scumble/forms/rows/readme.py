"""What the README of published rows says: how to compute with them, by hand."""

from typing import TYPE_CHECKING

from sqlglot import exp

from scumble.core.channel import replacement_of
from scumble.forms.by_hand import SOFTWARE, asking, condition_on, counting, data_files, double, or_scumble, plain_place
from scumble.forms.markdown import block, code
from scumble.forms.rows.readme_codes import coded_howto
from scumble.forms.rows.readme_values import valued_howto
from scumble.forms.rows.record import RowsRecord

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def place(manifest: "Manifest") -> str:
    """Where the rows are."""
    return f"{plain_place(manifest)}, in random order"


def howto(manifest: "Manifest") -> str:
    """Weights of rows, and the statement that sums them."""
    record = manifest.form
    assert isinstance(record, RowsRecord)
    column = next(c for c in manifest.columns if c.records)
    domain = column.values
    if column.records[0].coded is not None:
        return coded_howto(manifest, column, domain, condition_on(column.name, domain)[0])
    channel = replacement_of(column.records[0].channel(domain.size))
    even = len(column.records) == 1 and column.records[0].even
    condition, share = condition_on(column.name, domain)
    valued = not even or not channel.constant
    if valued and not column.records[0].own and len(manifest.sensitive) == 1 and not record.sampling:
        return valued_howto(manifest, column, domain, condition)
    if valued or channel.retain == 0:
        return f"Weights differ by value; let {SOFTWARE} compute them, in this folder:\n\n{asking(counting(condition))}"
    p = channel.retain
    low = -(1 - p) * share / p
    files = data_files(manifest)
    sql = (
        f"{_sums(manifest)} AS standard_error\n"
        f"FROM (SELECT *, CASE WHEN {condition} THEN {double(low + 1 / p)} ELSE {double(low)} END AS w\n"
        f"      FROM '{files}');"
    )
    return (
        f"Counting published values is biased toward the replacements. Instead, give each row a weight: for a set S of values of {code(column.name)} that is "
        f"replaced into with probability r (its share of the {channel.size:,} values), a row in S counts (1 - (1 - p) r) / p, any other row "
        "-(1 - p) r / p. The sum of the weights w is an unbiased estimate of how many rows truly lie in S, and the square root of the sum of w*w - w is "
        "its standard error. Conditions on columns that are published as they are go into WHERE. In SQL (DuckDB, in this folder), for "
        f"{code(condition)}:\n\n"
        f"{block(sql)}\n\n"
        f"{_sampled(manifest, record)}"
        "The interval estimate +- 1.96 standard errors holds the truth in 95 of 100 publications. For conditions on several perturbed columns "
        f"{'take for r the product of their r, and for S the rows that satisfy them all' if record.joint else 'multiply their weights'}; to sum a column v that is published as it is, use v*w and v*v*(w*w - w). {or_scumble(counting(condition))}"
    )


def _sums(manifest: "Manifest") -> str:
    drawn = manifest.persons.drawn(exp.column("weight")) if manifest.persons is not None else None
    if drawn is not None:
        return f"SELECT SUM(weight * w) AS estimate, SQRT(SUM(weight * weight * (w * w - CASE WHEN {drawn.sql()} THEN 0 ELSE w END)))"
    if manifest.role("weight"):
        return "SELECT SUM(weight * w) AS estimate, SQRT(SUM(weight * weight * (w * w - w)))"
    if manifest.role("copies"):
        return "SELECT SUM(w) AS estimate, SQRT(SUM(copies * (w * w - w)))"
    return "SELECT SUM(w) AS estimate, SQRT(SUM(w * w - w))"


def _sampled(manifest: "Manifest", record: RowsRecord) -> str:
    if record.sampling is None:
        return ""
    sentence = (
        "`weight` of the original table" if manifest.role("weight") else "of its `copies`, and the copies are one draw"
    )
    return (
        f"Of large groups a sample of about {record.sampling.least} rows or more was taken; each published row stands for {sentence}. "
        "Sampling adds a little to the standard error (scumble counts it).\n\n"
    )
