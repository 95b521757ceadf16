"""The record of counted tuples: how they were counted, and how their attributes were divided into tables."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from scumble.forms.records import MANY, DomainRecord, FormRecord, Roles, TableRecord
from scumble.mechanisms.kept_columns import rungs
from scumble.spec.spec import Model

MOST = 10**9
"""Of k: more people than any table has."""
LEAST = 1e-100
"""Of an epsilon: its noise can still be computed with."""


COUNTED = 10**15
"""Of a noisy count, either way: more tuples than any table has."""

OF_PLACE = (
    "rows whose values all have a place in what was declared; others, if there are any, were left out before counting"
)


class Exact(Model):
    """Tuples that occur k times or more, as often as they occur."""

    kind: Literal["exact"] = "exact"
    k: int = Field(ge=1, le=MOST)


class Practical(Model):
    """Tuples that occur k times or more, with noise on their counts, or not at all."""

    kind: Literal["practical"] = "practical"
    k: int = Field(ge=1, le=MOST)
    epsilon: float = Field(ge=LEAST, le=MOST)
    delta: float = Field(gt=0, lt=1)


class Full(Model):
    """Every tuple of the domain, with noise on its count."""

    kind: Literal["full"] = "full"
    epsilon: float = Field(ge=LEAST, le=MOST)
    domains: dict[str, DomainRecord]


class Midpoints(Model):
    """Every row as a box that holds k rows or more; its sides are published as text."""

    kind: Literal["midpoints"] = "midpoints"
    k: int = Field(ge=1, le=MOST)


class Marginals(Model):
    """Of each table of the schema every tuple of the domains of its columns, with noise on its count."""

    kind: Literal["full_tables"] = "full_tables"
    epsilons: list[Annotated[float, Field(ge=LEAST, le=MOST)]]
    """Of each table."""
    domains: dict[str, DomainRecord]

    def of_table(self, place: int, columns: Sequence[str]) -> Full:
        """How one of the tables was counted."""
        return Full(epsilon=self.epsilons[place], domains={name: self.domains[name] for name in columns})


Counting = Annotated[Exact | Practical | Full | Midpoints | Marginals, Field(discriminator="kind")]


class KeptRecord(Model):
    """How many columns the tuples had that stayed in each table, counted with noise."""

    epsilon: float = Field(ge=LEAST, le=MOST)
    counts: list[list[Annotated[int, Field(ge=-COUNTED, le=COUNTED)]]]
    """For each table, for each number of columns that is told apart (mechanisms/kept_columns.py)."""


class SchemaRecord(Model):
    """How attributes were divided into tables that cannot be joined."""

    tables: list[TableRecord]
    schema_from: Literal["given", "budget"]
    c_star: int = Field(ge=1)
    """In how many of the tables a tuple stayed at most."""
    transactions: dict[str, str] | None = None
    """Which columns are the user, the item, the value and the pattern, where a tuple is all the transactions of a user."""
    kept: KeptRecord | None = None
    """Where tuples stayed in fewer tables than they had values in, what that took away; older releases do not say it."""

    @model_validator(mode="after")
    def _shaped(self) -> "SchemaRecord":
        if self.kept is not None:
            shape = [len(rungs(self.c_star, len(self.tables)))] * len(self.tables)
            if self.c_star >= len(self.tables) or [len(line) for line in self.kept.counts] != shape:
                raise ValueError("kept has a line for each table, with a count for each number of columns told apart")
        return self

    @property
    def capped(self) -> bool:
        """Whether a tuple may have values in more tables than it stayed in."""
        return self.c_star < len(self.tables)


class TuplesRecord(FormRecord):
    """Tuples with their counts."""

    kind: Literal["tuples"] = "tuples"
    ROLES: ClassVar[Roles] = {"counted": (1, MANY)}
    counting: Counting
    total: int | None = Field(None, ge=0)
    """The number of tuples, where the publisher stated it as public knowledge."""
    declared: dict[str, DomainRecord] | None = None
    """Of columns of numbers, where it was declared which values there can be: in suppressed rows, too."""
    schema_: SchemaRecord | None = Field(default=None, alias="schema")
    outside: Literal["left out"] | None = None
    """Whether rows were left out of which a value has no place in what was declared; absent where nothing could leave one out."""

    @model_validator(mode="after")
    def _apart(self) -> "TuplesRecord":
        if isinstance(self.counting, Marginals):
            _demand_marginals(self.counting, self.schema_)
        return self

    @property
    def every(self) -> bool:
        """Whether every tuple of declared domains was counted."""
        return isinstance(self.counting, Full | Marginals)

    def counting_of(self, place: int) -> "Exact | Practical | Full | Midpoints":
        """How the tuples of one of the tables were counted."""
        if isinstance(self.counting, Marginals):
            return self.counting.of_table(place, self.tables[place].attributes)
        return self.counting

    @property
    def k(self) -> int | None:
        """How often a published tuple is there at least, where there is such a number."""
        return None if isinstance(self.counting, Full | Marginals) else self.counting.k

    @property
    def tables(self) -> list[TableRecord]:
        """The columns of the schema."""
        return [] if self.schema_ is None else self.schema_.tables

    @property
    def table_names(self) -> list[str] | None:
        """Those of the columns of the schema, which are numbered."""
        kind = "marginal" if isinstance(self.counting, Marginals) else "column"
        return None if self.schema_ is None else [f"{kind}-{place:02d}" for place in range(1, len(self.tables) + 1)]

    @property
    def declared_domains(self) -> dict[str, DomainRecord]:
        """Those of a full count, and those that numbers were declared to have."""
        return {**(self.declared or {}), **(self.all_declared or {})}

    @property
    def all_declared(self) -> dict[str, DomainRecord] | None:
        """Each column has one where every tuple was counted."""
        return self.counting.domains if isinstance(self.counting, Full | Marginals) else None

    @property
    def on_word(self) -> list[str]:
        """How the schema came about, and what the number of rows is."""
        schema = self.schema_
        sentences = (
            [] if self.total is None else [f"that there are {self.total:,} tuples, and that this was public before"]
        )
        if isinstance(self.counting, Marginals):
            return [*sentences, "that marginals and domains were fixed without looking at the data"]
        if schema is None:
            return sentences
        cost = (
            "was fixed without looking at the data"
            if schema.schema_from == "given"
            else "cost the part of epsilon that is stated"
        )
        return [*sentences, f"that the schema {cost}, and that no tuple stayed in more than {schema.c_star} tables"]

    @property
    def counted_rows(self) -> str:
        """Those that have a place in what was declared; whether there are others is told to nobody."""
        return "" if self.outside is None else OF_PLACE

    @property
    def counted(self) -> str:
        """In marginals nothing is left out, and everything has noise."""
        return "in marginals, with noise on every count" if isinstance(self.counting, Marginals) else super().counted

    @property
    def unsaid(self) -> str:
        """Where domains were declared, that rows outside of them were left out."""
        return "that rows without a place were left out" if self.declared_domains and self.outside is None else ""

    def layout(self, columns: list[str], data: list[str]) -> list[tuple[list[str], list[str]]]:
        """The tables of the schema; of transactions each has all columns."""
        if self.schema_ is None:
            return [(columns, data)]
        return [(columns if self.transactions else list(table.attributes), table.files) for table in self.tables]

    @property
    def transactions(self) -> dict[str, str] | None:
        """The roles of transactions, where there are any."""
        return None if self.schema_ is None else self.schema_.transactions


def _demand_marginals(counting: Marginals, schema: SchemaRecord | None) -> None:
    """Each table has columns that have domains, none of them twice, and an epsilon; every tuple is in all tables."""
    if schema is None or schema.transactions or schema.schema_from != "given" or schema.c_star != len(schema.tables):
        raise ValueError("marginals are tables of a schema that was given, and every tuple is in all of them")
    if len(counting.epsilons) != len(schema.tables):
        raise ValueError("marginals have an epsilon for each table")
    for table in schema.tables:
        names = [name for name in table.attributes if isinstance(name, str)]
        if not names or len({*names}) != len(table.attributes) or not {*names} <= {*counting.domains}:
            raise ValueError("the columns of a marginal have domains, and none is in it twice")
