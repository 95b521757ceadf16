"""The record of boxes: how many rows of the table each stands for at least."""

from typing import Literal

from scumble.forms.records import FormRecord

SIZE, LOW, HIGH = "group_rows", "_low", "_high"
"""The column that says how many rows a group has, and what the names of the two ends of a range end with."""


class BoxesRecord(FormRecord):
    """Groups of rows, each published as a box with the perturbed value of one of them; its sides are columns with roles of their own."""

    kind: Literal["boxes"] = "boxes"
    k: int
