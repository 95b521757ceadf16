"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Annotated, Literal

from pydantic import Field

from scumble.spec.spec import Model

MOST_CELLS = 10_000
"""Combinations of a pair of columns, up to which it is counted where no marginals are named."""


class Settings(Model):
    """Which marginals are counted, and how they share epsilon."""

    marginals: Annotated[list[Annotated[list[str], Field(min_length=1)]], Field(min_length=1)] | None = Field(
        None, description="which columns are counted together; all pairs of columns when absent"
    )
    most_cells: int = Field(
        MOST_CELLS, ge=4, description="without marginals: pairs with more combinations of values are left out"
    )
    split: Literal["cells", "equal"] = Field(
        "cells", description="how epsilon is shared: for the least variance over all cells, or alike"
    )
