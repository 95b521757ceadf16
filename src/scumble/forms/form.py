"""What a form is: one declaration, from which questions, checks, the README, attacks and reports take what they need.

A form is a folder with a `FORM` and one line in the registry of `forms/__init__.py`. What answers and checks is loaded when it is used.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from scumble.core.errors import ParameterError
from scumble.engines.engine import Engine
from scumble.forms.records import DomainRecord, FormRecord
from scumble.query.compile import Published
from scumble.query.form_answer import Answer
from scumble.query.model import BESIDE, Query

if TYPE_CHECKING:
    from scumble.forms.rows.record import SamplingRecord
    from scumble.release.manifest import Manifest


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
    def prepared(self) -> MutableMapping[Any, Any]:
        """What a form made of the tables for earlier questions."""


Check = tuple[str, bool, str]
"""The name of something that was looked at, whether it is in order, and what was found."""


@dataclass(frozen=True)
class View:
    """What attacks, reports and evaluations ask of a release instead of what it is called."""

    row_by_row: bool = False
    """Each published row is the row of one person, whose sensitive values went through coins."""
    sampling: "SamplingRecord | None" = None
    """How groups were sampled, where they were."""
    joint: Sequence[str] = ()
    """Columns that are kept together or replaced together."""
    k: int = 1
    """How many people stand behind each published row at least."""
    suppressed: bool = False
    """Rare rows were left out, so that the table has rows that no interval is about."""
    made_up: bool = False
    """Some rows are nobody's."""
    ranges: bool = False
    """Values are published as ranges in words, so that the raw table cannot be laid beside them."""
    looked_up: bool = False
    """Whoever knows the other columns of a person reads the sensitive one off the rows that agree."""
    people: Sequence[str | None] = (None,)
    """The tables whose rows stand for people; the one without a name is the only one."""
    invented: frozenset[str] = frozenset()
    """Columns that the table does not have."""
    domains: Mapping[str, DomainRecord] = field(default_factory=dict)
    """The domains of columns that were not perturbed, where they are declared."""


@dataclass(frozen=True)
class Form:
    """What a release looks like: how it is asked, checked, described and attacked."""

    name: str
    record: type[FormRecord]
    """What the manifest says of it."""
    columns: Callable[[Opened], list[str]]
    """The columns that a question may name."""
    answer: Callable[[Opened, Query, Any, str], Answer]
    """The answer to a question that is put in published values, at a level, by a method."""
    checks: "Callable[[Path, Manifest], list[Check]]"
    """What the files are held to."""
    place: "Callable[[Manifest], str]"
    """Where the rows are, for the README."""
    howto: "Callable[[Manifest], str]"
    """How to compute with them by hand, for the README."""
    view: "Callable[[Manifest], View]"
    explored: "Callable[[Manifest], dict[str, Any]] | None" = None
    """What the explore page has to know to answer questions; None where it only says how to ask."""
    beside: Sequence[str] = BESIDE
    """What the names of the columns that an answer has beside each aggregate end in."""


PART = "release {}"
"""The name under which an engine knows one of several tables of a release."""


def demand_unbiased(method: str, what: str) -> None:
    """Refuses other methods, where a form has one."""
    if method != "unbiased":
        raise ParameterError(f"a release of {what} is asked by the method unbiased, not by {method!r}")
