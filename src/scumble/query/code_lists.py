"""Code lists: small tables that an analyst joins with a release, to recode a column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from scumble.core.errors import QueryError, did_you_mean
from scumble.query.model import written

Tables = Mapping[str, pa.Table]
MOST_CODES = 5_000
"""Lines of a code list, at most."""


@dataclass(frozen=True)
class CodeList:
    """The columns of a code list, by their names in small letters."""

    columns: dict[str, list[exp.Expression]]

    @classmethod
    def of(cls, rows: pa.Table) -> "CodeList":
        """A table that was given."""
        if rows.num_rows > MOST_CODES:
            raise QueryError(f"a code list has {MOST_CODES:,} lines at most, not {rows.num_rows:,}")
        return cls({name.lower(): [_literal(v) for v in rows.column(name).to_pylist()] for name in rows.column_names})

    def recoded(self, key: exp.Expression, by: str) -> dict[str, exp.Expression]:
        """Its columns as functions of the key; a key that it does not have gives nothing."""
        keys = self.columns[by]
        return {name: _case(key, keys, values) for name, values in self.columns.items() if name != by}


def _literal(value: Any) -> exp.Expression:
    return exp.convert(value.item() if hasattr(value, "item") else value)


def _case(key: exp.Expression, keys: Sequence[exp.Expression], values: Sequence[exp.Expression]) -> exp.Expression:
    pairs = [
        (k, v) for k, v in zip(keys, values, strict=True) if not isinstance(k, exp.Null) and not isinstance(v, exp.Null)
    ]
    if not pairs:
        return exp.null()
    return exp.Case(this=key.copy(), ifs=[exp.If(this=k.copy(), true=v.copy()) for k, v in pairs])


def listed_values(table: exp.Expression, parts: Mapping[str, exp.Expression]) -> CodeList | None:
    """A list of VALUES, as it stands in a join or under a name of WITH."""
    alias, values = (
        table.args.get("alias"),
        table.find(exp.Values) if isinstance(table, exp.Values | exp.Subquery) else None,
    )
    if isinstance(table, exp.Table) and table.name.lower() in parts:
        alias, values = parts[table.name.lower()].args.get("alias"), parts[table.name.lower()].find(exp.Values)
    if values is None:
        return None
    names = [name.name.lower() for name in (alias.args.get("columns") or ())] if alias is not None else []
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    if not names or any(len(row) != len(names) for row in rows):
        raise QueryError(
            "a list of VALUES needs a name for each of its columns: (VALUES ('flu', 'lungs')) AS codes(disease, organ)"
        )
    return CodeList({name: [row[i].unnest() for row in rows] for i, name in enumerate(names)})


def joined(
    join: exp.Join, name: str, codes: CodeList, scopes: Mapping[str, dict[str, exp.Expression]]
) -> tuple[dict[str, exp.Expression], list[exp.Expression]]:
    """What the columns of a joined code list are, and the condition that a row has one of its codes."""
    side, kind = str(join.args.get("side") or "").upper(), str(join.args.get("kind") or "").upper()
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or join.args.get("method"):
        raise QueryError(
            f"{side or kind or join.args.get('method')} JOIN cannot be answered; join a code list by JOIN or LEFT JOIN"
        )
    key, by = _key(join, name, codes, scopes)
    keys = [key for key in codes.columns[by] if not isinstance(key, exp.Null)]
    if len({written(key) for key in keys}) < len(keys):
        twice = next(written(key) for key in keys if keys.count(key) > 1)
        raise QueryError(
            f"the code list {name!r} has {twice} twice, so that rows would be counted twice; keep one line for each code"
        )
    columns = {**codes.recoded(key, by), by: key.copy()}
    if side == "LEFT":
        return columns, []
    return columns, [exp.In(this=key.copy(), expressions=[key.copy() for key in keys])]


def _key(join: exp.Join, name: str, codes: CodeList, scopes: Mapping[str, Any]) -> tuple[exp.Expression, str]:
    """What of the release is compared with which column of the code list."""
    using = join.args.get("using")
    if using:
        (column,) = using if len(using) == 1 else (None,)
        if column is not None and column.name.lower() in codes.columns:
            meant = next(
                (scope[column.name.lower()] for scope in scopes.values() if column.name.lower() in scope), None
            )
            if meant is not None:
                return meant.copy(), column.name.lower()
    on = join.args.get("on")
    on = on.unnest() if on is not None else None
    for side, other in ((on.left, on.right), (on.right, on.left)) if isinstance(on, exp.EQ) else ():
        inner = side.unnest()
        listed = (
            isinstance(inner, exp.Column) and inner.table.lower() in ("", name) and inner.name.lower() in codes.columns
        )
        if listed and not any(c.table.lower() == name for c in other.find_all(exp.Column)):
            return other.copy(), inner.name.lower()
    known = did_you_mean("", list(codes.columns))
    raise QueryError(
        f"a code list is joined by one column: JOIN {name} USING (code), or ON release.column = {name}.code{known}"
    )
