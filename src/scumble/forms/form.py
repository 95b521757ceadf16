"""What a form is to a question: a module that says which columns may be named, and answers."""

from collections.abc import MutableMapping, Sequence
from typing import Any, Protocol

from scumble.core.errors import ParameterError
from scumble.engines.engine import Engine
from scumble.query.ask import Answer
from scumble.query.compile import Published
from scumble.query.parse import Query


class Opened(Protocol):
    """What a form asks of a release."""

    @property
    def manifest(self) -> Any:
        """All that is public about it."""

    @property
    def published(self) -> Published:
        """What is known of published rows."""

    @property
    def engine(self) -> Engine:
        """What runs statements over its tables."""

    @property
    def prepared(self) -> MutableMapping[str, Any]:
        """What a form made of the tables for earlier questions."""


class Form(Protocol):
    """How releases that look alike are asked."""

    @property
    def BESIDE(self) -> Sequence[str]:  # noqa: N802, a constant of a module
        """What the names of the columns that an answer has beside each aggregate end in."""

    def columns(self, release: Opened) -> list[str]:
        """The columns that a question may name."""

    def answer(self, release: Opened, query: Query, level: Any, method: str) -> Answer:
        """The answer to a question that is put in published values."""


PART = "release {}"
"""The name under which an engine knows one of several tables of a release."""


def demand_unbiased(method: str, what: str) -> None:
    """Refuses other methods, where a form has one."""
    if method != "unbiased":
        raise ParameterError(f"a release of {what} is asked by the method unbiased, not by {method!r}")
