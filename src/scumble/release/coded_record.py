"""What the records of channels have in common that publish codes in the place of values."""

from typing import TYPE_CHECKING, ClassVar

from scumble.core.coins import BaseCoins
from scumble.spec.spec import Model


class CodedRecord(Model):
    """A channel whose codes stand for sets of values, every value alike. Its fields are its own: their order is that of the manifest."""

    own: ClassVar[bool] = False
    even: ClassVar[bool] = True
    lots: ClassVar[None] = None
    members: ClassVar[None] = None
    stages: ClassVar[None] = None

    if TYPE_CHECKING:
        size: int  # a field of each, in its own place

    def coins(self, domain_size: int) -> BaseCoins:
        """The coins that it says were flipped."""
        raise NotImplementedError

    @property
    def kept(self) -> list[float]:
        """How probably a code stands for the true value, or for its place."""
        return [float(share) for share in self.coins(self.size).kept]
