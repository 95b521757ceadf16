"""The record of a set of tuples, some of the table's and some made up."""

from typing import ClassVar, Literal

from pydantic import Field

from scumble.forms.records import MANY, DomainRecord, FormRecord, Roles


class TupleSetRecord(FormRecord):
    """A tuple of the table is published with probability alpha + beta, any other one of the domains with beta."""

    kind: Literal["tuple_set"] = "tuple_set"
    ROLES: ClassVar[Roles] = {"tuple": (1, MANY)}
    alpha: float = Field(ge=0, le=1)
    beta: float = Field(gt=0, le=1)
    domains: dict[str, DomainRecord]

    @property
    def declared_domains(self) -> dict[str, DomainRecord]:
        """Those of all columns."""
        return self.domains

    @property
    def all_declared(self) -> dict[str, DomainRecord] | None:
        """Each column has one."""
        return self.domains
