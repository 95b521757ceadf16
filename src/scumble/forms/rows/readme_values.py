"""How to compute by hand with a release whose weights differ by sub-table or by value: for its README."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.channel import replacement_of
from scumble.core.domain import Domain
from scumble.core.errors import NotEstimable
from scumble.core.scale import points_of
from scumble.engines.sql import quoted
from scumble.forms.by_hand import counting, data_files, double, or_scumble
from scumble.forms.markdown import block, code

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest
    from scumble.release.records import ColumnRecord

SOFTWARE = (
    "scumble (the software that `manifest.json` names, with its version; who gave you this release knows where it is)"
)
"""What a stranger is told of it: no address, because a name in an index of packages may be somebody else's one day."""

MOST_LINES = 600
"""Weights that a README lists; beyond, the formula has to do."""


def valued_howto(manifest: "Manifest", column: "ColumnRecord", domain: Domain, condition: str) -> str:
    """The formula of the weights, and the statement that uses them for an example."""
    stratum = manifest.role("stratum")
    within = "of its sub-table" if stratum else "of the domain"
    even = column.records[0].even
    drawn, part = ("", "1/p_i") if even else (", r_i the one that it is drawn as a replacement", "r_i/p_i")
    return (
        f"Counting published values is biased toward the replacements. Instead, give each row a weight. For a set S of values of {code(column.name)}, with p_i the "
        f"probability that value i {'of a sub-table ' if stratum else ''}is kept (in the manifest){drawn}, and sums over the values {within}:\n\n"
        f"    c   = (sum over i in S of {part}) / (sum over all i of {part})\n"
        "    w_i = (1 - (1 - p_i) c) / p_i  for a published value i in S,  -(1 - p_i) c / p_i  for any other\n\n"
        "The sum of the weights w is an unbiased estimate of how many rows truly lie in S, and the square root of the sum of w*w - w is its standard error; "
        "the interval estimate +- 1.96 standard errors holds the truth in 95 of 100 publications. Conditions on columns that are published as they are go into WHERE."
        f"{_statement(manifest, column, domain, condition)} {or_scumble(counting(condition))}"
    )


def _statement(manifest: "Manifest", column: "ColumnRecord", domain: Domain, condition: str) -> str:
    lines = _lines(column, domain)
    if not lines:
        return ""
    files = data_files(manifest)
    stratum = manifest.role("stratum")
    name = quoted(column.name)
    same = f"r.{name} IS NOT DISTINCT FROM t.v" + (f" AND r.{quoted(stratum)} = t.k" if stratum else "")
    listed = ",\n  ".join(lines)
    sql = (
        "SELECT SUM(w) AS estimate, SQRT(SUM(w * w - w)) AS standard_error\n"
        f"FROM '{files}' r JOIN (VALUES\n  {listed}\n) t(k, v, w) ON {same};"
    )
    return f" In SQL (DuckDB, in this folder), for {code(condition)}:\n\n{block(sql)}\n\n"


def _lines(column: "ColumnRecord", domain: Domain) -> list[str]:
    """(sub-table, value, weight) for every value that can be published; none where that would be too many, or impossible."""
    plain = pa.types.is_string(domain.type) or pa.types.is_integer(domain.type) or pa.types.is_boolean(domain.type)
    if not plain or domain.size * len(column.records) > MOST_LINES:
        return []
    values, inside = domain.values.to_pylist(), inside_of(domain)
    lines = []
    for number, record in enumerate(column.records):
        channel = replacement_of(record.channel(domain.size))
        try:
            weights = channel.weights(inside)
        except NotEstimable:
            return []
        shown = np.flatnonzero(channel.replace)
        lines += [f"({number}, {_literal(values[i])}, {double(weights[i])})" for i in shown]
    return lines


def inside_of(domain: Domain) -> npt.NDArray[np.float64]:
    """Which values the example's condition holds for: the lower half of a grid, or the first value."""
    if (found := points_of(domain)) is not None:
        return np.asarray(np.arange(domain.size) < found[0] // 2, dtype=np.float64)
    first = next(i for i, value in enumerate(domain.values.to_pylist()) if value is not None)
    return np.asarray(np.eye(1, domain.size, first)[0])


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool | int) else "'" + str(value).replace("'", "''") + "'"
