"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Literal

from pydantic import Field

from scumble.spec.spec import Model


class Settings(Model):
    """What deterministic generalization and suppression offers."""

    k: int = Field(description="the size of a crowd")
    method: Literal["suppress", "midpoints"] = "suppress"
    total: int | None = Field(None, description="the number of rows, where it is public knowledge anyway")
