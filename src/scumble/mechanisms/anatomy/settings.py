"""What a spec can say to this mechanism beyond the privacy target."""

from pydantic import Field

from scumble.spec.spec import Model


class Settings(Model):
    """What Anatomy offers."""

    diversity: int = Field(alias="l", description="how many different values a bucket has at least")
