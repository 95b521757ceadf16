"""The record of boxes: how many rows of the table each stands for at least."""

from typing import ClassVar, Literal

from pydantic import Field

from scumble.forms.records import MANY, FormRecord, Roles

SIZE, LOW, HIGH = "group_rows", "_low", "_high"
"""The column that says how many rows a group has, and what the names of the two ends of a range end with."""


class BoxesRecord(FormRecord):
    """Groups of rows, each published as a box with the perturbed value of one of them; its sides are columns with roles of their own."""

    kind: Literal["boxes"] = "boxes"
    ROLES: ClassVar[Roles] = {
        "low": (0, MANY),
        "high": (0, MANY),
        "set": (0, MANY),
        "size": (1, 1),
        "sensitive": (1, 1),
    }
    k: int = Field(ge=1)
