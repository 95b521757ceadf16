"""The record of a set of tuples, some of the table's and some made up."""

from typing import Literal

from scumble.forms.records import DomainRecord, FormRecord


class TupleSetRecord(FormRecord):
    """A tuple of the table is published with probability alpha + beta, any other one of the domains with beta."""

    kind: Literal["tuple_set"] = "tuple_set"
    alpha: float
    beta: float
    domains: dict[str, DomainRecord]
