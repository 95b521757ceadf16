"""The coins of a column by a cyclic design, or by uniform replacement where no design is more exact: for mechanisms that publish codes."""

from collections.abc import Iterator

from scumble.core.channel import Channel
from scumble.core.coins import BaseCoins, Coins
from scumble.core.design import Design
from scumble.core.design_coins import DesignCoins
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import plain
from scumble.mechanisms.sharing import UNPROTECTED

MOST_VALUES = 1 << 18
"""Values of a column, at most."""


def design_coins(name: str, size: int, gamma: float) -> BaseCoins:
    """The coins of a column of so many values at its gamma."""
    if size < 2:
        raise SchemaError(f"the domain of {name!r} has {size} value(s); a sensitive column needs at least 2")
    if size > MOST_VALUES:
        raise ParameterError(
            f"a design is for up to {MOST_VALUES:,} values, and {name!r} has {size:,}; use a wider step, or merge values"
        )
    design = Design(size, gamma)
    return Coins.of(Channel.from_gamma(size, gamma)) if design.uniform else DesignCoins.of(design)


def unprotected(name: str, coins: BaseCoins) -> Iterator[str]:
    """A warning where a column is hardly protected."""
    if coins.amplification > UNPROTECTED:
        factor = plain(float(coins.amplification), 3)
        yield f"{name!r} is hardly protected: what is published makes a value {factor} times as likely as another"
