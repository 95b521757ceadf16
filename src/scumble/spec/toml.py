"""A spec as the TOML that people read and edit."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from scumble.sources.address import seen_from
from scumble.spec.spec import ColumnSpec, Spec


def spec_toml(spec: Spec, folder: Path | None = None, comments: Sequence[str] = ()) -> str:
    """The spec as TOML, to be written into a folder: the table's path is relative to it.

    >>> print(spec_toml(Spec(mechanism="uniform", settings={"k": 3}), comments=["as advised"]))
    # as advised
    mechanism = "uniform"
    <BLANKLINE>
    [settings]
    k = 3
    <BLANKLINE>
    """
    lines = [f"# {comment}" for comment in comments]
    if spec.table is not None:
        lines.append(f"table = {_literal(seen_from(folder or Path.cwd(), spec.table))}")
    lines.append(f"mechanism = {_literal(spec.mechanism)}")
    lines += [
        f"{name} = {_literal(value)}"
        for name in ("rest", "fresh", "budget", "person", "rows_per_person", "answers", "persons")
        if (value := getattr(spec, name)) is not None
    ]
    tables = {"privacy": spec.privacy.model_dump(exclude_none=True), "settings": spec.settings}
    for name, table in tables.items():
        lines += _table([name], table) if table else []
    if spec.metadata is not None:
        lines += _table(["metadata"], spec.metadata.model_dump(exclude_none=True, exclude_defaults=True))
    for name, column in spec.columns.items():
        lines += _table(["columns", name], _column(column))
    return "\n".join(lines) + "\n"


def _column(column: ColumnSpec) -> dict[str, Any]:
    fields = column.model_dump(exclude_none=True, exclude_defaults=True)
    if column.values is not None and None in column.values:  # TOML has no missing value
        fields |= {"values": [value for value in column.values if value is not None], "missing": True}
    return fields


def _table(path: Sequence[str], table: Mapping[str, Any]) -> Iterator[str]:
    """A table, then the tables inside it, as TOML wants them."""
    yield f"\n[{'.'.join(map(_key, path))}]"
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    yield from (f"{_key(key)} = {_literal(value)}" for key, value in table.items() if key not in inner)
    for key, value in inner.items():
        if value:
            yield from _table([*path, key], value)


def _literal(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
