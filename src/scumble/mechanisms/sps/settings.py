"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Literal

from pydantic import Field, model_validator

from scumble.core.parameters import number
from scumble.spec.spec import Model, Number

Sizes = Literal["one", "ladder", "paper"]


class Settings(Model):
    """What `settings` of a spec may say."""

    lam: Number = Field(0.3, alias="lambda", description="an estimate within this share of the truth is too good")
    delta: Number = Field(0.1, description="either tail of the estimate's error must be at least this probable")
    tail: Literal["exact", "chernoff"] | None = Field(
        None, description="exact when absent; for the paper's sizes chernoff"
    )
    sizes: Sizes = "one"
    duplicates: bool = Field(False, description="scale the sample back by duplicates, instead of a weight")
    generalize: bool | list[str] = Field(
        False, description="merge public values that the sensitive one does not tell apart"
    )
    significance: Number = 0.05
    merging: Literal["connected", "agglomerative"] = Field(
        "connected",
        description="which of these become one: all that are linked, or the pair that differs least, again and again",
    )

    @model_validator(mode="after")
    def _levels(self) -> "Settings":
        for name, value in (("delta", self.delta), ("significance", self.significance)):
            if not 0 < number(value, name) < 1:
                raise ValueError(f"{name} must lie between 0 and 1, without the ends, not {value}")
        return self
