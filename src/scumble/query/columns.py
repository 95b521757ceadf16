"""Columns of an answer that are made of aggregates: each aggregate is asked once, and stands in the expression by its name."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from scumble.core.errors import QueryError, did_you_mean
from scumble.query.aggregates.count import COUNT
from scumble.query.aggregates.order import RANKS
from scumble.query.model import (
    HIDDEN,
    Aggregate,
    Column,
    Derived,
    Group,
    Order,
    Query,
    Window,
    aggregate_of,
    demand_names,
    sql_of,
    written,
)
from scumble.query.plain import spelt


@dataclass
class Collected:
    """What an answer is made of, each thing once."""

    groups: Sequence[Group]
    aliases: dict[str, exp.Expression]
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    windows: dict[str, Window] = field(default_factory=dict)

    def named(self, expression: exp.Expression) -> exp.Expression:
        """An expression with the names of what it is made of; a column of the answer is what stands under its name."""
        root = exp.Paren(this=expression.copy())
        root.this.meta.update(expression.meta)
        self._replace(root.this)
        whole: exp.Expression = root.this
        return whole.pop()

    def _replace(self, node: exp.Expression) -> None:
        name = self._name(node)
        if name is not None:
            node.replace(exp.Var(this=name))
            return
        if isinstance(node, exp.Column):
            inner = self.aliases.get(node.name.lower())
            if inner is None:
                raise QueryError(f"{written(node)} is neither an aggregate nor in GROUP BY; add it to GROUP BY")
            changed = exp.paren(inner)
            node.replace(changed)
            self._replace(changed.this)
            return
        for child in list(node.iter_expressions()):
            self._replace(child)

    def _name(self, node: exp.Expression) -> str | None:
        for group in self.groups:
            if node == group.expression or (isinstance(node, exp.Column) and node.name == group.name):
                return group.name
        if isinstance(node, exp.Window):
            return self._window(node)
        aggregate = aggregate_of("", node)
        if aggregate is None:
            return None
        name = sql_of(node)
        self.aggregates.setdefault(name, Aggregate(name, aggregate.how, aggregate.value, aggregate.function))
        return name

    def _window(self, node: exp.Window) -> str | None:
        """SUM(aggregate) OVER (PARTITION BY groups); those that number lines are left as they are."""
        if isinstance(node.this, RANKS):
            return None
        inner = aggregate_of("", node.this.this) if isinstance(node.this, exp.Sum) else None
        if inner is None or inner.kind not in ("count", "sum") or node.args.get("order") or node.args.get("spec"):
            raise QueryError(
                f"{written(node)}: a window (OVER) cannot be answered but SUM(COUNT(*)) OVER (PARTITION BY groups), SUM(SUM(x)) OVER (...), "
                "and ROW_NUMBER() or RANK() in QUALIFY"
            )
        of = self._name(node.this.this)
        by = [self.named(part) for part in node.args.get("partition_by") or ()]
        names = {group.name for group in self.groups}
        for part in by:
            if not isinstance(part, exp.Var) or part.name not in names:
                raise QueryError(f"PARTITION BY {written(part)}: a window is over groups of the question")
        name = sql_of(node)
        self.windows.setdefault(name, Window(name, str(of), frozenset(part.name for part in by)))
        return name


def derived(
    select: exp.Select,
    titles: Sequence[str],
    groups: Sequence[Group],
    where: exp.Expression | None,
    ends: tuple[int | None, int],
    beside: Sequence[str],
    *,
    chosen: bool = False,
) -> Query:
    """A question whose answer is made of aggregates; or chosen, only the different values of groups."""
    bare = [e.this if isinstance(e, exp.Alias) else e for e in select.expressions]
    aliases = {title.lower(): inner for title, inner in zip(titles, bare, strict=True)}
    made = Collected(groups, {n: e for n, e in aliases.items() if not isinstance(e, exp.Column)})
    columns = [Column(title, made.named(inner)) for title, inner in zip(titles, bare, strict=True)]
    having, qualify = (
        made.named(clause.this) if (clause := select.args.get(part)) is not None else None
        for part in ("having", "qualify")
    )
    order, hidden = _order(select, titles, bare, made)
    names = {group.name for group in groups}
    demand_names(titles, [c.expression.name not in names for c in columns], beside)
    outputs: list[Aggregate | Group] = [*groups, *made.aggregates.values()]
    if chosen:
        outputs.append(Aggregate("COUNT(*)", COUNT, None))
    elif not made.aggregates:
        raise QueryError("a question asks for at least one aggregate: COUNT(*), SUM(x), AVG(x)")
    if made.windows and having is not None:
        where, having = _before_windows(made, where, having), None
    shown = Derived([*columns, *hidden], list(made.windows.values()), having, qualify, chosen)
    return Query(outputs, groups, where, order, *ends, shown)


def _before_windows(made: Collected, where: exp.Expression | None, having: exp.Expression) -> exp.Expression:
    """HAVING leaves the lines that a window is over. Of groups alone it leaves the same as WHERE does."""
    known = {group.name: group.expression for group in made.groups}
    names = {part.name for part in having.find_all(exp.Var)}
    if not names or not names <= set(known):
        window = next(iter(made.windows)).replace('"', "")
        raise QueryError(
            f"{window} with HAVING cannot be answered: a window is over the lines that HAVING leaves, and estimates "
            "would choose these; put the condition into QUALIFY, which leaves the window as it is, or ask for the lines by WHERE"
        )
    return exp.and_(*(exp.paren(part) for part in (where, spelt(having, known)) if part is not None))


def _order(
    select: exp.Select, titles: Sequence[str], bare: Sequence[exp.Expression], made: Collected
) -> tuple[list[Order], list[Column]]:
    """The columns that lines are ordered by, and those of them that are not shown."""
    order, hidden = list[Order](), list[Column]()
    clause = select.args.get("order")
    for place, key in enumerate(clause.expressions if clause else ()):
        name = _shown_as(key.this, titles, bare)
        if name is None and not key.this.find(exp.AggFunc):
            raise QueryError(
                f"ORDER BY {written(key.this)}: order by a column of the answer{did_you_mean(key.this.name, titles)}"
            )
        if name is None:
            name = f"{HIDDEN}{place}"
            hidden.append(Column(name, made.named(key.this)))
        order.append(Order(name, bool(key.args.get("desc"))))
    return order, hidden


def _shown_as(key: exp.Expression, titles: Sequence[str], bare: Sequence[exp.Expression]) -> str | None:
    if key.is_int and 1 <= int(key.name) <= len(titles):
        return titles[int(key.name) - 1]
    for title, inner in zip(titles, bare, strict=True):
        if key == inner or (isinstance(key, exp.Column) and key.name.lower() == title.lower()):
            return title
    return None
