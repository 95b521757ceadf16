"""What each channel costs, by formula: no table is published, and no time is measured.

python -m benchmarks.channels [--figure]        --figure draws docs/images/least_error.svg
"""

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from scumble import Channel, Design
from scumble.core.channel_base import BaseChannel, Vector
from scumble.mechanisms import partition, shape

CENSUS = Path(__file__).parents[2] / "shared" / "data" / "census_occ.parquet"
SIZES, GAMMAS = (14, 46, 100, 973, 5000), (2, 5, 9)
CLASSES = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 1.0)
RHO = "1/6"


def subset_selection(size: int, gamma: float) -> float:
    """The standard error of the count of a value that nobody has, for each root of rows, at the best number of values in a set.

    A set of k values holds the true one with probability A = k gamma / (k gamma + m - k), and any other value with Q = (k - A) / (m - 1).
    """
    k = np.arange(1, size)
    held = k * gamma / (k * gamma + size - k)
    others = (k - held) / (size - 1)
    return float(np.sqrt(others * (1 - others) / (held - others) ** 2).min())


def least_errors(sizes: Sequence[int] = SIZES) -> list[tuple[int, float, float, float, float]]:
    """Size, gamma, and the error of uniform replacement, of the design and of subset selection."""
    lines = []
    for size in sizes:
        for gamma in GAMMAS:
            own = np.eye(1, size)[0]
            ours = [math.sqrt(c.variance(own)[-1]) for c in (Channel.from_gamma(size, gamma), Design(size, gamma))]
            lines.append((size, gamma, *ours, subset_selection(size, gamma)))
    return lines


def errors(channel: BaseChannel, counts: Vector, asked: Vector) -> Vector:
    """The standard error of each question, a column of `asked`."""
    return np.asarray(np.sqrt(counts @ channel.variance(asked)))


def of_parts(parts: Any, asked: Vector) -> Vector:
    """The same of sub-tables."""
    squares = np.zeros(asked.shape[1])
    for row, own, channel in zip(parts.subtables, parts.values, parts.channels, strict=True):
        squares += row[own] @ channel.variance(asked[own])
    return np.sqrt(squares)


def occupations() -> None:
    """46 occupations: shaped and design against partitioned and uniform, the classes, and the values that lose."""
    values, n = np.unique(pq.read_table(CENSUS, columns=["occupation"]).column(0).to_numpy(), return_counts=True)
    share, each, top = n / n.sum(), np.eye(len(n)), n.max() / n.sum()
    uniform, parts = Channel.from_rho(len(n), top, RHO), partition(n, top, RHO)
    base, theirs = errors(uniform, n, each), of_parts(parts, each)
    channels: dict[str, tuple[Vector, float]] = {
        "uniform": (base, uniform.amplification),
        "design, the same gamma": (errors(Design(len(n), uniform.amplification), n, each), uniform.amplification),
        "partitioned": (theirs, math.inf),
    }
    channels |= {f"shaped, gamma = {g}": (errors(shape(n, RHO, g), n, each), g) for g in (5, 10, 20, 60)}
    print(f"\n{len(n)} occupations, {n.sum():,} rows, rho2 = {RHO}: standard errors of counts")
    print(
        f"{'channel':24} {'rms/uniform':>12} {'median/uniform':>15} {'median/partitioned':>19} {'factor':>8}  loses to partitioned"
    )
    for name, (found, factor) in channels.items():
        rms = math.sqrt(np.average(found**2, weights=n) / np.average(base**2, weights=n))
        worse = [
            f"{v} ({r:.2f})" for v, r in zip(values, found / theirs, strict=True) if r > 1 and name.startswith("shaped")
        ]
        lost = ", ".join(worse[:12]) + (f" and {len(worse) - 12} more" if len(worse) > 12 else "")
        print(
            f"{name:24} {rms:12.3f} {np.median(found / base):15.3f} {np.median(found / theirs):19.3f} {factor:8.4g}  {lost}"
        )
    ratio = channels["shaped, gamma = 20"][0] / theirs
    for low, high in pairwise(CLASSES):
        some = (share >= low) & (share < high)
        print(
            f"values of {low:.1%} to {high:.1%} of the rows, {some.sum():2}: median shaped (gamma = 20) / partitioned {np.median(ratio[some]):.3f}"
        )


def pairs() -> None:
    """Pairs of occupation and industry as one: the mean standard error of an occupation's count."""
    table = pq.read_table(CENSUS, columns=["occupation", "industry"])
    codes = table.column(0).to_numpy().astype(np.int64) * 1000 + table.column(1).to_numpy()
    found, n = np.unique(codes, return_counts=True)
    asked = (found[:, np.newaxis] // 1000 == np.unique(found // 1000)).astype(np.float64)
    print(f"\n{len(n):,} pairs of occupation and industry, rho2 = {RHO}: mean standard error of an occupation's count")
    print(
        f"partitioned           {of_parts(partition(n, n.max() / n.sum(), RHO), asked).mean():8.0f}   no factor for other beliefs"
    )
    for gamma in (None, 100, 20):
        factor = f"factor {gamma}" if gamma else "no factor for other beliefs"
        print(f"shaped                {errors(shape(n, RHO, gamma), n, asked).mean():8.0f}   {factor}")


def main() -> None:
    print(
        f"{'values':>6} {'gamma':>6} {'uniform':>8} {'design':>8} {'subsets':>8} {'uniform/design':>15} {'design/subsets':>15}"
    )
    for size, gamma, one, two, least in least_errors():
        print(f"{size:6,} {gamma:6g} {one:8.3f} {two:8.3f} {least:8.3f} {one / two:15.2f} {two / least:15.3f}")
    if CENSUS.exists():
        occupations()
        pairs()
    if "--figure" in sys.argv:
        from benchmarks.least_error_figure import draw

        draw(least_errors((14, 20, 30, 46, 70, 100, 200, 400, 973, 2000, 5000)))


if __name__ == "__main__":
    main()
