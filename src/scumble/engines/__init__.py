"""Engines: what runs a statement over published tables. One folder or file an engine, one line here.

An engine is a name of `ENGINES`, the address of a Spark, a class (or function) that opens one on named tables, or one that is open.
"""

import re
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from scumble.core.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from scumble.engines.engine import Engine, Opener, Tables

    Choice = str | Opener | Engine | None

ENGINES: dict[str, str] = {"duckdb": "scumble.engines.duckdb.engine:DuckDB"}
"""Where each is, imported when it is used."""

DEFAULT = "duckdb"

SPARK = "scumble.engines.spark.engine:Spark"
ADDRESS = re.compile(r"local(\[[0-9*,]+\])?|local-cluster\[[0-9,]+\]|(sc|spark)://.+")
"""A Spark: one that is started here, by its master, or a server that runs already."""


def open_engine(tables: "Tables", engine: "Choice" = None) -> "Engine":
    """An engine that knows these tables; one that is open has to know them already."""
    opened: Any = engine if _is_open(engine) else _opener(engine)(tables)
    return cast("Engine", opened)


def _is_open(engine: Any) -> bool:
    return hasattr(engine, "run") and not isinstance(engine, type)


def demand_engine(engine: "Choice") -> None:
    """Refuses what no engine can be opened by, before anything is asked."""
    if isinstance(engine, str) and engine not in ENGINES and not ADDRESS.fullmatch(engine):
        raise ParameterError(
            f"there is no engine {engine!r}{did_you_mean(engine, list(ENGINES))}, and a Spark is local[*], spark://HOST:PORT or sc://HOST:PORT"
        )
    if not (engine is None or isinstance(engine, str) or _is_open(engine) or callable(engine)):
        raise ParameterError(
            f"{engine!r} is no engine; give a name ({', '.join(ENGINES)}), or a class with its methods"
        )


def _opener(engine: Any) -> Any:
    demand_engine(engine)
    if callable(engine):
        return engine
    named = engine or DEFAULT
    module, _, made = ENGINES.get(named, SPARK).partition(":")
    opener = getattr(import_module(module), made)
    return opener if named in ENGINES else partial(opener, master=named)
