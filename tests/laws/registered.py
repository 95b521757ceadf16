"""All that is registered, and the toys, which are registered by one line each while the laws run."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from laws.examples import Example, example
from sqlglot import exp
from toys.aggregate import COUNT_IF

from scumble.engines import ENGINES as REGISTERED_ENGINES
from scumble.forms import FORMS as REGISTERED_FORMS
from scumble.mechanisms import REGISTRY, names
from scumble.query.aggregates import AGGREGATES
from scumble.sources import source

MECHANISMS = [*names(), "coin"]
FORMS = list(REGISTERED_FORMS)
ENGINES = [*(name for name in REGISTERED_ENGINES if name != "sqlite"), "sqlite"]
SOURCES = [*source.REGISTRY, "toys.source:ToySource"]

_FOLDER = TemporaryDirectory(prefix="scumble-laws-")


@contextmanager
def toys() -> Iterator[None]:
    """The toys are there, and are gone again afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(REGISTRY, "coin", "toys.mechanism")
        patch.setitem(REGISTERED_ENGINES, "sqlite", "toys.engine:SQLite")
        patch.setitem(AGGREGATES, exp.CountIf, COUNT_IF)
        patch.setattr(source, "REGISTRY", SOURCES)
        yield


@cache
def example_of(mechanism: str) -> Example:
    """The example of a mechanism, published once for all laws."""
    return example(mechanism, Path(_FOLDER.name))
