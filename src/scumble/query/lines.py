"""HAVING and QUALIFY: which lines of an answer are shown, by their estimates; or may be, where estimates are some standard errors off.

A number lies within two ends, and a condition may be true, may be false, or both. What is missing is neither, as in SQL.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.query.derive import Made
from scumble.query.figures import Reading
from scumble.query.joined import together
from scumble.query.model import written

Values = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]
Truth = tuple[Flags, Flags]
"""Where a condition may be true, and where it may be false."""
Compared = Callable[[Values, Values], Any]

ORDERED: Mapping[type[exp.Expression], tuple[bool, Compared, Compared]] = {
    exp.GT: (False, np.greater, np.less_equal),
    exp.GTE: (False, np.greater_equal, np.less),
    exp.LT: (True, np.greater, np.less_equal),
    exp.LTE: (True, np.greater_equal, np.less),
}
"""Whether the sides are turned, how the upper end of the first compares with the lower end of the second where it may hold, and where it may not."""


@dataclass(frozen=True)
class Condition:
    """Conditions on the lines of an answer, whose estimates are up to so many standard errors off."""

    made: Made
    reach: float = 0.0

    def may_hold(self, e: exp.Expression) -> Flags:
        """The lines for which a condition may be true."""
        return self._truth(e)[0]

    def holds_surely(self, e: exp.Expression) -> Flags:
        """The lines for which it is."""
        true, false = self._truth(e)
        return true & ~false

    def _truth(self, e: exp.Expression) -> Truth:
        if isinstance(e, exp.Paren):
            return self._truth(e.this)
        if isinstance(e, exp.Not):
            true, false = self._truth(e.this)
            return false, true
        if isinstance(e, exp.And | exp.Or):
            (a, b), (c, d) = self._truth(e.left), self._truth(e.right)
            return (a & c, b | d) if isinstance(e, exp.And) else (a | c, b & d)
        if isinstance(e, exp.Between):
            low = exp.GTE(this=e.this.copy(), expression=e.args["low"].copy())
            return self._truth(
                exp.And(this=low, expression=exp.LTE(this=e.this.copy(), expression=e.args["high"].copy()))
            )
        if isinstance(e, exp.In) and e.expressions:
            return self._truth(exp.or_(*(exp.EQ(this=e.this.copy(), expression=v.copy()) for v in e.expressions)))
        if isinstance(e, exp.Is) and isinstance(e.expression, exp.Null):
            missing = np.array([value is None or value != value for value in self._ends(e.this)[0]], dtype=np.bool_)
            return missing, ~missing
        if isinstance(e, exp.EQ | exp.NEQ):
            true, false = self._equal(self._ends(e.left), self._ends(e.right))
            return (true, false) if isinstance(e, exp.EQ) else (false, true)
        if type(e) in ORDERED:
            return self._ordered(e)
        raise QueryError(
            f"{written(e)} cannot be asked of the lines of an answer; compare aggregates and groups with values"
        )

    def _ordered(self, e: exp.Expression) -> Truth:
        turned, may, may_not = ORDERED[type(e)]
        one, other = (e.right, e.left) if turned else (e.left, e.right)
        (low, high), (least, most) = self._ends(one), self._ends(other)
        with np.errstate(invalid="ignore"):
            return np.asarray(may(high, least), dtype=np.bool_), np.asarray(may_not(low, most), dtype=np.bool_)

    @staticmethod
    def _equal(one: tuple[Values, Values], other: tuple[Values, Values]) -> Truth:
        (low, high), (least, most) = one, other
        known = np.array(
            [a is not None and b is not None and a == a and b == b for a, b in zip(low, least, strict=True)]
        )
        if low is high and least is most:
            same = np.asarray(low == least, dtype=np.bool_)
            return same & known, ~same & known
        return np.asarray((low <= most) & (least <= high)) & known, known

    def _ends(self, e: exp.Expression) -> tuple[Values, Values]:
        """A group, a text, the place of a line among others, or a number: its least and its most, which are one where it is known."""
        e, lines = e.unnest(), len(self.made.leaves)
        if isinstance(e, exp.Var) and e.name in self.made.leaves.groups.schema.names:
            return _known([*self.made.leaves.groups.column(e.name).to_pylist(), None][:-1])
        if isinstance(e, exp.Literal) and e.is_string:
            return _known([e.this] * lines)
        if isinstance(e, exp.Boolean):
            return _known([bool(e.this)] * lines)
        if isinstance(e, exp.Window):
            return self._places(e)
        figure = Reading(self.made.figures, lines).figure(e)
        if not self.reach or figure.constant:
            return figure.shown, figure.shown
        far = self.reach * np.nan_to_num(self.made.error(figure), nan=np.inf)
        return figure.shown - far, figure.shown + far

    def _places(self, window: exp.Window) -> tuple[Values, Values]:
        """ROW_NUMBER, RANK or DENSE_RANK of each line within its part; of what may be off, the first and the last that it can be."""
        order = window.args.get("order")
        if order is None:
            raise QueryError(f"{written(window)} needs an ORDER BY: by what lines are numbered")
        names = [part.name for part in window.args.get("partition_by") or ()]
        part = together(self.made.leaves.groups, names, len(self.made.leaves))
        keys = [(self._ends(key.this), bool(key.args.get("desc"))) for key in order.expressions]
        if all(low is high for (low, high), _ in keys):
            places = _numbered(window.this, part, [(low, descending) for (low, _), descending in keys])
            return places, places
        ((low, high), descending), *more = keys
        if more or not np.issubdtype(low.dtype, np.number):
            return np.ones(len(part)), np.bincount(part)[part].astype(np.float64)
        return _between(part, *((-high, -low) if descending else (low, high)), isinstance(window.this, exp.DenseRank))


def _known(values: list[Any]) -> tuple[Values, Values]:
    array = np.array([*values, None], dtype=object)[:-1]
    return array, array


def _between(part: Values, low: Values, high: Values, dense: bool) -> tuple[Values, Values]:
    """The first and the last place that lines can have, the smallest number first."""
    first, last = np.ones(len(part)), np.ones(len(part))
    for own in range(int(part.max(initial=-1)) + 1):
        some = np.flatnonzero(part == own)
        ahead, within = np.sort(high[some]), np.sort(low[some])
        before = np.searchsorted(ahead, low[some], side="left")
        first[some] = 1 + (np.minimum(before, 1) if dense else before)
        last[some] = np.searchsorted(within, high[some], side="right")
    return first, last


def _numbered(kind: exp.Expression, part: npt.NDArray[np.intp], keys: list[tuple[Values, bool]]) -> Values:
    """The places of lines by keys that are known."""
    columns = {f"k{i}": pa.array(list(values)) for i, (values, _) in enumerate(keys)}
    ways = [(f"k{i}", "descending" if descending else "ascending") for i, (_, descending) in enumerate(keys)]
    table = pa.table({"part": pa.array(part), **columns})
    lines = pc.sort_indices(table, sort_keys=[("part", "ascending"), *ways]).to_numpy()
    rows = [tuple(row.values()) for row in table.take(pa.array(lines)).to_pylist()]
    numbers = np.zeros(len(lines))
    number = rank = dense = 0
    for place, line in enumerate(lines):
        new = place == 0 or rows[place][0] != rows[place - 1][0]
        number = 1 if new else number + 1
        if new or rows[place] != rows[place - 1]:
            rank, dense = number, 1 if new else dense + 1
        numbers[line] = {exp.RowNumber: number, exp.Rank: rank}.get(type(kind), dense)
    return numbers
