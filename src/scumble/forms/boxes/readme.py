"""What the README of a release by perturbed generalization says: how to compute with boxes and perturbed values, by hand."""

from typing import TYPE_CHECKING

from scumble.forms.boxes.record import SIZE
from scumble.forms.by_hand import condition_on, counting, data_files, double, or_scumble, plain_place
from scumble.forms.markdown import block, code

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def place(manifest: "Manifest") -> str:
    """Where the rows are."""
    return f"{plain_place(manifest)}, in random order"


def howto(manifest: "Manifest") -> str:
    """Weights of the perturbed value, times the size of the group, times the part of the box that a condition covers."""
    column = next(c for c in manifest.columns if c.records)
    assert column.domain is not None
    domain = column.values
    p = column.records[0].kept[0]
    if p == 0:
        return f"Nothing of {code(column.name)} was published: its retention is 0. {_boxes()}"
    condition, share = condition_on(column.name, domain)
    low = -(1 - p) * share / p
    files = data_files(manifest)
    sql = (
        f"SELECT SUM({SIZE} * w) AS estimate, SQRT(SUM(q * w * w) - SUM(q * w) ** 2 / SUM(q)) AS standard_error\n"
        f"FROM (SELECT *, {SIZE} * {SIZE} AS q, CASE WHEN {condition} THEN {double(low + 1 / p)} ELSE {double(low)} END AS w\n"
        f"      FROM '{files}');"
    )
    return (
        f"Each row stands for the `{SIZE}` rows of a group, and has the perturbed {code(column.name)} of one of them. For a set S of values that is replaced into with "
        f"probability r (its share of the {domain.size:,} values), a row in S has the weight w = (1 - (1 - p) r) / p, any other one w = -(1 - p) r / p. The sum of {SIZE} * w is "
        f"an unbiased estimate of how many rows truly lie in S. In SQL (DuckDB, in this folder), for {code(condition)}:\n\n"
        f"{block(sql)}\n\n"
        f"{_boxes()} {or_scumble(counting(condition))}"
    )


def _boxes() -> str:
    """What a condition on a public column makes of a row."""
    return (
        f"For a condition on public columns multiply {SIZE} by the part of the row's box that it covers: of the values between the two ends of a range, and of the values of a "
        "set, each is taken as equally likely, and columns as independent within a box. That is an assumption, and no error that it makes is in the standard error."
    )
