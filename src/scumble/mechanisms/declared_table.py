"""The table of a spec, with declared types where its mechanism promises differential privacy."""

from scumble.core.errors import SchemaError
from scumble.mechanisms import find_mechanism
from scumble.sources.declared import DeclaredTypes
from scumble.sources.source import Source, read, read_source
from scumble.spec.spec import ColumnSpec, Spec


def spec_table(spec: Spec) -> Source:
    """The table that a spec names."""
    return declared(read_source(spec), spec, spec.table)


def declared(source: Source, spec: Spec, thing: object) -> Source:
    """The table with the types that the spec declares, where a guess would follow the rows and the mechanism must not; what is not declared is text.

    thing   what the source was opened from
    """
    guesses = getattr(source, "guesses", "")
    if not guesses or not find_mechanism(spec.mechanism).traits.declared_types:
        return source
    if guesses == "always":
        raise SchemaError(
            f"{source.name} says what its values are by the values themselves, and {spec.mechanism} promises that no single row shows in a type; "
            "convert it to CSV and declare types in the spec, or to Parquet, which has them"
        )
    names = source.schema.names
    types = {name: kind for name, column in spec.columns.items() if name in names and (kind := type_of(column))}
    return DeclaredTypes(read(thing, text=names), types)


def type_of(column: ColumnSpec) -> str | None:
    """The declared type of a column, or the one that its domain or its coarsening has; none where nobody said."""
    if column.type is not None or column.text:
        return column.type or "text"
    if column.low is not None:
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


NAMED = (("boolean", {bool}), ("integer", {int}), ("number", {int, float}), ("text", {str}))
