"""Where a question reads from: sub-queries, WITH and joined code lists, until one SELECT over the release is left.

- A sub-query that chooses rows and columns is put into the question: its columns by what they are, its WHERE beside that of the question.
- A sub-query with aggregates is one whose answer is filtered and ordered: the WHERE of the question is its HAVING then.
- A code list that is joined by a key recodes a column: codes.chapter is CASE key WHEN 'flu' THEN 'lungs' ... END.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from scumble.core.errors import QueryError, did_you_mean
from scumble.engines.engine import TABLE
from scumble.query.code_lists import CodeList, Tables, joined, listed_values
from scumble.query.model import written

PLAIN = frozenset({"expressions", "from_", "from", "where", "joins", "with_", "with", "order"})
"""What a sub-query may have that chooses rows and columns; an order without a limit is none."""

BOUND = (exp.Binary, exp.Unary, exp.Between, exp.In)
"""What binds its parts more closely than what is put there may be bound itself."""

AFTER = {"having": exp.Having, "qualify": exp.Qualify}
"""The conditions on lines of an answer."""

Scope = dict[str, exp.Expression]
"""What the columns of a source are, by their names in small letters."""


@dataclass
class Sources:
    """The tables that a question may name."""

    columns: Sequence[str]
    names: frozenset[str]
    """What the published table is called, in small letters."""
    tables: Tables
    parts: dict[str, exp.Expression] = field(default_factory=dict)
    """Those that WITH names, in small letters."""

    def flat(self, select: exp.Select) -> exp.Select:
        """The same question as one SELECT over the published table; as it is, where it is one."""
        self.take(select)
        source = _from(select)
        table = source.this if source is not None else None
        if isinstance(table, exp.Table) and self._is_release(table) and not select.args.get("joins"):
            table.set("this", exp.to_identifier(TABLE))
            return select
        if isinstance(table, exp.Table | exp.Subquery):
            inner = self._select(table)
            if inner is not None and _aggregated(inner):
                return self._over(inner, select, _alias(table))
            return self._inlined(select, table)
        return select

    def take(self, select: exp.Expression) -> None:
        """The names of WITH, which is taken away."""
        clause = select.args.get("with_") or select.args.get("with")
        if clause is None:
            return
        if clause.args.get("recursive"):
            raise QueryError("WITH RECURSIVE cannot be answered; ask one question at a time")
        for part in clause.expressions:
            self.parts[part.alias.lower()] = part
        clause.pop()

    def _is_release(self, table: exp.Table) -> bool:
        plain = isinstance(table.this, exp.Identifier) and not table.args.get("db")
        return plain and table.name.lower() in self.names and table.name.lower() not in self.parts

    def _select(self, table: exp.Expression) -> exp.Select | None:
        """The sub-query that a source is, flat; None for the published table itself."""
        name = table.name.lower()
        if isinstance(table, exp.Subquery):
            inner, seen = table.this, dict(self.parts)
        elif name in self.parts:
            inner, seen = self.parts[name].this, self._before(name)
        else:
            return None
        if not isinstance(inner, exp.Select):
            raise QueryError(
                f"{written(inner)}: a question reads from one SELECT over {TABLE}; ask UNION ALL outermost"
            )
        select = replace(self, parts=seen).flat(inner.copy())
        source = _from(select)
        if source is None or not isinstance(source.this, exp.Table) or source.this.name != TABLE:
            raise QueryError(f"a question reads FROM {TABLE}, the published table, and nothing else")
        if isinstance(table, exp.Table) and (names := self.parts[table.name.lower()].args["alias"].args.get("columns")):
            _rename(select, [name.name for name in names])
        return select

    def _before(self, name: str) -> dict[str, exp.Expression]:
        """What a part of WITH may name: those before it, so that `WITH release AS (... FROM release)` reads the published table."""
        names = list(self.parts)
        return {earlier: self.parts[earlier] for earlier in names[: names.index(name)]}

    def _inlined(self, select: exp.Select, table: exp.Expression) -> exp.Select:
        """The question with its source put in."""
        scope, conditions = self._scope(table)
        alias = _alias(table)
        scopes: dict[str, Scope] = {alias: scope}
        for join in select.args.get("joins") or ():
            name, codes, conditions_of = self._join(join, scopes)
            scopes[name] = codes
            conditions = [*conditions, *conditions_of]
        select.set("joins", None)
        _star(select, scopes)
        substitute(select, scopes)
        _from(select).set("this", exp.Table(this=exp.to_identifier(TABLE)))  # type: ignore[union-attr]
        return select.where(*conditions, copy=False) if conditions else select

    def _scope(self, table: exp.Expression) -> tuple[Scope, list[exp.Expression]]:
        """The columns of a source, and the conditions on its rows."""
        inner = self._select(table)
        if inner is None:
            if not isinstance(table, exp.Table) or not self._is_release(table):
                raise QueryError(f"a question reads FROM {TABLE}, the published table, and nothing else")
            return {name.lower(): exp.column(name, quoted=True) for name in self.columns}, []
        extra = [key for key, value in inner.args.items() if value and key not in PLAIN]
        if extra:
            raise QueryError(
                f"a sub-query with {extra[0].strip('_').upper()} cannot be answered here; it may choose rows and columns of {TABLE}"
            )
        where = inner.args.get("where")
        _star(inner, {"": {name.lower(): exp.column(name, quoted=True) for name in self.columns}})
        scope = {
            e.alias_or_name.lower(): e.this.copy() if isinstance(e, exp.Alias) else e.copy() for e in inner.expressions
        }
        return scope, [where.this.copy()] if where is not None else []

    def _join(self, join: exp.Join, scopes: Mapping[str, Scope]) -> tuple[str, Scope, list[exp.Expression]]:
        table = join.this
        name = _alias(table)
        codes = self._codes(table)
        for part in (join.args.get("on"),):
            if part is not None:
                substitute(part, scopes, missing=True)
        return name, *joined(join, name, codes, scopes)

    def _codes(self, table: exp.Expression) -> CodeList:
        """A code list: given by the analyst, or written out."""
        values = listed_values(table, self.parts)
        if values is not None:
            return values
        if isinstance(table, exp.Table) and table.name.lower() in {name.lower() for name in self.tables}:
            return next(CodeList.of(rows) for name, rows in self.tables.items() if name.lower() == table.name.lower())
        known = [*self.tables]
        hint = did_you_mean(table.name, known) if known else ""
        raise QueryError(
            f"JOIN {written(table)}: a release is one table, and may be joined with a code list that you give "
            f"(tables={{'codes': frame}}, --table codes=FILE), or write as (VALUES (...), (...)) AS codes(a, b){hint}"
        )

    def _over(self, inner: exp.Select, outer: exp.Select, alias: str) -> exp.Select:
        """A question over the answer of another: its columns are chosen, its lines filtered and put in order."""
        extra = [
            k
            for k, v in outer.args.items()
            if v and k not in {"expressions", "from_", "from", "where", "order", "limit", "offset", "qualify"}
        ]
        if extra or any(e.find(exp.AggFunc) and not e.find(exp.Window) for e in outer.expressions):
            raise QueryError(
                "an aggregate of aggregates cannot be answered; ask for both levels apart, or for shares by SUM(COUNT(*)) OVER ()"
            )
        if inner.args.get("limit") or inner.args.get("offset"):
            raise QueryError("a sub-query with LIMIT cannot be answered here; put ORDER BY and LIMIT outermost")
        scope = {e.alias_or_name.lower(): e.this if isinstance(e, exp.Alias) else e for e in inner.expressions}
        last = _last_clause(inner, outer)
        _star(outer, {alias: scope})
        _titled(outer)
        for part in ("expressions", "where", "order", "qualify"):
            for node in outer.args.get(part) or () if part == "expressions" else [outer.args.get(part)]:
                if node is not None:
                    substitute(node, {alias: scope})
        whole = inner.copy()
        whole.set("expressions", outer.expressions)
        for part in ("order", "limit", "offset", "qualify"):
            whole.set(part, outer.args.get(part) or (whole.args.get(part) if part in ("order", "qualify") else None))
        if (where := outer.args.get("where")) is not None:
            before = whole.args.get(last)
            both = [exp.paren(part.this) for part in (before, where) if part is not None]
            whole.set(last, AFTER[last](this=exp.and_(*both)))
        return whole


def _last_clause(inner: exp.Select, outer: exp.Select) -> str:
    """Where the WHERE of a question over an answer belongs: after the windows of that answer, and before its own."""
    if inner.find(exp.Window) is None:
        return "having"
    own = [*outer.expressions, *(outer.args[part] for part in ("qualify", "order") if outer.args.get(part))]
    if any(part.find(exp.Window) for part in own):
        raise QueryError("a window (OVER) over an answer with windows cannot be answered; ask for each apart")
    return "qualify"


def _from(select: exp.Select) -> exp.From | None:
    source = select.args.get("from_") or select.args.get("from")
    return source if isinstance(source, exp.From) else None


def _alias(table: exp.Expression) -> str:
    return str(table.alias_or_name).lower()


def _aggregated(select: exp.Select) -> bool:
    return bool(select.args.get("group") or any(e.find(exp.AggFunc) for e in select.expressions))


def _rename(select: exp.Select, names: Sequence[str]) -> None:
    if len(names) != len(select.expressions):
        raise QueryError(f"WITH names {len(names)} columns, and its SELECT has {len(select.expressions)}")
    bare = [e.this if isinstance(e, exp.Alias) else e for e in select.expressions]
    select.set("expressions", [exp.alias_(e, name, quoted=True) for e, name in zip(bare, names, strict=True)])


def _star(select: exp.Select, scopes: Mapping[str, Scope]) -> None:
    """Every column, where a source is asked for all."""
    if any(isinstance(e, exp.Star) for e in select.expressions):
        columns = [exp.column(name, quoted=True) for scope in scopes.values() for name in scope]
        select.set("expressions", [*columns, *(e for e in select.expressions if not isinstance(e, exp.Star))])


def _titled(select: exp.Select) -> None:
    """Columns that keep the names that a source gave them."""
    named = [exp.alias_(e.copy(), e.name, quoted=True) if isinstance(e, exp.Column) else e for e in select.expressions]
    select.set("expressions", named)


def substitute(node: exp.Expression, scopes: Mapping[str, Scope], *, missing: bool = False) -> None:
    """Columns by what they are in their source; names that no source has are left, for whoever knows what they mean."""
    if isinstance(node, exp.Select):
        _name_columns(node)
    for column in list(node.find_all(exp.Column)):
        table, name = column.table.lower(), column.name.lower()
        if table and table not in scopes:
            if missing:
                continue
            known = ", ".join(sorted(scopes))
            raise QueryError(f"there is no table {column.table!r} in the question; there is {known}")
        meant = [scope[name] for key, scope in scopes.items() if name in scope and table in ("", key)]
        if len(meant) > 1 and not all(meaning == meant[0] for meaning in meant):
            raise QueryError(
                f"column {column.name!r} is in several tables; write which one: {sorted(scopes)[0]}.{column.name}"
            )
        if meant:
            inner = meant[0].copy()
            column.replace(
                exp.paren(inner) if isinstance(column.parent, BOUND) and not isinstance(inner, exp.Column) else inner
            )
        elif table:
            raise QueryError(
                f"column {column.name!r} is not in {column.table!r}{did_you_mean(column.name, list(scopes[table]))}"
            )


def _name_columns(select: exp.Select) -> None:
    """Columns of the answer keep their names when they are put by what they are."""
    for e in list(select.expressions):
        if isinstance(e, exp.Column):
            e.replace(exp.alias_(e.copy(), e.name, quoted=True))
