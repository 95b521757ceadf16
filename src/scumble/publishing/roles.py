"""Publishing is closed to columns that nobody decided: each gets a sentence that says what it looks like."""

import re
from collections.abc import Mapping, Sequence

from scumble.core.errors import SchemaError, UndecidedColumns, did_you_mean
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.declared_table import as_one
from scumble.publishing.kinds import demand_types
from scumble.sources.source import Source
from scumble.spec.looks import look
from scumble.spec.looks.seen import Seen, first_look
from scumble.spec.spec import Spec

WILD = set("*?")

WAYS = (
    'Decide each of them. Public, published as it is: --public NAME, public=, or role = "public" in a spec. '
    'Sensitive, perturbed within a domain: --sensitive NAME --domain NAME=..., sensitive= and domains=, or role = "sensitive". '
    'Left out: --drop NAME, drop=, or role = "dropped". All of them left out: --rest drop, rest="drop", or rest = "drop".'
)


def decided(spec: Spec, table: Source) -> Spec:
    """The spec in the order of the table's columns, with a role for each; refused where nobody gave one."""
    chosen, one = find_mechanism(spec.mechanism), as_one(spec)
    if set(one.columns) - set(spec.columns) <= set(table.schema.names):
        spec = one
    whole = spec.completed(table.schema, chosen.column_settings)
    if undecided := whole.undecided(table.schema.names):
        raise UndecidedColumns(refusal(table, undecided, by_values=not chosen.traits.every_output))
    demand_types(table.schema, {name: whole.columns[name].role for name in table.schema.names})
    return whole.for_schema(table.schema, all_alike=chosen.traits.columns_alike)


def named_roles(
    names: Sequence[str], named: Mapping[str, Sequence[str]], ids: Sequence[str | None], coarser: Sequence[str]
) -> dict[str, str]:
    """The roles that arguments give to columns, in the order of the table; a column that is not named has none.

    A column that is made coarser is public by that, unless it is named otherwise.
    """
    given: dict[str, str] = {}
    for role, wanted in named.items():
        for pattern in wanted:
            for name in matching(pattern, names) if role == "dropped" else [pattern]:
                _demand_in(name, names)
                if given.setdefault(name, role) != role:
                    raise SchemaError(f"column {name!r} is named as {given[name]} and as {role}; a column has one role")
    for id in ids:
        if id is not None and id in names:
            given.setdefault(id, "identifier")
    for name in coarser:
        _demand_in(name, names)
        given.setdefault(name, "public")
    return {name: given[name] for name in names if name in given}


def _demand_in(name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise SchemaError(f"column {name!r} is not in the table{_hint(name, names)}")


def matching(pattern: str, names: Sequence[str]) -> list[str]:
    """The columns that a name to drop stands for: the one that is called so, or all that fit its * and ?.

    >>> matching("notes_*", ["age", "notes_1", "notes_2"]), matching("what?", ["what?", "whats"])
    (['notes_1', 'notes_2'], ['what?'])
    """
    if pattern in names or not set(pattern) & WILD:
        return [pattern]
    wanted = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern)
    matches = [name for name in names if re.fullmatch(wanted, name, re.DOTALL)]
    if not matches:
        raise SchemaError(f"no column matches {pattern!r}, which is to be dropped{did_you_mean(pattern, names)}")
    return matches


def _hint(name: str, names: Sequence[str]) -> str:
    if set(name) & WILD:
        return "; * and ? are for columns to drop alone: what is published is named in full"
    return did_you_mean(name, names)


def refusal(table: Source, undecided: list[str], *, by_values: bool = True) -> str:
    """A sentence for each column without a role, and the ways out.

    by_values   whether values are looked at, and not names and types alone: what a message says of values may follow a single row
    """
    said = [f"  {seen.name!r} {_seen(seen)}." for seen in first_look(table, undecided, by_values=by_values)]
    number = f"{len(said)} columns have" if len(said) > 1 else "1 column has"
    return "\n".join([f"{number} no role, and nothing is published before every column has one:", *said, WAYS])


def _seen(seen: Seen) -> str:
    looks = look(seen)
    verb = "" if looks.what else "has " if seen.rows else "is "
    return verb + looks.words(seen)
