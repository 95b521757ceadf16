"""A question with FILTER and statistics spelt out by counts and sums."""

from sqlglot import exp

from scumble.query.aggregates import AGGREGATES
from scumble.query.statistics import SCALES, SPANS, SPREADS, STATISTICS, Formula
from scumble.query.statistics.counting import filtered
from scumble.query.within import SPAN

SPREAD = "scumble spread"
"""What the meta of an expression says of the value whose deviation it is, of the power of that, and whether it is the sample's."""
SCALE = "scumble scale"
"""What the meta of an expression says of the scale on which its interval is even."""


def spell_out(select: exp.Select) -> None:
    """Replaces them in the SELECT list, in HAVING, QUALIFY and ORDER BY; a registered aggregate stays as it is."""
    for part in list(select.find_all(exp.Filter)):
        part.replace(filtered(part))
    for kind, formula in _used(select).items():
        for function in list(select.find_all(kind)):
            meant = exp.paren(formula(function))
            meant.meta[SCALE] = SCALES.get(kind, "plain")
            meant.meta[SPAN] = SPANS.get(kind)
            if kind in SPREADS:
                meant.meta[SPREAD] = (function.this.copy(), *SPREADS[kind])
            function.replace(meant if isinstance(function.parent, exp.Expression) else meant.this)
    _unwrapped(select)


def _used(select: exp.Select) -> dict[type[exp.Expression], Formula]:
    """The statistics to be spelt out; nearly all questions have none, and are walked through once."""
    kinds = {type(node) for node in select.walk()}
    if not any(issubclass(kind, tuple(STATISTICS)) for kind in kinds):
        return {}
    return {kind: formula for kind, formula in STATISTICS.items() if kind not in AGGREGATES}


def _unwrapped(select: exp.Select) -> None:
    """Brackets around a whole column of the answer are of no use, and would hide that it is an aggregate."""
    for column in list(select.expressions):
        inner = column.this if isinstance(column, exp.Alias) else column
        if isinstance(inner, exp.Paren):
            bare = inner.unnest()
            bare.meta.update(inner.meta)
            inner.replace(bare)
