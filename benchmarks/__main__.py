"""Figures as ratios of one run, against peers and against the limit: the machine is shared, so seconds alone mean little.

python -m benchmarks [NAME ...] [--write]        --write keeps the figures in benchmarks/RESULTS.md
"""

import sys

from benchmarks import counts, design, numbers, olap, operators, postgres, road, servers, sps
from benchmarks.measure import Figure, report

GROUPS = {
    "road": road.figures,
    "olap": olap.figures,
    "operators": operators.figures,
    "design": design.figures,
    "numbers": numbers.figures,
    "counts": counts.figures,
    "sps": sps.figures,
    "servers": servers.figures,
    "postgres": postgres.figures,
}


def main() -> None:
    names = [a for a in sys.argv[1:] if not a.startswith("--")] or list(GROUPS)
    figures: list[Figure] = []
    for name in names:
        for figure in GROUPS[name]():
            print(figure.line(), flush=True)
            figures.append(figure)
    if "--write" in sys.argv:
        report(figures)
    if any(figure.missed for figure in figures):
        sys.exit("a figure misses its limit")


main()
