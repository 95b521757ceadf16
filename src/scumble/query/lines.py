"""HAVING and QUALIFY: which lines of an answer are shown, by their estimates."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.query.derive import over_lines
from scumble.query.estimates import Estimates
from scumble.query.figures import Figure, Reading
from scumble.query.joined import together
from scumble.query.model import Derived, written

Flags = npt.NDArray[np.bool_]

COMPARED = {
    exp.EQ: np.equal,
    exp.NEQ: np.not_equal,
    exp.GT: np.greater,
    exp.GTE: np.greater_equal,
    exp.LT: np.less,
    exp.LTE: np.less_equal,
}


def kept(shown: Derived, leaves: Estimates) -> npt.NDArray[np.intp]:
    """The places of the lines that HAVING and QUALIFY leave; what is not known is not left."""
    lines = np.arange(len(leaves))
    for condition in (shown.having, shown.qualify):  # QUALIFY numbers the lines that HAVING leaves
        if condition is not None:
            lines = lines[Lines(shown, leaves.take(lines)).holds(condition)]
    return lines


class Lines:
    """The lines of an answer, of which conditions are asked."""

    def __init__(self, shown: Derived, leaves: Estimates) -> None:
        self._leaves = leaves
        values = {e.name: e.value for e in leaves.estimates}
        values |= {w.name: over_lines(leaves[w.of].value, leaves.groups, w) for w in shown.windows}
        none = np.zeros((1, len(leaves)))
        self._reading = Reading({name: Figure(value, none) for name, value in values.items()}, len(leaves))

    def holds(self, e: exp.Expression) -> Flags:
        """Where a condition on estimates and groups holds."""
        if isinstance(e, exp.Paren):
            return self.holds(e.this)
        if isinstance(e, exp.And):
            return self.holds(e.left) & self.holds(e.right)
        if isinstance(e, exp.Or):
            return self.holds(e.left) | self.holds(e.right)
        if isinstance(e, exp.Not):
            return ~self.holds(e.this)
        if isinstance(e, exp.Between):
            value = self._value(e.this)
            low, high = self._value(e.args["low"]), self._value(e.args["high"])
            return np.asarray((value >= low) & (value <= high))
        if isinstance(e, exp.In) and e.expressions:
            return np.asarray(np.logical_or.reduce([self._equal(e.this, value) for value in e.expressions]))
        if isinstance(e, exp.Is) and isinstance(e.expression, exp.Null):
            return np.array([value is None or value != value for value in self._value(e.this)])
        if type(e) in COMPARED:
            with np.errstate(invalid="ignore"):
                return np.asarray(COMPARED[type(e)](self._value(e.left), self._value(e.right)), dtype=np.bool_)
        raise QueryError(
            f"{written(e)} cannot be asked of the lines of an answer; compare aggregates and groups with values"
        )

    def _equal(self, left: exp.Expression, right: exp.Expression) -> Flags:
        return np.asarray(self._value(left) == self._value(right), dtype=np.bool_)

    def _value(self, e: exp.Expression) -> npt.NDArray[Any]:
        """A group, a text, the place of a line among others, or a number."""
        e = e.unnest()
        if isinstance(e, exp.Var) and e.name in self._leaves.groups.schema.names:
            return np.array([*self._leaves.groups.column(e.name).to_pylist(), None], dtype=object)[:-1]
        if isinstance(e, exp.Literal) and e.is_string:
            return np.array([e.this] * len(self._leaves), dtype=object)
        if isinstance(e, exp.Boolean):
            return np.array([bool(e.this)] * len(self._leaves), dtype=object)
        if isinstance(e, exp.Window):
            return self._places(e)
        return self._reading.figure(e).shown

    def _places(self, window: exp.Window) -> npt.NDArray[Any]:
        """ROW_NUMBER, RANK or DENSE_RANK of each line within its part."""
        order = window.args.get("order")
        if order is None:
            raise QueryError(f"{written(window)} needs an ORDER BY: by what lines are numbered")
        names = [part.name for part in window.args.get("partition_by") or ()]
        part = together(self._leaves.groups, names, len(self._leaves))
        keys = {f"k{i}": pa.array(list(self._value(key.this))) for i, key in enumerate(order.expressions)}
        ways = [(f"k{i}", "descending" if k.args.get("desc") else "ascending") for i, k in enumerate(order.expressions)]
        table = pa.table({"part": pa.array(part), **keys})
        lines = pc.sort_indices(table, sort_keys=[("part", "ascending"), *ways]).to_numpy()
        return _numbered(
            window.this, part[lines], [tuple(row.values()) for row in table.take(pa.array(lines)).to_pylist()], lines
        )


def _numbered(
    kind: exp.Expression, part: npt.NDArray[np.intp], rows: list[Any], lines: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    numbers = np.zeros(len(lines))
    number = rank = dense = 0
    for place, line in enumerate(lines):
        new = place == 0 or part[place] != part[place - 1]
        number = 1 if new else number + 1
        if new or rows[place] != rows[place - 1]:
            rank, dense = number, 1 if new else dense + 1
        numbers[line] = {exp.RowNumber: number, exp.Rank: rank}.get(type(kind), dense)
    return numbers
