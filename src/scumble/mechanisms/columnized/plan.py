"""Columnization as a mechanism: a schema, at most c* of its columns for each tuple, and noisy counts in each at (epsilon / c*, delta / c*).

The schema is the publisher's, fixed without looking at the data; or it is computed from noisy correlations under a stated share of epsilon
(`noisy_schema`), and the columns get the rest. A table of rows has its columns as attributes; transactions (user, item, value) have the
items as attributes, and a user's transactions are one tuple.
"""

from typing import Any

from pydantic import Field, model_validator

from scumble.core.errors import ParameterError, SchemaError, did_you_mean
from scumble.core.parameters import number
from scumble.mechanisms.noisy_counts.plan import (
    NOT_COVERED,
    demand_epsilon_only,
    demand_published,
    dp_guarantee,
    given_total,
    of_total,
    practical,
)
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.suppression_odds import demand_epsilon
from scumble.privacy.guarantee import Guarantee
from scumble.spec.spec import Model, Number, Spec

APART = (
    "Semantic k-anonymity of all tables together: each table has it by itself, but it does not compose. Whoever knows a person's tuples in "
    "several tables may learn more."
)


class ColumnizedSettings(Model):
    """What columnization offers."""

    k: int | None = Field(
        None, description="no tuple that occurs fewer than k times in a table is ever published in it"
    )
    delta: Number | None = None
    c_star: int | None = Field(None, ge=1, description="in how many columns of the schema a tuple stays at most")
    schema_: list[list[Any]] | None = Field(None, alias="schema", description="the attributes of each column")
    columns: int | list[int] | None = Field(None, description="instead of a schema: how many columns to compute")
    schema_share: Number | None = Field(None, description="the share of epsilon that the computed schema may use")
    schema_ratings: int = Field(5, ge=1, description="how many ratings of a user the computed schema counts")
    user: str | None = Field(None, description="transactions: the column that says whose a transaction is")
    item: str | None = None
    value: str | None = None
    items: list[Any] | None = Field(None, description="transactions: all items there are, for a computed schema")
    total: int | None = Field(None, description="the number of tuples, where it is public knowledge anyway")

    @model_validator(mode="after")
    def _fits(self) -> "ColumnizedSettings":
        if (self.schema_ is None) == (self.columns is None):
            raise ValueError(
                "give the schema, or the number of columns to compute it from (and schema_share); one of them"
            )
        if (self.columns is None) != (self.schema_share is None):
            raise ValueError(
                "a schema that is computed from the data discloses it: say which share of epsilon it may use, "
                "such as schema_share = 0.2"
            )
        if (self.user is None) != (self.item is None):
            raise ValueError("transactions have a user and an item; name both columns")
        if self.user is None and (self.value is not None or self.items is not None):
            raise ValueError("value and items are for transactions; name the columns user and item too")
        if self.schema_ is not None and (not self.schema_ or not all(self.schema_)):
            raise ValueError("a schema has at least one column, and each column an attribute")
        return self

    @property
    def numbers(self) -> list[int]:
        """The numbers of columns of a computed schema."""
        return [self.columns] if isinstance(self.columns, int) else list(self.columns or ())

    @property
    def size(self) -> int:
        """How many columns the schema has."""
        return len(self.schema_) if self.schema_ is not None else sum(self.numbers)


def plan(profile: Profile, spec: Spec) -> Plan:
    """The matrix of one column, and the budget of all."""
    settings = spec.settings_as(ColumnizedSettings)
    epsilon = demand_epsilon(demand_epsilon_only(spec))
    published = demand_published(spec)
    _demand_roles(settings, spec)
    attributes = _attributes(settings, profile, published)
    parts = min(settings.c_star or settings.size, settings.size)
    share = number(settings.schema_share, "schema_share") if settings.schema_share is not None else 0.0
    if settings.schema_share is not None and not 0 < share < 1:
        raise ParameterError(f"schema_share is a part of epsilon and lies between 0 and 1, not {settings.schema_share}")
    rest = epsilon * (1 - share) / parts
    matrix = practical(
        spec, settings.k, rest, None if settings.delta is None else number(settings.delta, "delta") / parts
    )
    return Plan(
        "columnized",
        [{}],
        given_total(
            [_of_schema(dp_guarantee(attributes, matrix, parts, epsilon * share), settings, epsilon * share)],
            settings.total,
        ),
        of_total(settings.total),
        not_covered=[APART, *NOT_COVERED],
        details={"matrix": matrix, "c_star": parts, "epsilon_schema": epsilon * share, "settings": settings},
    )


def _of_schema(guarantee: Guarantee, settings: ColumnizedSettings, spent: float) -> Guarantee:
    told = (
        "The schema and the bound on the columns of a tuple were fixed without looking at the data."
        if settings.schema_ is not None
        else f"The schema was computed from the data, from counts with noise for epsilon = {spent:.6g}, which is part of the epsilon above."
    )
    return guarantee.model_copy(update={"conditions": [*guarantee.conditions, told]})


def _demand_roles(settings: ColumnizedSettings, spec: Spec) -> None:
    for role, name in (("user", settings.user), ("item", settings.item), ("value", settings.value)):
        if name is None:
            continue
        if name not in spec.columns:
            raise SchemaError(f"the {role} column {name!r} is not in the table{did_you_mean(name, spec.columns)}")
        if role != "user" and name not in spec.published:
            raise SchemaError(
                f"the {role} column {name!r} is {spec.columns[name].role}; transactions publish it, so make it public"
            )


def _attributes(settings: ColumnizedSettings, profile: Profile, published: list[str]) -> list[str]:
    """The published columns of the table: all of a schema's, or item and value."""
    if settings.user is not None:
        parts = [name for name in (settings.item, settings.value) if name is not None]
        beside = [name for name in published if name not in (settings.user, *parts)]
        if beside:
            raise SchemaError(
                f"transactions publish {' and '.join(parts)} alone; drop {beside[0]!r}, or make it part of the item"
            )
        return parts
    for number_, members in enumerate(settings.schema_ or (), 1):
        for name in members:
            if name not in published:
                raise SchemaError(
                    f"column {number_} of the schema names {name!r}, which is not published{did_you_mean(str(name), published)}"
                )
        if len(set(members)) != len(members):
            raise SchemaError(f"column {number_} of the schema names an attribute twice")
    bare = [name for name in published if name not in profile.domains or name in profile.from_data]
    if settings.columns is not None and bare:
        raise SchemaError(
            f"a schema under a budget needs noise on every pair of values that could occur, and {bare[0]!r} has no declared values; make it "
            "sensitive and declare them, or give the schema yourself"
        )
    used = {name for members in settings.schema_ or () for name in members}
    return [name for name in published if settings.schema_ is None or name in used]
