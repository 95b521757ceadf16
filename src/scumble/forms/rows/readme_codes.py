"""How to compute by hand with a release whose perturbed column has codes: for its README."""

from typing import TYPE_CHECKING

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
    """The formula of the weights, and the statement that joins them for an example."""
    return (
        f"A code is no value, and counting codes counts nothing. Instead, give each code a weight. For a set S of values of {code(column.name)}, with h = 1 on the "
        "values of S, 0 on the others, and the share of S among all values on the numbers that stand for no value; with k offsets, K codes, "
        "lambda = k (k - 1) / (K - 1), and inside, outside and Z as above:\n\n"
        "    A    = k inside / Z,    Q = (lambda inside + (k - lambda) outside) / Z\n"
        "    w(y) = (sum over d in offsets of h((y - d) mod K)  -  Q times the sum of h over 0 to K - 1) / (A - Q)\n\n"
        "The sum of the weights w is an unbiased estimate of how many rows truly lie in S, and the square root of the sum of w*w - w is its standard error; "
        "the interval estimate +- 1.96 standard errors holds the truth in 95 of 100 publications. Conditions on columns that are published as they are go into WHERE; "
        "weights of several perturbed columns are multiplied; to sum a column v that is published as it is, use v*w and v*v*(w*w - w)."
        f"{_statement(manifest, column, domain, condition)} {or_scumble(counting(condition))}"
    )


def _statement(manifest: "Manifest", column: "ColumnRecord", domain: Domain, condition: str) -> str:
    channel = column.records[0].channel(domain.size)
    if channel.codes > MOST_CODES:
        return ""
    lines = [f"({y}, {double(w)})" for y, w in enumerate(channel.weights(inside_of(domain)))]
    listed = ",\n  ".join(", ".join(lines[at : at + A_LINE]) for at in range(0, len(lines), A_LINE))
    sql = (
        "SELECT SUM(w) AS estimate, SQRT(SUM(w * w - w)) AS standard_error\n"
        f"FROM '{data_files(manifest)}' r JOIN (VALUES\n  {listed}\n) t(y, w) ON r.{quoted(column.name)} = t.y;"
    )
    return f" In SQL (DuckDB, in this folder), with the weights for {code(condition)}:\n\n{block(sql)}\n\n"
