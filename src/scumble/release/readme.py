"""The README of a release: a stranger without scumble can work from it."""

from collections.abc import Sequence

from scumble.core.channel import Channel, replacement_of
from scumble.core.combined import SEPARATOR
from scumble.core.domain import Domain, Grid
from scumble.core.scale import Scale
from scumble.engines.sql import quoted
from scumble.forms import find_form
from scumble.forms.markdown import code, plain, sentence
from scumble.forms.records import FormRecord
from scumble.release.describe import GROUPED
from scumble.release.manifest import Manifest
from scumble.release.records import ChannelRecord, ColumnRecord
from scumble.spec.steps import words


def readme(manifest: Manifest) -> str:
    """What was published, what it promises, and how to compute with it by hand."""
    form, joint = find_form(manifest.form.kind), manifest.view.joint
    parts = [
        "# A table published with scumble",
        f"{manifest.rows:,} rows, in {form.place(manifest)}. `manifest.json` has everything below in full, for programs.",
        ""
        if manifest.randomness.secure
        else "**INSECURE: the coins were drawn from a seed, for tests. Whoever guesses it undoes the perturbation.**",
        "## Columns",
        "\n".join(
            [
                "| column | type | published |",
                "|---|---|---|",
                *[_line(column, manifest.form) for column in manifest.columns],
            ]
        ),
        *[_channel(column, joint) for column in manifest.columns if column.records],
        "## What is guaranteed",
        "\n".join(f"- {sentence(g.statement)}" for g in manifest.guarantees)
        or "Nothing: the retention is so high that no bound holds.",
        "Conditions:\n\n"
        + "\n".join(f"- {sentence(c)}" for c in dict.fromkeys(c for g in manifest.guarantees for c in g.conditions)),
        "Not covered:\n\n" + "\n".join(f"- {sentence(c)}" for c in manifest.not_covered),
        _dependence(manifest),
        "## How to compute with it",
        *[f"What you compute is for {rows}." for rows in manifest.answers_for],
        form.howto(manifest),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _line(column: ColumnRecord, form: FormRecord) -> str:
    if column.role in GROUPED:
        return f"| {plain(column.name)} | {column.type} | {GROUPED[column.role].format(of=plain(column.of))} |"
    coarser = f"coarsened: {plain(words(column.coarsened, column.type))}" if column.coarsened else None
    shown = {
        "counted": coarser or form.counted,
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
    return f"| {plain(column.name)} | {column.type} | {shown[column.role]}{merged} |"


def _channel(column: ColumnRecord, joint: Sequence[str]) -> str:
    domain = column.values
    rounded = (
        f" The table's own numbers were put on the nearest of these first, which moves them by up to {column.rounded} either way."
        if column.rounded
        else ""
    )
    head = f"## How {code(column.name)} was perturbed\n\nIt has {domain.size:,} possible values: {_values(domain)}.{rounded}{_parts(column)}\n\n"
    if column.records[0].coded is not None:
        return head + column.records[0].how
    if column.records[0].own:
        return head + (
            f"Each row's value was kept with probability p = {column.records[0].kept[0]!r}; the others were replaced by values of the same column, "
            "so that published and true counts of the column agree. Take the published frequencies of its values as the replacement distribution r."
        )
    if len(column.records) == 1:
        m = domain.size
        alone = (
            f"in one go with all of {', '.join(map(plain, joint))}: all kept, or all replaced"
            if joint
            else "independently of everything else"
        )
        drawn = (
            f"each with probability 1/{m}"
            if column.records[0].even
            else f"value number i (from 0, in this order) with probability `lots`[i] / {sum(column.records[0].lots or ()):,}, where `lots` are in the manifest"
        )
        return head + (
            f"Each row's value was kept with probability {_retention_words(replacement_of(column.records[0].channel(m)))}, and otherwise replaced by one of the {m:,} "
            f"values, {drawn}, {alone}. A published value may thus be the true one or not, and nobody "
            "can tell which."
        )
    return head + (
        "The rows were divided at random into sub-tables, each with some of the values. Each row's value was kept with the probability below, and "
        "otherwise replaced by one of the values of its sub-table, each alike.\n\n"
        + "\n".join(["| sub-table | kept with | values |", "|---|---|---|", *_subtables(column, domain)])
    )


def _parts(column: ColumnRecord) -> str:
    """What the values are combinations of, and how a part is read off them."""
    if not column.parts:
        return ""
    names = [code(part.name) for part in column.parts]
    return (
        f" Each is a combination of {', '.join(names[:-1])} and {names[-1]}, in this order, with {code(SEPARATOR)} between them. A set of values of {names[0]} is the set of all "
        f"combinations that have one of them: in SQL, {code(f'split_part({quoted(column.name)}, {SEPARATOR!r}, 1)')}. scumble takes the names of the parts as columns."
    )


def _subtables(column: ColumnRecord, domain: Domain) -> list[str]:
    listed = domain.values.to_pylist()
    lines = []
    for number, record in enumerate(column.records):
        assert isinstance(record, ChannelRecord)
        members = record.members if record.members is not None else range(domain.size)
        local = record.model_copy(update={"members": None}).channel(record.size)
        lines.append(f"| {number} | {_retention_words(local)} | {', '.join(plain(listed[i]) for i in members)} |")
    return lines


def _retention_words(channel: Channel) -> str:
    if channel.constant:
        return f"p = {channel.retain!r}"
    return f"p between {channel.retention.min():.6g} and {channel.retention.max():.6g}, one for each value (in the manifest)"


def _values(domain: Domain) -> str:
    if isinstance(domain, Grid | Scale):
        days = " day(s)" if isinstance(domain, Scale) and domain.days else ""
        missing = ", (missing)" if isinstance(domain, Scale) and domain.missing else ""
        return f"{domain.low}, {domain.low} + {domain.step}{days}, ..., {domain.high}{missing}"
    listed = ["(missing)" if v is None else plain(v) for v in domain.values.slice(0, 60).to_pylist()]
    return ", ".join(listed) + (", ..." if domain.size > 60 else "")


def _dependence(manifest: Manifest) -> str:
    if not manifest.depends_on_data:
        return "No parameter of this release was computed from the data."
    return "Computed from the data, and what that tells:\n\n" + "\n".join(
        f"- {sentence(line)}" for line in manifest.depends_on_data
    )
