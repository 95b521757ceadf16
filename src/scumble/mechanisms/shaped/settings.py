"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Any, Literal

from pydantic import Field

from scumble.spec.spec import Model, Number


class Settings(Model):
    """What shaped offers beyond rho2 and gamma."""

    frequencies: dict[str, dict[str, Number]] = Field(
        {}, description="column -> value -> its share, from public knowledge; of the table when absent"
    )
    digits: int | None = Field(
        3, ge=1, le=15, description="shares of the table are rounded up to so many; null: not at all"
    )
    rho: dict[str, list[Any]] = Field({}, description="[rho1, rho2] of single values")
    objective: Literal["retention", "error"] = "retention"
    weights: Literal["alike", "frequency", "balanced", "relative"] | dict[str, Number] = "balanced"
    workload: list[list[Any]] = Field([], description="sets of values that will be counted")

    @property
    def single(self) -> str | None:
        """The setting that speaks of single values, and so of one column."""
        given = {"rho": self.rho, "weights": isinstance(self.weights, dict), "workload": self.workload}
        return next((name for name, value in given.items() if value), None)
