"""Weights of rows that were drawn among those of a person: which rows have others behind them, and whether the weights are such as are drawn.

With c rows of each person drawn, of n, a row has the weight n/c for answers about rows (1 where n <= c), and 1/min(n, c) for answers about persons.
"""

from scumble.engines.engine import TABLE
from scumble.engines.expressions import column, count, select
from scumble.release.check import Check
from scumble.release.release import Release

NEAR = 1e-9
"""How far a double may be from the fraction that it is."""


def weight_checks(release: Release) -> list[Check]:
    """Each weight is one that is drawn, and as many rows have it as persons with so many rows leave."""
    manifest, name = release.manifest, release.manifest.role("weight")
    persons = manifest.persons
    if persons is None or persons.answers is None or name is None:
        return []
    lines = release.engine.run(select({"w": column(name), "n": count()}, TABLE, (), 1)).to_pylist()
    for line in lines:
        if (drawn := _drawn(line["w"], persons.most, persons.answers)) is None or line["n"] % drawn:
            detail = f"{line['n']:,} rows have the weight {line['w']}, which is none of at most {persons.most} rows of a person"
            return [Check("weights", False, detail)]
    return [Check("weights", True, f"{len(lines)} different weights, each of at most {persons.most} rows of a person")]


def _drawn(weight: float | None, most: int, answers: str) -> int | None:
    """How many rows of a person have such a weight; None where nobody's have.

    >>> _drawn(2.5, 2, "rows"), _drawn(1.0, 2, "rows"), _drawn(0.7, 2, "rows"), _drawn(0.5, 2, "persons"), _drawn(1 / 3, 2, "persons")
    (2, 1, None, 2, None)
    """
    if weight is None or not 0 < weight < 1e15:
        return None
    parts = 1 / weight if answers == "persons" else weight * most
    whole = round(parts)
    if abs(parts - whole) > NEAR * max(1, whole):
        return None
    if answers == "persons":
        return whole if 1 <= whole <= most else None
    return 1 if weight == 1 else most if whole > most else None
