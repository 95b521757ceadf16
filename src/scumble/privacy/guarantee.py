"""A guarantee: a code with its parameters, and the codes of the conditions under which it holds. Its sentence: words.py."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from pydantic import BaseModel, ConfigDict, Field

from scumble.core.channel_base import BaseChannel
from scumble.privacy import words
from scumble.privacy.breach import product_limit
from scumble.privacy.numerals import upward
from scumble.privacy.rho import posterior_bound


class Clause(BaseModel):
    """A condition, something that is not covered, or something that was taken from the data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    parameters: dict[str, int | float | str | list[float]] = Field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """In words, for people; nothing is decided by them."""
        return words.sentence(self.code, self.parameters)


class Guarantee(BaseModel):
    """What holds, for which columns, with which numbers, and when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    columns: list[str]
    parameters: dict[str, float]
    conditions: list[Clause]
    bounds: list[list[float | None]] | None = None
    """Where values or sub-tables have bounds of their own: for each stratum a factor for each value, or one for all."""

    @property
    def statement(self) -> str:
        """In words, for people; nothing is decided by them."""
        return words.statement(self)

    def under(self, code: str) -> bool:
        """Whether it has a condition of that code."""
        return any(condition.code == code for condition in self.conditions)


def clauses(*codes: str) -> list[Clause]:
    """Clauses without parameters."""
    return [Clause(code=code) for code in codes]


ROUNDING = 1e-9
"""Relative slack with which a statement is checked: that is computed in floating point, the coins are not."""

CONDITIONS = clauses("one_row", "fresh_coins", "knows_all_others")
"""Of coins that are flipped for each row."""

NOT_COVERED = clauses("singling_out", "presence", "public_columns", "group")


def amplification(channels: Mapping[str, BaseChannel]) -> float:
    """The amplification of all columns together: coins are independent, so the factors multiply."""
    return math.prod(channel.amplification for channel in channels.values())


def amplification_guarantee(columns: Sequence[str], gamma: Fraction, kind: str = "amplification") -> Guarantee:
    """What coins of that factor give, whatever the columns' correlation."""
    bound = upward(gamma)
    return Guarantee(
        kind=kind,
        columns=list(columns),
        parameters={"gamma": bound, "epsilon": math.log(bound)},
        conditions=CONDITIONS,
    )


def memoised_guarantee(columns: Sequence[str], gamma: Fraction, fresh: Fraction) -> Guarantee:
    """What all releases together give, of a memoised response with that factor and a fresh one over it: docs/proofs/memoised.md."""
    bound = upward(gamma)
    return Guarantee(
        kind="memoised",
        columns=list(columns),
        parameters={"gamma": bound, "epsilon": math.log(bound), "fresh_gamma": upward(fresh)},
        conditions=clauses("one_row", "memoised_values", "knows_all_others"),
    )


def sampled_gamma(gamma: Fraction, k: int) -> Fraction:
    """The factor that is left where the published value is that of one row in k or more, drawn at random: 1 + (gamma - 1) / k."""
    return 1 + (gamma - 1) / k


SAMPLED = clauses("one_row", "once_by_draws", "believed_apart", "knows_all_others")


def sampled_amplification(column: str, channel: Fraction, k: int) -> Guarantee:
    """What a channel of that factor and the draw of one row of a group give together."""
    gamma = upward(sampled_gamma(channel, k))
    return Guarantee(
        kind="sampled_amplification",
        columns=[column],
        parameters={"gamma": gamma, "epsilon": math.log(gamma), "k": k, "channel_gamma": upward(channel)},
        conditions=SAMPLED,
    )


def sampled_rho(column: str, rho1: float, rho2: float, k: int) -> Guarantee:
    """The same as a bound for beliefs."""
    parameters = {"rho1": rho1, "rho2": rho2, "k": float(k)}
    return Guarantee(kind="sampled_rho", columns=[column], parameters=parameters, conditions=SAMPLED)


def rho_guarantee(columns: Sequence[str], rho1: float, rho2: float, *, alone: bool = False) -> Guarantee:
    """No prior up to rho1 becomes a posterior above rho2, nor the reverse.

    alone   whether the row has further sensitive columns, whose published values may tell of these too
    """
    return Guarantee(
        kind="rho",
        columns=list(columns),
        parameters={"rho1": rho1, "rho2": rho2},
        conditions=[*CONDITIONS, *clauses("alone")] if alone else CONDITIONS,
    )


BREACH = (0.1, 0.95)
"""The (rho1, rho2) of the breach guarantee where the publisher gave none: unlikely before, nearly certain after."""


def breach_guarantee(retentions: Mapping[str, float], gamma: float, rho1: float, rho2: float) -> Guarantee | None:
    """Which rare properties stay unlikely where a row is seen to have them, and whether that is more than the factor says; None where that can be said of none.

    A property of several columns is a set of values of each: of these all are meant, whatever the share of their values.

    retentions   the largest one of each column
    gamma        the factor of all columns together
    """
    s = product_limit(list(retentions.values()), rho1, rho2)
    if s == math.inf or not math.floor(1000 * s):
        return None
    return Guarantee(
        kind="product_breach" if len(retentions) > 1 else "breach",
        columns=list(retentions),
        parameters={"s": s, "rho1": rho1, "rho2": rho2, "by_factor": posterior_bound(gamma, rho1)},
        conditions=[*CONDITIONS, *clauses("seen_property")],
    )


def dependence_of_domains(from_data: Sequence[str]) -> list[Clause]:
    """What a domain that was taken from the data tells."""
    return [Clause(code="domain_from_data", parameters={"column": name}) for name in from_data]
