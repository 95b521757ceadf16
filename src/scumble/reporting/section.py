"""A section of the page: its anchor, its heading, and what its template fills in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """Filled into the template of the same name as its anchor; one that does not apply says why."""

    anchor: str
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    why_not: str = ""
    """Where the section does not apply to the release: the reason, which stands in its place."""
