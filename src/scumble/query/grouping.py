"""GROUP BY, with CUBE, ROLLUP and GROUPING SETS: what is grouped by, and which of it together."""

from collections.abc import Sequence
from itertools import combinations, product

from sqlglot import exp

from scumble.core.errors import QueryError

Sets = tuple[frozenset[int], ...]
"""Of several groupings the places of the expressions of each."""

MOST_SETS = 64
"""Groupings of one question, at most."""


def grouped(select: exp.Select) -> tuple[list[exp.Expression], Sets | None]:
    """The expressions that are grouped by, each once, and the groupings where there are several."""
    group = select.args.get("group")
    if group is None:
        return [], None
    if group.args.get("all"):
        return [e for e in select.expressions if not e.find(exp.AggFunc)], None
    if not group.expressions or any(isinstance(e, exp.Tuple) and not e.expressions for e in group.expressions):
        raise QueryError("GROUP BY names no column; say by what, or leave it out")
    if not group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
        return list(group.expressions), None
    parts = [_sets(e) for e in group.expressions]
    sets = [[e for part in chosen for e in part] for chosen in product(*parts)]
    if len(sets) > MOST_SETS:
        raise QueryError(f"GROUP BY has {len(sets)} groupings, and {MOST_SETS} are the most; ask for fewer at once")
    every = list(dict.fromkeys(e for part in sets for e in part))
    return every, tuple(frozenset(every.index(e) for e in part) for part in sets)


def _sets(e: exp.Expression) -> list[list[exp.Expression]]:
    """The groupings that one part of GROUP BY stands for."""
    if isinstance(e, exp.Rollup):
        listed = [_columns(part) for part in e.expressions]
        return [_joined(listed[:count]) for count in range(len(listed), -1, -1)]
    if isinstance(e, exp.Cube):
        listed = [_columns(part) for part in e.expressions]
        return [_joined(some) for count in range(len(listed), -1, -1) for some in combinations(listed, count)]
    if isinstance(e, exp.GroupingSets):
        return [grouping for part in e.expressions for grouping in _sets(part)]
    return [_columns(e)]


def _columns(e: exp.Expression) -> list[exp.Expression]:
    """A column, or several in brackets."""
    return list(e.expressions) if isinstance(e, exp.Tuple) else [e.unnest()]


def _joined(parts: Sequence[list[exp.Expression]]) -> list[exp.Expression]:
    return [e for part in parts for e in part]
