"""Publishing in tests: a test names what it is about, and all other columns are public."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import scumble
from scumble.publishing.roles import matching
from scumble.sources.source import read


def others(table: Any, how: Mapping[str, Any]) -> list[str]:
    """The columns of a table that arguments of `publish` do not name; `public` must be said, and here is who says it."""
    text = how.get("text", ())
    names = list(read(table, text=[text] if isinstance(text, str) else list(text)).schema.names)
    parts = {key: how.get(key) or () for key in ("sensitive", "drop", "id", "occurrence")}
    given = [name for each in parts.values() for name in ([each] if isinstance(each, str) else each)]
    settings = how.get("settings") or {}
    given += [settings[part] for part in ("user", "item", "value") if settings.get(part)]
    named = {name for each in given for name in matching(each, names)} | set(how.get("coarsen") or ())
    return [name for name in names if name not in named]


def openly(table: Any, how: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with all columns public that they do not name; a spec has its roles already."""
    if "public" in how or "rest" in how or (isinstance(table, str | Path) and Path(table).suffix == ".toml"):
        return dict(how)
    if (
        "sensitive" in how and how["sensitive"] and "determined" not in how
    ):  # made-up columns are often functions of others
        how = {**how, "determined": how["sensitive"]}
    return {"public": others(table, how), **how}


def publish_openly(table: Any, out: Any = None, **how: Any) -> scumble.Release:
    """`scumble.publish` with every other column public."""
    return scumble.publish(table, out, **openly(table, how))


def plan_openly(table: Any, questions: Any = (), **how: Any) -> Any:
    """`scumble.plan` with every other column public."""
    return scumble.plan(table, questions, **openly(table, how))
