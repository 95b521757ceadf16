"""What the explore page is given beside the manifest: how columns are stored, and sentences that questions to them need.

All of it follows from the manifest, so that `verify` makes it anew. The page itself, and what reads and estimates in it, is in web/.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
from sqlglot import exp

from scumble.core.arrow_types import is_number, is_text, named_type
from scumble.core.domain import Domain, Grid
from scumble.core.errors import SchemaError
from scumble.engines.sql import named
from scumble.forms.form import View
from scumble.mechanisms import find_mechanism
from scumble.query.aggregates.aggregation import Aggregation
from scumble.query.aggregates.avg import AVG
from scumble.query.aggregates.sum import SUM
from scumble.query.coarse import notes_of
from scumble.query.merged import notes_of_sums
from scumble.query.model import Aggregate, Query
from scumble.query.rewrites import Recoding
from scumble.release.describe import published
from scumble.release.manifest import Manifest
from scumble.release.recoding import recoding_of
from scumble.release.records import ColumnRecord
from scumble.spec.steps import shown

SAFE = 2**53 - 1
"""The largest whole number that a page can count with."""
MOST_VALUES = 200_000
"""Values of a domain up to which a page handles its column."""
SUMS: dict[str, Aggregation] = {"sum": SUM, "avg": AVG}


def facts_of(manifest: Manifest) -> dict[str, Any]:
    """What the page is given, as JSON has it."""
    recoding, view = recoding_of(manifest), manifest.view
    return {
        "columns": [_column(column, recoding) for column in manifest.columns],
        "published": _published(manifest, view),
        "words": find_mechanism(manifest.mechanism).words.plain,
        "notes": _notes(manifest),
    }


def _published(manifest: Manifest, view: View) -> dict[str, Any]:
    """What is public about rows, beside their columns."""
    roles = {role: name for role in ("stratum", "weight", "copies") if (name := manifest.role(role)) is not None}
    if view.sampling is not None:
        roles["sample"] = view.sampling.least
    if any(record.own for column in manifest.columns for record in column.records):
        permuted = find_mechanism(manifest.mechanism).traits.permuted
        roles |= {"whole": manifest.rows, "permuted": permuted}
    return roles


def _notes(manifest: Manifest) -> list[str]:
    """What belongs to every answer."""
    persons = manifest.persons
    capped = persons is not None and persons.how == "capped"
    return [f"this is the answer for {persons.answers_for}"] if persons is not None and capped else []


def _column(column: ColumnRecord, recoding: Recoding) -> dict[str, Any]:
    name = column.name
    facts: dict[str, Any] = {"sql": named(name), "became": published(column), **kind_of(column.type)}
    if column.domain is not None:
        facts |= _of_domain(column)
    if (reach := recoding.reaches.get(name, 0.0)) > 0:
        facts |= {"reach": reach, "reach_text": shown(reach)}
    if (spread := recoding.spreads.get(name)) is not None:
        facts["spread"] = {"reach": spread.reach, "further": [list(pair) for pair in spread.further]}
    facts |= {key: said for key, said in _sentences(name, recoding).items() if said}
    return facts


def _sentences(name: str, recoding: Recoding) -> dict[str, Any]:
    """What to know of a column that was coarsened or merged, when it is asked about, added up or averaged."""
    coarse = {name: recoding.coarse[name]} if name in recoding.coarse else {}
    own = coarse[name] if coarse else None
    said: dict[str, Any] = {}
    if own is not None and own.steps is not None:
        said["steps"] = own.sentence
        said["coarse"] = {kind: notes_of(_summing(name, how), coarse)[0] for kind, how in SUMS.items()}
        said["coarse"] = said["coarse"] if not own.steps.dated else None
    if name in recoding.ends:
        said["merged_sums"] = {
            kind: notes_of_sums(_summing(name, how), recoding.ends)[0] for kind, how in SUMS.items()
        }
    return said


def _summing(name: str, how: Aggregation) -> Query:
    """The question for the sum, or the average, of a column."""
    return Query([Aggregate("a", how, exp.column(name, quoted=True))], [], None, [], None, 0)


def kind_of(type_name: str) -> dict[str, Any]:
    """How values of a type are stored in Parquet, for what reads them; nothing for types that a page cannot show."""
    try:
        kind = named_type(type_name)
    except SchemaError:
        return {}
    if pa.types.is_decimal(kind):
        return {"kind": "decimal", "scale": kind.scale}
    if pa.types.is_timestamp(kind):
        return {"kind": "moment", "unit": kind.unit, **({"zone": True} if kind.tz else {})}
    if pa.types.is_time(kind):
        return {"kind": "time", "unit": kind.unit}
    simple = next((word for word, of in SIMPLE.items() if of(kind)), None)
    return {} if simple is None else {"kind": simple}


SIMPLE: Mapping[str, Any] = {
    "text": is_text,
    "truth": pa.types.is_boolean,
    "uint32": lambda kind: kind == pa.uint32(),
    "uint64": lambda kind: kind == pa.uint64(),
    "whole": pa.types.is_integer,
    "real": lambda kind: pa.types.is_float32(kind) or pa.types.is_float64(kind),
    "day": pa.types.is_date32,
}
"""Kinds that need no more than a name, the first that fits."""


def _of_domain(column: ColumnRecord) -> dict[str, Any]:
    """The values of a perturbed column, where these are not what is published, or are points of a grid."""
    domain = column.values
    facts: dict[str, Any] = {"size": domain.size}
    if column.records[0].coded is not None:
        facts["value_kind"] = kind_of(str(domain.type))
    if is_number(domain.type):
        facts["numeric"] = True
    if isinstance(domain, Grid):
        facts["grid"] = _grid(domain)
    if domain.size > MOST_VALUES or facts.get("grid", True) is None:
        facts["too_many"] = True
    return facts


def _grid(domain: Domain) -> dict[str, Any] | None:
    """The points as whole numbers over a power of ten; None where they are too large for a page."""
    assert isinstance(domain, Grid)
    low, step = Decimal(str(domain.low)), Decimal(str(domain.step))
    digits = max(0, -int(low.as_tuple().exponent), -int(step.as_tuple().exponent))
    scale = 10**digits
    first, width = int(low * scale), int(step * scale)
    last = first + width * (domain.size - 1)
    if max(abs(first), abs(last), scale) > SAFE:
        return None
    return {"first": first, "step": width, "scale": scale}


def document_of(manifest: Manifest) -> dict[str, Any]:
    """The manifest as the page has it: without the list of files, which the page is in, and the digest, which follows from that."""
    document = manifest.model_dump(mode="json", exclude_none=True, by_alias=True)
    return {key: value for key, value in document.items() if key != "files"}


