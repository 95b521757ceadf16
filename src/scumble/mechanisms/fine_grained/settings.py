"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Any, Literal

from pydantic import Field

from scumble.spec.spec import Model, Number


class Settings(Model):
    """What fine_grain offers beyond the privacy target."""

    theta: Number | None = None
    floor: Number = 0
    breaches: Literal["upward", "both"] = "upward"
    objective: Literal["records", "error"] = "records"
    weights: Literal["frequency", "alike"] | dict[str, Number] = "frequency"
    scores: dict[str, Number] = Field({}, description="how sensitive a value is: 2 halves its budget, 0 needs none")
    rho: dict[str, list[Any]] = Field({}, description="[rho1, rho2] of single values, or several such pairs")

    @property
    def single(self) -> str | None:
        """The setting that speaks of single values, and so of one column."""
        given = {"scores": self.scores, "rho": self.rho, "weights": isinstance(self.weights, dict)}
        return next((name for name, value in given.items() if value), None)
