"""What a public manifest says that a promise follows from, and the promise.

Each mechanism has, beside its plan, a function `derive(facts) -> Terms`, in a module of its own: whoever opens a release loads no
plan. Plan and derivation make their terms by the same functions, so that a release promises what follows from it and nothing else. Numbers that no manifest can derive are those that a
publisher chose (rho1 and rho2, factors of single values): they are taken from what the manifest claims, and are in the terms where
they hold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, TypeVar

from scumble.core.channel import Channel, replacement_of
from scumble.core.coins import BaseCoins, Coins
from scumble.core.errors import ReleaseError
from scumble.privacy.guarantee import NOT_COVERED, Clause, Guarantee

if TYPE_CHECKING:
    from scumble.forms.records import FormRecord
    from scumble.forms.rows.record import SamplingRecord

R = TypeVar("R", bound="FormRecord")


@dataclass(frozen=True)
class Terms:
    """What a release promises: its guarantees, what they do not cover, and what its parameters tell of the data."""

    guarantees: list[Guarantee]
    not_covered: list[Clause]
    depends_on_data: list[Clause]

    @property
    def clauses(self) -> Iterator[Clause]:
        """All that is said beside the guarantees: what is not covered, and their conditions."""
        yield from self.not_covered
        for guarantee in self.guarantees:
            yield from guarantee.conditions


@dataclass(frozen=True)
class Facts:
    """The public side of a release."""

    mechanism: str
    rows: int
    roles: dict[str, str]
    """The role of each published column."""
    strata: Sequence[Mapping[str, BaseCoins]]
    """The coins of each perturbed column, for each stratum."""
    from_data: list[str]
    """Perturbed columns whose domain was taken from the data."""
    merged: bool
    """Whether values of public columns were put together."""
    row_by_row: bool
    """Whether each published row is one of the table's."""
    joint: list[str] | None
    """Columns that are kept together or replaced together."""
    sampling: "SamplingRecord | None"
    form: "FormRecord"
    """What the release looks like, with its numbers."""
    claims: list[Guarantee]
    """What the manifest claims: taken for the publisher's choices, never for what holds."""
    disclosed: list[Clause]
    """What the manifest claims to tell of the data."""

    @property
    def any_coins(self) -> Mapping[str, BaseCoins]:
        """The coins of each perturbed column, of whatever kind, where there is one stratum."""
        self.demand(len(self.strata) == 1, "one table, and the manifest has sub-tables")
        return self.strata[0]

    @property
    def coins(self) -> dict[str, Coins]:
        """Those that keep values or replace them, where there is one stratum."""
        self.demand(len(self.strata) == 1, "one table, and the manifest has sub-tables")
        return self.replacing[0]

    @property
    def replacing(self) -> list[dict[str, Coins]]:
        """Coins that keep values or replace them, for each stratum; refused where codes are published."""
        return [{name: self._replacing(coins) for name, coins in stratum.items()} for stratum in self.strata]

    def _replacing(self, coins: BaseCoins) -> Coins:
        self.demand(isinstance(coins, Coins), "values that are kept or replaced, and the manifest has codes")
        assert isinstance(coins, Coins)
        return coins

    @property
    def channels(self) -> list[dict[str, Channel]]:
        """The channels that keep values or replace them, for each stratum."""
        return [{name: replacement_of(coins.channel()) for name, coins in s.items()} for s in self.replacing]

    def named(self, role: str) -> list[str]:
        """The columns of a role."""
        return [name for name, own in self.roles.items() if own == role]

    def asked(self, kind: str) -> list[Guarantee]:
        """The claims of a kind, whose numbers the publisher chose; none of them twice."""
        guarantees: list[Guarantee] = []
        for claim in self.claims:
            if claim.kind == kind and claim not in guarantees:
                guarantees.append(claim)
        return guarantees

    def says(self, code: str) -> bool:
        """Whether the manifest claims that something was taken from the data that no manifest shows."""
        return any(clause.code == code for clause in self.disclosed)

    def demand(self, fits: bool, what: str) -> None:
        """Refuses a manifest whose form is not that of its mechanism."""
        if not fits:
            raise ReleaseError(
                f"the manifest names the mechanism {self.mechanism}, which has {what}; nothing follows from it, get the release again from its publisher"
            )

    def demand_rows(self, *, own: bool = False, shaped: bool = False) -> None:
        """Refuses a manifest that is not of rows with perturbed columns, or whose replacements are drawn otherwise."""
        coins = [coin for stratum in self.strata for coin in stratum.values()]
        self.demand(self.row_by_row, "rows, and the manifest has counts of tuples")
        self.demand(bool(coins), "perturbed columns, and the manifest has none")
        drawn = "values by given lots" if shaped else "the column's own values" if own else "all values alike"
        alike = all(coin.own == own and coin.shaped == shaped for coin in coins)
        self.demand(alike, f"{drawn} as replacements, and the manifest has others")

    def form_as(self, kind: type[R]) -> R:
        """The record of the form; refused where it is another one."""
        self.demand(isinstance(self.form, kind), "another form than the manifest")
        assert isinstance(self.form, kind)
        return self.form


def joint_factor(coins: Mapping[str, BaseCoins]) -> Fraction:
    """gamma of all columns together, exactly: coins are independent, so the factors multiply."""
    return prod((coin.amplification for coin in coins.values()), start=Fraction(1))


def of_rows(guarantees: list[Guarantee], depends_on_data: list[Clause]) -> Terms:
    """The terms of a mechanism that leaves open what any perturbed table does."""
    return Terms(guarantees, list(NOT_COVERED), depends_on_data)
