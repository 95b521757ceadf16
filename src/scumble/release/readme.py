"""The README of a release: a stranger without scumble can work from it."""

from scumble.core.channel import Channel
from scumble.core.domain import Domain, Grid
from scumble.forms.boxes.readme import generalized_howto
from scumble.forms.rows.readme_values import (
    asking,
    condition_on,
    counting,
    data_files,
    double,
    or_scumble,
    valued_howto,
)
from scumble.forms.tuples.readme import counted_howto, counted_place
from scumble.release.describe import GROUPED
from scumble.release.manifest import Manifest
from scumble.release.markdown import block, code, plain, sentence
from scumble.release.records import ColumnRecord
from scumble.spec.steps import words


def readme(manifest: Manifest) -> str:
    """What was published, what it promises, and how to compute with it by hand."""
    parts = [
        "# A table published with scumble",
        f"{manifest.rows:,} rows, in {_place(manifest)}. `manifest.json` has everything below in full, for programs.",
        ""
        if manifest.randomness.secure
        else "**INSECURE: the coins were drawn from a seed, for tests. Whoever guesses it undoes the perturbation.**",
        "## Columns",
        "\n".join(["| column | type | published |", "|---|---|---|", *[_line(column) for column in manifest.columns]]),
        *[_channel(column, manifest.joint) for column in manifest.columns if column.records],
        "## What is guaranteed",
        "\n".join(f"- {sentence(g.statement)}" for g in manifest.guarantees)
        or "Nothing: the retention is so high that no bound holds.",
        "Conditions:\n\n"
        + "\n".join(f"- {sentence(c)}" for c in dict.fromkeys(c for g in manifest.guarantees for c in g.conditions)),
        "Not covered:\n\n" + "\n".join(f"- {sentence(c)}" for c in manifest.not_covered),
        _dependence(manifest),
        "## How to compute with it",
        _howto(manifest),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _place(manifest: Manifest) -> str:
    if manifest.counted is not None and manifest.counted.matrix != "generalized":
        return counted_place(manifest)
    files = "`data.parquet`" if len(manifest.data) == 1 else f"`data/*.parquet` ({len(manifest.data)} files)"
    return f"{files}, in random order"


def _line(column: ColumnRecord) -> str:
    if column.role in GROUPED:
        return f"| {plain(column.name)} | {column.type} | {GROUPED[column.role].format(of=plain(column.of))} |"
    coarser = f"coarsened: {plain(words(column.coarsened, column.type))}" if column.coarsened else None
    told = {
        "counted": coarser or "as it is, in tuples that occur often",
        "sensitive": "perturbed, see below",
        "stratum": "the number of the row's sub-table, see below",
        "weight": "how many rows of the original table this one stands for",
        "copies": "how many copies of this very row are in the table",
        "tuple": "in tuples of the table, and in some that were made up",
        "bucket": "the number of the row's bucket",
        "apart": "as it is, in a table of its own, by bucket",
        "count": "how often the value is in the bucket",
        "public": coarser or "as it is",
    }
    merged = f", {len(column.merged)} values for {sum(len(m.values) for m in column.merged)}" if column.merged else ""
    return f"| {plain(column.name)} | {column.type} | {told[column.role]}{merged} |"


def _channel(column: ColumnRecord, joint: list[str] | None) -> str:
    assert column.domain is not None
    domain = column.domain.domain(column.type)
    head = f"## How {code(column.name)} was perturbed\n\nIt has {domain.size:,} possible values: {_values(domain)}.\n\n"
    if column.records[0].replace == "published":
        return head + (
            f"Each row's value was kept with probability p = {column.records[0].retain!r}; the others were replaced by values of the same column, "
            "so that published and true counts of the column agree. Take the published frequencies of its values as the replacement distribution r."
        )
    if len(column.records) == 1:
        m = domain.size
        alone = (
            f"in one go with all of {', '.join(map(plain, joint))}: all kept, or all replaced"
            if joint
            else "independently of everything else"
        )
        return head + (
            f"Each row's value was kept with probability {_retention_words(column.records[0].channel(m))}, and otherwise replaced by one of the {m:,} "
            f"values, each with probability 1/{m}, {alone}. A published value may thus be the true one or not, and nobody "
            "can tell which."
        )
    return head + (
        "The rows were divided at random into sub-tables, each with some of the values. Each row's value was kept with the probability below, and "
        "otherwise replaced by one of the values of its sub-table, each alike.\n\n"
        + "\n".join(["| sub-table | kept with | values |", "|---|---|---|", *_subtables(column, domain)])
    )


def _subtables(column: ColumnRecord, domain: Domain) -> list[str]:
    listed = domain.values.to_pylist()
    lines = []
    for number, record in enumerate(column.records):
        members = record.members if record.members is not None else range(domain.size)
        local = record.model_copy(update={"members": None}).channel(record.size)
        lines.append(f"| {number} | {_retention_words(local)} | {', '.join(plain(listed[i]) for i in members)} |")
    return lines


def _retention_words(channel: Channel) -> str:
    if channel.constant:
        return f"p = {channel.retain!r}"
    return f"p between {channel.retention.min():.6g} and {channel.retention.max():.6g}, one for each value (in the manifest)"


def _values(domain: Domain) -> str:
    if isinstance(domain, Grid):
        return f"{domain.low}, {domain.low} + {domain.step}, ..., {domain.high}"
    listed = ["(missing)" if v is None else plain(v) for v in domain.values.slice(0, 60).to_pylist()]
    return ", ".join(listed) + (", ..." if domain.size > 60 else "")


def _dependence(manifest: Manifest) -> str:
    if not manifest.depends_on_data:
        return "No parameter of this release was computed from the data."
    return "Computed from the data, and what that tells:\n\n" + "\n".join(
        f"- {sentence(line)}" for line in manifest.depends_on_data
    )


def _howto(manifest: Manifest) -> str:
    if manifest.counted is not None and manifest.counted.matrix == "generalized":
        return generalized_howto(manifest)
    if manifest.counted is not None:
        return counted_howto(manifest)
    column = next(c for c in manifest.columns if c.records)
    assert column.domain is not None
    domain = column.domain.domain(column.type)
    channel = column.records[0].channel(domain.size)
    even = len(column.records) == 1 and column.records[0].even
    condition, share = condition_on(column.name, domain)
    valued = not even or not channel.constant
    if valued and column.records[0].even and len(manifest.sensitive) == 1 and not manifest.sampling:
        return valued_howto(manifest, column, domain, condition)
    if valued or channel.retain == 0:
        return f"Weights differ by value; `pip install scumble` and\n\n{asking(counting(condition))}"
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
        f"{_sampled(manifest)}"
        "The interval estimate +- 1.96 standard errors holds the truth in 95 of 100 publications. For conditions on several perturbed columns "
        f"{'take for r the product of their r, and for S the rows that satisfy them all' if manifest.joint else 'multiply their weights'}; to sum a column v that is published as it is, use v*w and v*v*(w*w - w). {or_scumble(counting(condition))}"
    )


def _sums(manifest: Manifest) -> str:
    if manifest.role("weight"):
        return "SELECT SUM(weight * w) AS estimate, SQRT(SUM(weight * weight * (w * w - w)))"
    if manifest.role("copies"):
        return "SELECT SUM(w) AS estimate, SQRT(SUM(copies * (w * w - w)))"
    return "SELECT SUM(w) AS estimate, SQRT(SUM(w * w - w))"


def _sampled(manifest: Manifest) -> str:
    if manifest.sampling is None:
        return ""
    told = (
        "`weight` of the original table" if manifest.role("weight") else "of its `copies`, and the copies are one draw"
    )
    return (
        f"Of large groups a sample of about {manifest.sampling.least} rows or more was taken; each published row stands for {told}. "
        "Sampling adds a little to the standard error (scumble counts it).\n\n"
    )
