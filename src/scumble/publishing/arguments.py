"""What publish is told of a table, and the one place where a spec is built from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scumble.core.errors import ParameterError, SchemaError, did_you_mean
from scumble.mechanisms.declared_table import declared, opened, spec_table
from scumble.publishing.roles import decided, named_roles
from scumble.sources.source import Source
from scumble.spec.metadata import Metadata
from scumble.spec.problems import first_problem
from scumble.spec.spec import DEFAULT, REST, ColumnSpec, Spec, Target, read_spec

Names = str | Sequence[str]


@dataclass(frozen=True)
class Arguments:
    """What becomes of the columns, and the privacy wanted; `scumble.publish` says what each means."""

    sensitive: Names | None = None
    public: Names | None = None
    drop: Names = ()
    rest: str | None = None
    text: Names = ()
    types: Mapping[str, str] | None = None
    domains: Mapping[str, Any] | None = None
    compound: Mapping[str, Names] | None = None
    coarsen: Mapping[str, Mapping[str, Any]] | None = None
    mechanism: str | None = None
    settings: Mapping[str, Any] | None = None
    rho1: Any = None
    rho2: Any = None
    gamma: Any = None
    epsilon: Any = None
    retain: Any = None
    domain_from_data: bool = False
    id: str | None = None
    occurrence: str | None = None
    attributes: Mapping[str, str] | None = None
    person: str | None = None
    rows_per_person: int | str | None = None
    answers: str | None = None
    persons: str | None = None
    determined: Names = ()
    fresh: Any = None
    metadata: bool | Mapping[str, Any] = False

    @classmethod
    def of(cls, how: Mapping[str, Any]) -> "Arguments":
        """Those of a dictionary; a name that is none of them is refused."""
        known = [field.name for field in fields(cls)]
        for name in how:
            if name not in known:
                raise ParameterError(f"publishing takes no argument {name!r}{did_you_mean(name, known)}")
        return cls(**how)

    @property
    def target(self) -> dict[str, Any]:
        """The privacy wanted."""
        return {name: getattr(self, name) for name in ("rho1", "rho2", "gamma", "epsilon", "retain")}

    @property
    def of_persons(self) -> dict[str, Any]:
        """What is said of persons."""
        given = {name: getattr(self, name) for name in ("person", "rows_per_person", "answers", "persons")}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def of_columns(self) -> bool:
        """Whether anything is said that a spec in a file says itself."""
        return (
            self.sensitive is not None
            or self.public is not None
            or any((self.drop, self.types, self.domains, self.compound, self.coarsen, self.attributes))
        )


def choose(table: Any, how: Arguments) -> tuple[Source, Spec]:
    """The table, and the spec that says what becomes of it: read, or put together from arguments."""
    if how.rest not in (None, "drop"):
        raise ParameterError(REST.format(how.rest))
    written = isinstance(table, str | Path) and Path(table).suffix == ".toml"
    source, spec = _written(table, how) if written else _spelled(table, how)
    if not written:
        source = declared(source, spec, table)
    spec = _described(_accepted(spec, names(how.determined)), how.metadata)
    return source, decided(spec, source)


def _described(spec: Spec, metadata: bool | Mapping[str, Any]) -> Spec:
    """The spec with what catalogues are told: what it says itself, and what arguments say beyond it."""
    if metadata is False:
        return spec
    said = spec.metadata.model_dump(exclude_defaults=True) if spec.metadata is not None else {}
    try:
        whole = Metadata.model_validate(said | ({} if metadata is True else dict(metadata)))
    except ValidationError as error:
        raise ParameterError(f"metadata: {first_problem(error, Metadata, list(Metadata.model_fields))}") from None
    return spec.model_copy(update={"metadata": whole})


def _accepted(spec: Spec, determined: list[str]) -> Spec:
    """The spec with sensitive columns of which it is accepted that public ones determine them."""
    for name in determined:
        if name not in spec.sensitive:
            raise SchemaError(f"determined names {name!r}, which is not sensitive{did_you_mean(name, spec.sensitive)}")
    accepted = {name: spec.columns[name].model_copy(update={"determined": "accepted"}) for name in determined}
    return spec.model_copy(update={"columns": spec.columns | accepted})


def _written(path: str | Path, how: Arguments) -> tuple[Source, Spec]:
    """A spec in a file, with what arguments change of it."""
    if how.of_columns:
        raise ParameterError("roles, types and domains are in the spec; edit it instead of giving them again")
    spec = _override(read_spec(path), how)
    update = {"settings": {**spec.settings, **(how.settings or {})}, "rest": how.rest or spec.rest}
    spec = checked(spec.model_copy(update=update | how.of_persons))
    return spec_table(spec), spec


def _spelled(table: Any, how: Arguments) -> tuple[Source, Spec]:
    """A table, and the spec that arguments make."""
    source = opened(table, how.mechanism or DEFAULT, names(how.text))
    made = {name: names(parts) for name, parts in (how.compound or {}).items()}
    taken = {part for parts in made.values() for part in parts}
    sensitive = [name for name in names(how.sensitive) if name not in {*taken, *made}]
    named = {"sensitive": sensitive, "public": names(how.public), "dropped": names(how.drop)}
    for name in (how.id, how.person):
        if name is not None and name not in source.schema.names:
            raise SchemaError(f"column {name!r} is not in the table{did_you_mean(name, source.schema.names)}")
    roles = named_roles(source.schema.names, named, [how.id, how.occurrence, how.person], list(how.coarsen or ()))
    _demand_apart(roles, made)
    _demand_published(source, roles, how.types or {})
    own = {name: domain for name, domain in (how.domains or {}).items() if name not in {*taken, *made}}
    _demand_sensitive(source, roles, "a domain", own)
    attributes = {name: attribute for name, attribute in (how.attributes or {}).items() if name not in made}
    _demand_sensitive(source, roles, "an attribute", attributes)
    spec = Spec(
        mechanism=how.mechanism or DEFAULT,
        settings=dict(how.settings or {}),
        privacy=Target(**{k: v for k, v in how.target.items() if not isinstance(v, Mapping)}),
        columns={name: _column(name, role, how) for name, role in roles.items()}
        | {name: _made(name, parts, how) for name, parts in made.items()},
        rest="drop" if how.rest else None,
        fresh=how.fresh,
    ).model_copy(update=how.of_persons)
    return source, checked(spec)


def checked(spec: Spec) -> Spec:
    """The spec, once what arguments changed of it is as a spec has it."""
    try:
        return Spec.model_validate(spec.model_dump())
    except ValidationError as error:
        raise ParameterError(first_problem(error, Spec)) from None


def _demand_published(table: Source, roles: Mapping[str, str], types: Mapping[str, str]) -> None:
    """Refuses the type of a column that is not there, or that nothing is done with."""
    for name in types:
        if name not in table.schema.names:
            raise SchemaError(f"column {name!r} is not in the table{did_you_mean(name, table.schema.names)}")
        if name not in roles or roles[name] == "dropped":
            role = "is dropped" if name in roles else "nobody named"
            raise SchemaError(f"a type is declared for {name!r}, which {role}; types are for columns that are used")


def _demand_sensitive(table: Source, roles: Mapping[str, str], what: str, given: Mapping[str, Any]) -> None:
    """Refuses the domain, or the attribute, of a column that is not there, or not sensitive."""
    for name in given:
        if name not in table.schema.names:
            raise SchemaError(f"column {name!r} is not in the table{did_you_mean(name, table.schema.names)}")
        if roles.get(name) != "sensitive":
            role = f"is {roles[name]}" if name in roles else "nobody named"
            raise SchemaError(
                f"{what} is given for {name!r}, which {role}; {what.split()[1]}s are for sensitive columns"
            )


def _column(name: str, role: str, how: Arguments) -> ColumnSpec:
    fields: dict[str, Any] = {"role": role, "type": (how.types or {}).get(name)}
    if name in (how.coarsen or {}):
        fields["coarsen"] = (how.coarsen or {})[name]
    if role == "sensitive":
        fields |= _domain_fields((how.domains or {}).get(name), how.domain_from_data) | _own_target(name, how.target)
        fields["attribute"] = (how.attributes or {}).get(name)
    try:
        return ColumnSpec.model_validate(fields)
    except ValidationError as error:
        raise SchemaError(f"column {name!r}: {first_problem(error, ColumnSpec)}") from None


def _demand_apart(roles: Mapping[str, str], made: Mapping[str, Sequence[str]]) -> None:
    """A part of a column is published within it, and not by itself."""
    for name, parts in made.items():
        for part in parts:
            if part in roles:
                raise SchemaError(f"column {part!r} is a part of {name!r}, and {roles[part]} by itself; name it once")


def _made(name: str, parts: list[str], how: Arguments) -> ColumnSpec:
    """A column that is made of others: of combinations that are given, of all of declared values, or of those that occur."""
    given = how.domains or {}
    fields: dict[str, Any] = {"role": "sensitive", "parts": parts} | _own_target(name, how.target)
    fields["attribute"] = (how.attributes or {}).get(name)
    if name in given:
        fields["values"] = list(given[name])
    elif all(part in given for part in parts):
        fields["domains"] = {part: _values_of(given[part]) for part in parts}
    else:
        fields["from_data"] = how.domain_from_data
    try:
        return ColumnSpec.model_validate(fields)
    except ValidationError as error:
        raise SchemaError(f"column {name!r}: {first_problem(error, ColumnSpec)}") from None


def _values_of(domain: Any) -> Any:
    if isinstance(domain, ColumnSpec):
        domain = domain.model_dump(include={"values"} if domain.low is None else {"low", "high", "step"})
        return domain.get("values", domain)
    return dict(domain) if isinstance(domain, Mapping) else list(domain)


def _domain_fields(domain: Any, from_data: bool) -> dict[str, Any]:
    if domain is None:
        return {"from_data": from_data}
    if isinstance(domain, ColumnSpec):
        return domain.model_dump(
            include={"values", "missing", "low", "high", "step", "on_grid", "from_data"}, exclude_none=True
        )
    if isinstance(domain, Mapping):
        return {k: v if isinstance(v, bool) else str(v) for k, v in domain.items()}
    return {"values": list(domain)}


def _own_target(name: str, target: dict[str, Any]) -> dict[str, Any]:
    own = {k: v[name] for k, v in target.items() if isinstance(v, Mapping) and name in v}
    return {"privacy": Target(**own)} if own else {}


def _override(spec: Spec, how: Arguments) -> Spec:
    given = {"mechanism": how.mechanism, "fresh": how.fresh}
    update: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if any(v is not None for v in how.target.values()):
        update["privacy"] = Target(**how.target)
    if how.domain_from_data:
        update["columns"] = {
            name: c.model_copy(update={"from_data": True}) if c.role == "sensitive" and not c.has_domain else c
            for name, c in spec.columns.items()
        }
    return spec.model_copy(update=update)


def names(given: Names | None) -> list[str]:
    """One name, or several."""
    return [given] if isinstance(given, str) else [str(name) for name in given or ()]
