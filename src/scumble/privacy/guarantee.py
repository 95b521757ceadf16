"""A guarantee: a statement that was proved, with its parameters and the conditions under which it holds."""

import math
from collections.abc import Sequence
from fractions import Fraction

from pydantic import BaseModel, ConfigDict

from scumble.core.channel import Channel
from scumble.core.errors import InternalError
from scumble.core.parameters import plain
from scumble.privacy.breach import product_limit
from scumble.privacy.rho import posterior_bound


class Guarantee(BaseModel):
    """What holds, for which columns, with which numbers, and when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    columns: list[str]
    statement: str
    parameters: dict[str, float]
    conditions: list[str]
    bounds: list[list[float | None]] | None = None
    """Where values or sub-tables have bounds of their own: for each stratum a factor for each value, or one for all."""


ROUNDING = 1e-9
"""Relative slack with which a statement is checked: that is computed in floating point, the coins are not."""

CONDITIONS = [
    "Each person is one row of the table.",
    "The same person is not published again with fresh coins; repeated publication uses a key.",
    "The attacker may know the manifest, the public columns, the coins' probabilities and every other row.",
]

KEYED = (
    "Coins are keyed, so that the same person with the same value keeps the same published value in every release of the same domain and "
    "retention (another one counts as one more look). Two different published values of a person prove that the value, too, is another one."
)
"""Stands in the place of the second condition where coins come from a key."""

NOT_COVERED = [
    "Singling out: public columns are published as they are, so a row can be recognised by them.",
    "Presence: whoever recognises a row knows that the person is in the table.",
    "What public columns tell: where one of them depends on a sensitive column, it tells of it whatever the coins do.",
    "What holds for a group: statistics are meant to be learnt, and may tell about members of the group.",
]


def amplification(channels: dict[str, Channel]) -> float:
    """The amplification of all columns together: coins are independent, so the factors multiply."""
    return math.prod(channel.amplification for channel in channels.values())


def joint_amplification(channels: Sequence[Channel]) -> float:
    """That of columns that are kept together or replaced together, from their channels apart: one retention, M = product of the sizes."""
    if len({channel.retain for channel in channels}) != 1:
        return math.inf
    return float(Channel(channels[0].retain, size=math.prod(channel.size for channel in channels)).amplification)


def amplification_guarantee(channels: dict[str, Channel]) -> Guarantee:
    """What the channels give jointly, whatever the columns' correlation."""
    gamma = amplification(channels)
    if math.isinf(gamma):
        raise InternalError("an unbounded amplification guarantees nothing")
    columns = " and ".join(channels)
    return Guarantee(
        kind="amplification",
        columns=list(channels),
        statement=f"Seeing the published {columns} of a row changes the odds of anything about the true {columns} by a factor of at most {at_most(gamma)} "
        f"(local differential privacy with epsilon = {at_most(math.log(gamma))}), beyond what the public columns tell.",
        parameters={"gamma": gamma, "epsilon": math.log(gamma)},
        conditions=CONDITIONS,
    )


def sampled_gamma(gamma: float, k: float) -> float:
    """The factor that is left where the published value is that of one row in k or more, drawn at random: 1 + (gamma - 1) / k."""
    return 1 + (gamma - 1) / k


SAMPLED = [
    CONDITIONS[0],
    "The table is published once: another publication draws other rows and flips other coins, and the two together tell more.",
    "The attacker knows every other row, or what is believed of the person does not hang together with what is believed of the others in the group: "
    "where all of them have the same value, whoever knows that learns it from one published row as far as the channel alone allows.",
    CONDITIONS[2],
]


def sampled_amplification(column: str, channel: Channel, k: int) -> Guarantee:
    """What a channel and the draw of one row of a group give together."""
    gamma = sampled_gamma(channel.amplification, k)
    return Guarantee(
        kind="sampled_amplification",
        columns=[column],
        statement=f"Seeing the release changes the odds of anything about a person's true {column} by a factor of at most {at_most(gamma)} (epsilon = "
        f"{at_most(math.log(gamma))}), beyond what the public columns tell, for whoever holds what is believed of a person apart from what is believed of others: "
        f"a published value is a perturbed one, of one row in {k} or more. Of a group that is known to have one value the odds change by up to {at_most(channel.amplification)}.",
        parameters={"gamma": gamma, "epsilon": math.log(gamma), "k": float(k), "channel_gamma": channel.amplification},
        conditions=SAMPLED,
    )


def sampled_rho(column: str, rho1: float, rho2: float, k: int) -> Guarantee:
    """The same as a bound for beliefs."""
    return Guarantee(
        kind="sampled_rho",
        columns=[column],
        statement=f"Whatever about a person's {column} was believed with probability at most {as_given(rho1)}, apart from what was believed of others, is believed with at most "
        f"{as_given(rho2)} after seeing the release; and what was believed with more than {as_given(rho2)} is still believed with at least {as_given(rho1)}.",
        parameters={"rho1": rho1, "rho2": rho2, "k": float(k)},
        conditions=SAMPLED,
    )


def rho_guarantee(channels: dict[str, Channel], rho1: float, rho2: float, *, alone: bool = False) -> Guarantee:
    """No prior up to rho1 becomes a posterior above rho2, nor the reverse.

    alone   whether the row has further sensitive columns, whose published values may tell of these too
    """
    columns = " and ".join(channels)
    seeing = f"the published {columns}" + (" alone" if alone else "")
    return Guarantee(
        kind="rho",
        columns=list(channels),
        statement=f"Whatever about the row's {columns} was believed with probability at most {as_given(rho1)} is believed with at most {as_given(rho2)} "
        f"after seeing {seeing}; and what was believed with more than {as_given(rho2)} is still believed with at least {as_given(rho1)}.",
        parameters={"rho1": rho1, "rho2": rho2},
        conditions=[*CONDITIONS, ALONE] if alone else CONDITIONS,
    )


ALONE = (
    "Where a promise is about one perturbed column alone, the others of the row are not used; for whoever uses them, the factor that is stated for all columns "
    "together holds."
)


def at_most(value: float) -> str:
    """A number in six digits, rounded up: a bound that is printed must hold.

    >>> at_most(2.4), at_most(1.00000049), at_most(1234567.2)
    ('2.4', '1.00001', '1,234,570')
    """
    short = float(f"{value:.6g}")
    if short < value and value != 0:
        short = float(f"{short + 10.0 ** (math.floor(math.log10(abs(value))) - 5):.6g}")
    return plain(short)


def at_most_share(value: float) -> str:
    """A share as the fraction that it is, where that is a short one; else rounded up.

    >>> at_most_share(1 / 3), at_most_share(0.5), at_most_share(0.31415926)
    ('1/3', '1/2', '0.31416')
    """
    near = Fraction(value).limit_denominator(1000)
    return str(near) if float(near) == value else at_most(value)


def as_given(value: float) -> str:
    """A probability as a publisher gives it: a short decimal, or the fraction that it is; else six digits.

    >>> as_given(0.1), as_given(1 / 13), as_given(0.123456789)
    ('0.1', '1/13', '0.123457')
    """
    if float(f"{value:.4g}") == value:
        return plain(value, 4)
    near = Fraction(value).limit_denominator(1000)
    return str(near) if float(near) == value else plain(value)


BREACH = (0.1, 0.95)
"""The (rho1, rho2) of the breach guarantee where the publisher gave none: unlikely before, nearly certain after."""


def breach_guarantee(channels: dict[str, Channel], rho1: float, rho2: float) -> Guarantee | None:
    """Which rare properties stay unlikely where a row is seen to have them, and whether that is more than the factor says; None where that can be said of none.

    A property of several columns is a set of values of each: of these all are meant, whatever the share of their values.
    """
    s = product_limit([float(channel.retention.max()) for channel in channels.values()], rho1, rho2)
    stated = math.floor(1000 * s) / 1000 if s < math.inf else 0.0
    if not stated:
        return None
    columns, by_factor = " and ".join(channels), posterior_bound(amplification(channels), rho1)
    several = " (a set of values of each of them, such as a range)" if len(channels) > 1 else ""
    same = math.isclose(by_factor, rho2, rel_tol=1e-5)
    reached = as_given(rho2) if same else at_most(by_factor)
    binds = (
        f"The factor above is the stronger promise: by it such a belief becomes at most {reached}, whatever the property."
        if by_factor <= rho2 * (1 + ROUNDING)
        else f"For such a property this is the stronger promise: by the factor above alone the belief could become {at_most(by_factor)}."
    )
    return Guarantee(
        kind="product_breach" if several else "breach",
        columns=list(channels),
        statement=f"A property of the row's {columns}{several} that was at most {plain(stated)} times as likely as its share of the replacements, and believed "
        f"with at most {as_given(rho1)}, is believed with less than {as_given(rho2)} after seeing that the published row has it. {binds}",
        parameters={"s": s, "rho1": rho1, "rho2": rho2},
        conditions=[
            *CONDITIONS,
            "What is promised of properties that are likelier than among the replacements is about seeing that the published row has the property, not which value it has; "
            "the factor holds for that too.",
        ],
    )


def dependence_of_domains(from_data: list[str]) -> list[str]:
    """What a domain that was taken from the data tells."""
    return [
        f"The domain of {name!r} was taken from the data: each of its values was somebody's, and no other value occurred."
        for name in from_data
    ]
