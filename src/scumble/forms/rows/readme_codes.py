"""How to compute by hand with a release whose perturbed column has codes: for its README."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scumble.core.arrow_types import is_number
from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.domain import Domain
from scumble.engines.sql import quoted
from scumble.forms.by_hand import counting, data_files, double, or_scumble
from scumble.forms.markdown import block, code
from scumble.forms.rows.readme_values import inside_of

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest
    from scumble.release.records import ColumnRecord

MOST_CODES = 1200
"""Weights that a README lists; beyond, the formula has to do."""
A_LINE = 6


def coded_howto(manifest: "Manifest", column: "ColumnRecord", domain: Domain, condition: str) -> str:
    """The formula of the weights, and the statements that join them for examples."""
    channel = column.records[0].channel(domain.size)
    return (
        f"A code is no value, and counting codes counts nothing. Instead, give each code of {code(column.name)} a weight. {column.records[0].weighing}"
        "The sum of the weights w is an unbiased estimate of the sum of h over all rows: of how many rows truly lie in a set, or of their numbers. The square root of the sum of "
        "w*w - w2 is its standard error, with w2 the weights of h*h, which are w again for a set; "
        "the interval estimate +- 1.96 standard errors holds the truth in 95 of 100 publications. Conditions on columns that are published as they are go into WHERE; "
        "weights of several perturbed columns are multiplied; to sum a column v that is published as it is, use v*w and v*v*(w*w - w)."
        f"{_counting(manifest, column, channel, domain, condition)}{_summing(manifest, column, channel, domain)} {or_scumble(counting(condition))}"
    )


def _counting(
    manifest: "Manifest", column: "ColumnRecord", channel: BaseChannel, domain: Domain, condition: str
) -> str:
    if channel.codes > MOST_CODES:
        return ""
    sql = _joined(manifest, column, "SQRT(SUM(w * w - w))", [channel.weights(inside_of(domain))])
    return f" In SQL (DuckDB, in this folder), with the weights for {code(condition)}:\n\n{block(sql)}\n\n"


def _summing(manifest: "Manifest", column: "ColumnRecord", channel: BaseChannel, domain: Domain) -> str:
    """The same for the sum of a column of numbers."""
    if channel.codes > MOST_CODES or not is_number(domain.type) or channel.alike:
        return ""
    numbers = np.nan_to_num(domain.numbers)
    sql = _joined(
        manifest, column, "SQRT(SUM(w * w - w2))", list(channel.weights(np.stack([numbers, numbers**2], 1)).T)
    )
    return f"With the weights for {code(f'SUM({column.name})')}; an average is this sum over the number of rows:\n\n{block(sql)}\n\n"


def _joined(manifest: "Manifest", column: "ColumnRecord", error: str, weights: Sequence[Vector]) -> str:
    rows = [f"({y}, {', '.join(double(w) for w in line)})" for y, line in enumerate(zip(*weights, strict=True))]
    listed = ",\n  ".join(", ".join(rows[at : at + A_LINE]) for at in range(0, len(rows), A_LINE))
    names = ", ".join(["y", "w", "w2"][: 1 + len(weights)])
    return (
        f"SELECT SUM(w) AS estimate, {error} AS standard_error\n"
        f"FROM '{data_files(manifest)}' r JOIN (VALUES\n  {listed}\n) t({names}) ON r.{quoted(column.name)} = t.y;"
    )
