"""The table of a spec: columns that are taken as one are one, and columns are of the types that were declared.

A mechanism that promises that no single row shows must not take a type from the rows: its tables are opened as text where they do not say themselves what
their columns are, and made what the spec declares. With any other mechanism a type is the table's own; one that was declared otherwise is refused.
"""

import re
from collections.abc import Sequence
from typing import Any

from scumble.core.arrow_types import is_text
from scumble.core.errors import SchemaError, did_you_mean
from scumble.mechanisms import find_mechanism
from scumble.sources.combined import CombinedSource
from scumble.sources.declared import DeclaredTypes, type_name
from scumble.sources.source import EVERY, Source, read
from scumble.spec.spec import ColumnSpec, Spec


def spec_table(spec: Spec) -> Source:
    """The table that a spec names."""
    text = [name for name, column in spec.columns.items() if column.text]
    return declared(opened(spec.table, spec.mechanism, text), spec, spec.table)


def opened(thing: Any, mechanism: str, text: Sequence[str] = ()) -> Source:
    """A table before types are declared: all of it text, where a guess would follow the rows and the mechanism must not."""
    if not find_mechanism(mechanism).traits.every_output:
        return read(thing, text=text)
    source = read(thing, text=EVERY)
    for name in text:
        if name not in source.schema.names:
            raise SchemaError(f"column {name!r} is not in {source.name}{did_you_mean(name, source.schema.names)}")
    return source


def declared(source: Source, spec: Spec, thing: Any) -> Source:
    """The table with the types that the spec declares.

    thing   what the source was opened from
    """
    made = {name: column.parts for name, column in as_one(spec).columns.items() if column.parts}
    names = set(source.schema.names)
    made = {name: parts for name, parts in made.items() if name not in names or names & set(parts)}  # else it is made
    return CombinedSource(_typed(source, spec, thing), made) if made else _typed(source, spec, thing)


def as_one(spec: Spec) -> Spec:
    """The spec with its sensitive columns as one, where its mechanism is for one attribute and there are several."""
    sensitive = spec.sensitive
    several = len(sensitive) > 1 and find_mechanism(spec.mechanism).traits.one_attribute
    if not several or any(spec.columns[name].parts for name in sensitive):
        return spec
    own = [spec.columns[name] for name in sensitive]
    if any(column.privacy is not None for column in own):
        raise SchemaError(
            f"{spec.mechanism} takes {', '.join(sensitive)} as one, which has one target of privacy; give it for all of them"
        )
    declared = all(column.has_domain for column in own)
    domains = {name: _listed(column) for name, column in zip(sensitive, own, strict=True)} if declared else None
    accepted = "accepted" if all(column.determined for column in own) else None
    fields = {"role": "sensitive", "parts": sensitive, "domains": domains, "determined": accepted}
    column = ColumnSpec.model_validate(fields | {"from_data": any(column.from_data for column in own)})
    kept = {name: other for name, other in spec.columns.items() if name not in sensitive}
    return spec.model_copy(update={"columns": kept | {"_".join(sensitive): column}})


def _listed(column: ColumnSpec) -> Any:
    if column.low is not None:
        return {"low": column.low, "high": column.high, "step": column.step}
    return [*(column.values or ()), *([None] if column.missing and None not in (column.values or ()) else [])]


def _typed(source: Source, spec: Spec, thing: object) -> Source:
    guesses = getattr(source, "guesses", "")
    if not guesses or not find_mechanism(spec.mechanism).traits.every_output:
        return _as_declared(source, spec, thing, bool(guesses))
    if guesses == "always":
        raise SchemaError(
            f"{source.name} says what its values are by the values themselves, and {spec.mechanism} promises that no single row shows in a type; "
            "convert it to CSV and declare types in the spec, or to Parquet, which has them"
        )
    names, own = source.schema.names, getattr(source, "declared", {})
    types = {name: kind for name, column in spec.columns.items() if name in names and (kind := type_of(column))}
    return DeclaredTypes(source, own | types)


def _as_declared(source: Source, spec: Spec, thing: Any, guessed: bool) -> Source:
    """The table, once every declared type is the one that it has; a guess gives way where text was declared."""
    wanted = {name: c.type for name, c in spec.columns.items() if c.type is not None and name in source.schema.names}
    words = [n for n, kind in wanted.items() if kind == "text" and not is_text(source.schema.field(n).type)]
    if guessed and words:
        source = read(thing, text=[*(n for n, c in spec.columns.items() if c.text), *words])
    for name, kind in wanted.items():
        if (own := type_name(source.schema.field(name).type)) != kind:
            has = source.schema.field(name).type if own is None else own
            raise SchemaError(
                f"column {name!r} is declared to be of type {kind}, and {source.name} has {has} there; correct one of the two"
            )
    return source


def type_of(column: ColumnSpec) -> str | None:
    """The declared type of a column, or the one that its domain or its coarsening has; none where nobody said."""
    if column.type is not None or column.text:
        return column.type or "text"
    if column.low is not None:
        if ISO_DAY.fullmatch(str(column.low)):
            return "date"
        whole = all(
            "." not in str(part) and "e" not in str(part).lower() for part in (column.low, column.high, column.step)
        )
        return "integer" if whole else "number"
    if column.values:
        kinds = {type(value) for value in column.values if value is not None}
        return next((name for name, own in NAMED if kinds <= own), None)
    rule = column.coarsen
    if rule is None:
        return None
    return "number" if rule.bins is not None or rule.edges is not None else "date" if rule.date is not None else None


ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
NAMED = (("boolean", {bool}), ("integer", {int}), ("number", {int, float}), ("text", {str}))
