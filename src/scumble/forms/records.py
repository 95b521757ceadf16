"""Records that the manifest's columns and its forms share: domains, and the tables of a release that has several."""

from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from scumble.core.arrow_types import named_type
from scumble.core.domain import Categories, Domain, Grid
from scumble.core.errors import SchemaError
from scumble.core.scale import Scale, grid_of, scale
from scumble.spec.spec import Model

MANY = 1_000_000
"""Columns, more than any table has."""


Roles = Mapping[str, tuple[int, int]]


class FormRecord(Model):
    """What a manifest says of the form of a release; each form has its own, by its kind."""

    kind: str
    ROLES: ClassVar[Roles] = {}
    """How many columns of each role it has, at least and at most; it has no others."""
    WORDS_IN_ORDER: ClassVar[bool] = False
    """Whether files list the words of a perturbed column in the order of its domain."""

    @property
    def tables(self) -> list["TableRecord"]:
        """Its tables, where it has several; none where it has one without a name."""
        return []

    @property
    def declared_domains(self) -> "dict[str, DomainRecord]":
        """The domains of columns that were not perturbed."""
        return {}

    @property
    def all_declared(self) -> "dict[str, DomainRecord] | None":
        """Those of all columns, where each must have one."""
        return None

    @property
    def table_names(self) -> list[str] | None:
        """What its tables are called, where that is fixed."""
        return None

    @property
    def on_word(self) -> list[str]:
        """What is the publisher's word, because no release of this form can show it."""
        return []

    @property
    def counted_rows(self) -> str:
        """Which rows an answer is for, where these are not all of the table."""
        return ""

    @property
    def counted(self) -> str:
        """What became of a column whose values were counted."""
        return "as it is, in tuples that occur often"

    @property
    def unsaid(self) -> str:
        """What it leaves out and would say, had scumble written it; nothing where all is said."""
        return ""

    def layout(self, columns: list[str], data: list[str]) -> list[tuple[list[str], list[str]]]:
        """The columns and the files of each table."""
        return [(columns, data)]

    @property
    def rows_in(self) -> list[str] | None:
        """The files that have the rows, where not all data files do."""
        return None


class DomainRecord(Model):
    """A domain in JSON."""

    kind: Literal["categories", "grid"]
    values: list[Any] | None = None
    low: str | None = None
    high: str | None = None
    step: str | None = None
    from_data: bool = False
    type: str | None = None
    """The Arrow type of its values, where the column has codes and so a type of its own."""
    on_grid: Literal[True] | None = None
    """That every number of the table was a point of the grid, so that none was rounded."""
    missing: Literal[True] | None = None
    """That a missing value is one more, after the points of the grid."""

    @classmethod
    def of(cls, domain: Domain, from_data: bool, *, coded: bool = False) -> "DomainRecord":
        """The record of a domain; `coded` where the column is published as codes."""
        kind = str(domain.type) if coded else None
        if isinstance(domain, Grid | Scale):
            return cls(
                kind="grid",
                low=domain.low,
                high=domain.high,
                step=domain.step,
                from_data=from_data,
                type=kind,
                on_grid=True if domain.exact and grid_of(domain) is not None else None,
                missing=True if isinstance(domain, Scale) and domain.missing else None,
            )
        values = [_json_value(v) for v in domain.values.to_pylist()]
        return cls(kind="categories", values=values, from_data=from_data, type=kind)

    def domain(self, kind: str) -> Domain:
        """The domain itself, of values of that Arrow type, or of its own."""
        if not all(value is None or isinstance(value, str | int | float) for value in self.values or ()):
            raise SchemaError("a domain has texts, numbers and truth values, no lists or records")
        try:
            return self._made(named_type(self.type or kind))
        except (pa.ArrowException, ValueError, TypeError, ArithmeticError) as error:
            if isinstance(error, SchemaError):
                raise
            raise SchemaError(f"the values of a domain are none of the type {self.type or kind}") from None

    def _made(self, arrow: pa.DataType) -> Domain:
        if self.kind == "grid":
            return scale(self.low, self.high, self.step, arrow, missing=self.missing is True)
        if pa.types.is_date(arrow) or pa.types.is_timestamp(arrow) or pa.types.is_decimal(arrow):
            return Categories(pa.array(self.values, pa.string()).cast(arrow).to_pylist(), arrow)
        if pa.types.is_time(arrow):
            return Categories([v if v is None else time.fromisoformat(v) for v in self.values or []], arrow)
        return Categories(self.values or [], arrow)


class TableRecord(Model):
    """One of the tables of a release that has several: a column of its schema."""

    name: str
    attributes: list[Any]
    """Names of columns; of transactions, the items."""
    rows: int = Field(ge=0)
    files: list[str]


def _json_value(value: Any) -> Any:
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value
