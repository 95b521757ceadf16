"""Which part of each box satisfies the conditions on public columns, and what the boxes come to, as one statement.

Conditions and groups that share a column belong together; those that share none are independent within a box. For each such part the share of the
values of a side that satisfies the conditions is joined to the boxes that have the side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from scumble.engines.engine import Engine, registered
from scumble.engines.expressions import column, count, double, either, number, product, select, table, total
from scumble.forms.boxes.layout import Laid, Side, combined
from scumble.query.groups import Keys, ordered

BOXES, LAID = "scumble_boxes", "scumble_laid_{}"
"""Tables of one question."""


@dataclass(frozen=True)
class BoxFactor:
    """Conditions and groups that share columns: their share of a box multiplies with those of the other factors."""

    sides: Sequence[Side]
    keys: Keys
    conditions: Sequence[exp.Expression]

    def shares(self, place: int) -> exp.Select:
        """For each combination of sides and each group the share f of their values that satisfies the conditions."""
        shares = {"id": column("scumble id"), **self.keys, "f": total(column("scumble f"))}
        return select(shares, LAID.format(place), self.conditions, 1 + len(self.keys))


def box_sums(engine: Engine, boxes: pa.Table, laid: dict[str, Laid], parts: Sequence[BoxFactor]) -> pa.Table:
    """For each group and published value y, over its n boxes, of which a part f is asked for: sums of the rows that they count for.

    w   of s * f, where s is the size of a box
    q   of (s * f)^2
    u   of s * f * (1 - f)
    t   of s
    """
    tables, asked = {}, boxes
    for i, part in enumerate(parts):
        box, tables[LAID.format(i)] = combined(part.sides, [laid[side.name] for side in part.sides])
        asked = asked.append_column(f"p{i}", pa.array(box))
    keys = [name for part in parts for name in part.keys]
    with registered(engine, {BOXES: asked, **tables}):
        return ordered(engine.run(_statement(parts)), [*keys, "y"])


def _statement(parts: Sequence[BoxFactor]) -> exp.Select:
    shares = [column("f", f"part{i}") for i in range(len(parts))]
    keys = {name: column(name, f"part{i}") for i, part in enumerate(parts) for name in part.keys}
    outputs = {
        **keys,
        "y": column("y", "boxes"),
        "s": double(column("s", "boxes")),
        "f": product([double(number(1)), *shares]),
    }
    lines = select(outputs, table(BOXES, "boxes"))
    for i, part in enumerate(parts):
        same = exp.EQ(this=column(f"p{i}", "boxes"), expression=column("id", f"part{i}"))
        lines = lines.join(part.shares(i).subquery(f"part{i}"), on=same)
    s, f = column("s"), column("f")
    rest = exp.Sub(this=number(1), expression=f.copy())
    rest = either(exp.LT(this=f.copy(), expression=number(1)), rest, number(0))
    sums = {
        "w": total(product([s, f])),
        "q": total(product([s, s, f, f])),
        "u": total(product([s, f, rest])),
        "t": total(s),
    }
    named = {name: column(name) for name in [*keys, "y"]}
    return select({**named, **sums, "n": count()}, lines.subquery("lines"), (), len(named))
