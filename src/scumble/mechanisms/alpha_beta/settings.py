"""What a spec can say to this mechanism beyond the privacy target."""

from pydantic import Field

from scumble.spec.spec import Model, Number


class Settings(Model):
    """What the (alpha, beta) algorithm offers beyond rho1 and rho2."""

    kept: Number = Field("1/2", description="the share alpha + beta of the table's tuples that is published")
