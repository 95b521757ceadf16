"""The record of published rows: how they were sampled, and which columns were replaced together."""

from typing import ClassVar, Literal

from pydantic import Field

from scumble.forms.records import MANY, FormRecord, Roles
from scumble.spec.spec import Model


class SamplingRecord(Model):
    """How many records of a personal group were published at most, and from what that was computed."""

    sizes: Literal["one", "ladder", "paper"]
    lam: float
    delta: float
    tail: Literal["exact", "chernoff"]
    least: int = Field(ge=1, description="the sample size for groups of a single value, the smallest of all")
    ladder: list[float] | None = None


class RowsRecord(FormRecord):
    """Rows, of which some columns were perturbed. Sub-tables, weights and copies are columns of their own."""

    kind: Literal["rows"] = "rows"
    ROLES: ClassVar[Roles] = {
        "public": (0, MANY),
        "sensitive": (1, MANY),
        "stratum": (0, 1),
        "weight": (0, 1),
        "copies": (0, 1),
    }
    WORDS_IN_ORDER: ClassVar[bool] = True
    sampling: SamplingRecord | None = None
    joint: list[str] | None = None
    """Columns that are kept together or replaced together; their channels are those of each by itself."""

    @property
    def on_word(self) -> list[str]:
        """Values that were put together look like any others."""
        return (
            [] if self.sampling is None else ["that no values of public columns were merged but those that are listed"]
        )
