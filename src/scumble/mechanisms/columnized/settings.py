"""What a spec can say to this mechanism beyond the privacy target."""

from typing import Any

from pydantic import Field, model_validator

from scumble.spec.spec import Model, Number


class Settings(Model):
    """What columnization offers."""

    k: int | None = Field(
        None, description="no tuple that occurs fewer than k times in a table is ever published in it"
    )
    delta: Number | None = None
    c_star: int | None = Field(None, ge=1, description="in how many columns of the schema a tuple stays at most")
    schema_: list[list[Any]] | None = Field(None, alias="schema", description="the attributes of each column")
    columns: int | list[int] | None = Field(None, description="instead of a schema: how many columns to compute")
    schema_share: Number | None = Field(None, description="the share of epsilon that the computed schema may use")
    histogram_share: Number | None = Field(
        None, description="with c_star: the share of epsilon that counting the columns of tuples uses, 0.1 unless told"
    )
    schema_ratings: int = Field(5, ge=1, description="how many ratings of a user the computed schema counts")
    user: str | None = Field(None, description="transactions: the column that says whose a transaction is")
    item: str | None = None
    value: str | None = None
    items: list[Any] | None = Field(None, description="transactions: all items there are, for a computed schema")
    total: int | None = Field(None, description="the number of tuples, where it is public knowledge anyway")

    @model_validator(mode="after")
    def _fits(self) -> "Settings":
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
