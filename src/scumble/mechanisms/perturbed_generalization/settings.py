"""What a spec can say to this mechanism beyond the privacy target."""

from pydantic import Field

from scumble.spec.spec import Model


class Settings(Model):
    """What perturbed generalization offers beyond the target."""

    k: int = Field(ge=2, description="how many rows a group has at least")
