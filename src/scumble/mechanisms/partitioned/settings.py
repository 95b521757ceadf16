"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Any, Literal

from pydantic import Field

from scumble.spec.spec import Model, Number


class Settings(Model):
    """What partitioned offers beyond rho1 and rho2."""

    delta: Number = 0.05
    protected: list[Any] | None = None
    together: list[list[Any]] = Field([], description="sets of values that say something even together")
    inside: Literal["uniform", "fine_grain"] = "uniform"
    objective: Literal["records", "error"] = "error"
