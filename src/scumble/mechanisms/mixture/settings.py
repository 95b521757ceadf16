"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Any, Literal

from pydantic import Field, field_validator

from scumble.spec.spec import Model

Kind = Literal["sum", "range", "point"]

BALANCED: list[Kind] = ["sum", "range", "point"]


class Settings(Model):
    """What mixture offers beyond its target."""

    asked: list[Kind] | dict[str, list[Kind]] = Field(
        BALANCED,
        description="what will be asked: sums and averages, counts of ranges, counts of single numbers; for all columns, or column -> list",
    )

    @field_validator("asked", mode="before")
    @classmethod
    def _in_lists(cls, asked: Any) -> Any:
        """One word is a list of one."""
        if isinstance(asked, dict):
            return {name: cls._in_lists(kinds) for name, kinds in asked.items()}
        return [asked] if isinstance(asked, str) else asked

    def of(self, column: str) -> tuple[Kind, ...]:
        """What is asked of a column."""
        return tuple(self.asked if isinstance(self.asked, list) else self.asked.get(column, BALANCED))
