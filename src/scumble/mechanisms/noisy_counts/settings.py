"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Literal

from pydantic import Field

from scumble.spec.spec import Model, Number


class Settings(Model):
    """What noisy counts offer."""

    matrix: Literal["practical", "full"] = "practical"
    k: int | None = Field(None, description="no tuple that occurs fewer than k times is ever published")
    delta: Number | None = Field(None, description="the probability with which epsilon may not hold")
    total: int | None = Field(None, description="the number of rows, where it is public knowledge anyway")
