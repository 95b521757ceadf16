"""What a publisher decides about a table: the role and the domain of each column, and the privacy that is wanted.

A spec is a TOML file, read and written by people:

    table = "patients.csv"

    [privacy]
    rho1 = "1/13"
    rho2 = "1/6"

    [columns.name]
    role = "identifier"

    [columns.age]
    role = "public"
    coarsen = { bins = 5 }

    [columns.disease]
    role = "sensitive"
    values = ["flu", "cold", "asthma"]

A column with role = "?", or with none, is not decided, and its table is not published; rest = "drop" at the top leaves such columns out.
"""

import math
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from scumble.core.channel import Channel, gamma_bound
from scumble.core.domain import Categories, Domain
from scumble.core.errors import ParameterError, SchemaError, did_you_mean
from scumble.core.parameters import number, probability
from scumble.core.scale import scale
from scumble.sources.address import beside
from scumble.spec.metadata import Metadata
from scumble.spec.parts import combinations, demand_parts
from scumble.spec.problems import first_problem

Role = Literal["identifier", "public", "sensitive", "dropped", "?"]
"""What becomes of a column; "?" is not decided yet, and nothing is published before it is."""

UNDECIDED: Role = "?"
DROPPED: Role = "dropped"
Number = int | float | str


class Model(BaseModel):
    """Frozen, and an unknown field is refused: a misspelt one must not be lost silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Settings = TypeVar("Settings", bound=Model)


class NoSettings(Model):
    """A mechanism that offers nothing beyond its privacy target."""


class Target(Model):
    """The privacy that is wanted: (rho1, rho2), gamma, epsilon or a retention. One of them.

    >>> round(Target(rho1="1/5", rho2="1/4").channel(3).retain, 9)
    0.1
    """

    rho1: Number | None = None
    rho2: Number | None = None
    gamma: Number | None = None
    epsilon: Number | None = None
    retain: Number | None = None

    @property
    def given(self) -> bool:
        """Whether anything is said at all."""
        return any(v is not None for v in (self.rho1, self.rho2, self.gamma, self.epsilon, self.retain))

    def channel(self, size: int, share: int = 1) -> Channel:
        """The uniform channel that meets the target on a domain of that size.

        With share = k the column is one of k that share the target: each gets the k-th root of gamma, so that all of
        them together, however they are correlated, stay within it. A retention is not shared: it says what each
        column does.
        """
        self._demand_one()
        if self.retain is not None:
            return Channel(probability(self.retain, "retain"), size=size)
        if self.epsilon is not None:
            return Channel.from_epsilon(size, number(self.epsilon, "epsilon") / share)
        bound = gamma_bound(self.rho1, self.rho2) if self.gamma is None else number(self.gamma, "gamma")
        return Channel.from_gamma(size, bound ** (1 / share) if bound > 0 else bound)

    def factor(self) -> float:
        """The gamma that is asked for.

        >>> Target(rho1="1/5", rho2="1/4").factor()
        1.3333333333333333
        """
        self._demand_one()
        if self.retain is not None:
            raise ParameterError(
                "this mechanism chooses the retention; give rho1 and rho2, gamma or epsilon instead of retain"
            )
        if self.epsilon is not None:
            return math.exp(number(self.epsilon, "epsilon"))
        return gamma_bound(self.rho1, self.rho2) if self.gamma is None else number(self.gamma, "gamma")

    def _demand_one(self) -> None:
        if (self.rho1 is None) != (self.rho2 is None):
            raise ParameterError("rho1 and rho2 go together, what is believed before and after; give both")
        ways = [
            n
            for n, v in (("rho1 and rho2", self.rho1), ("gamma", self.gamma), ("epsilon", self.epsilon))
            if v is not None
        ]
        ways += ["retain"] if self.retain is not None else []
        if len(ways) != 1:
            sentence = f"{' as well as '.join(ways)} were" if ways else "nothing was"
            raise ParameterError(f"say how private: one of rho1 and rho2, gamma, epsilon, retain; {sentence} given")


class Coarsen(Model):
    """How a public column is made coarser on the way: one of the six."""

    bins: Number | None = Field(None, description="width of equal bins; a number becomes the lower end of its bin")
    edges: list[float] | None = Field(None, description="ends of bins; a number becomes the name of its bin")
    prefix: int | None = Field(None, ge=1, description="how many leading characters of a text are kept")
    date: Literal["year", "quarter", "month", "week", "day"] | None = Field(
        None, description="a date becomes the first day of it"
    )
    groups: dict[str, list[Any]] | None = Field(None, description="name of a group -> its values")
    hierarchy: str | None = Field(None, description="a CSV file: one row for each value, one column for each level")
    level: int | None = Field(None, ge=0, description="of the hierarchy, 1 when absent; level 0 is the value itself")

    @model_validator(mode="after")
    def _one(self) -> "Coarsen":
        ways = (self.bins, self.edges, self.prefix, self.date, self.groups, self.hierarchy)
        if sum(v is not None for v in ways) != 1:
            raise ValueError("coarsen takes one of bins, edges, prefix, date, groups, hierarchy")
        if self.bins is not None and number(self.bins, "bins") <= 0:
            raise ValueError("bins is a width and must be above 0")
        if self.edges is not None and (not self.edges or sorted(set(self.edges)) != self.edges):
            raise ValueError("edges must be increasing numbers")
        return self


class ColumnSpec(Model):
    """One column: its role, and for a sensitive one its domain."""

    role: Role
    text: bool = Field(False, description="read a CSV column as text, whatever it looks like")
    type: Literal["text", "integer", "number", "boolean", "date", "timestamp"] | None = Field(
        None, description="what the values are, for mechanisms whose types must not follow the rows; text when absent"
    )
    coarsen: Coarsen | None = None
    parts: list[str] | None = Field(
        None,
        min_length=2,
        description="columns of the table that are taken as this one: its values are their combinations",
    )
    domains: dict[str, Any] | None = Field(
        None, description="part -> its values, or low, high and step; the domain is then every combination of them"
    )
    values: list[Any] | None = Field(
        None, description="a domain of categories; of a column with parts, combinations as lists"
    )
    missing: bool = Field(False, description="a missing value is one more value")
    low: Number | date | None = Field(None, description="a domain of numbers or days: the first")
    high: Number | date | None = Field(None, description="the last")
    step: Number = Field(1, description="the distance between two; of days, in days")
    on_grid: bool = Field(
        False, description="every number is a point of the grid; another one is refused, where it else would be rounded"
    )
    from_data: bool = Field(
        False, description="the domain was, or is to be, taken from the data; the manifest will say so"
    )
    privacy: Target | None = Field(None, description="a target of this column's own")
    determined: Literal["accepted"] | None = Field(
        None, description="that public columns tell this one exactly is known, and accepted"
    )
    attribute: str | None = Field(
        None, description="what coins by key belong to, whatever the column is called; its name when absent"
    )

    @model_validator(mode="after")
    def _fits_role(self) -> "ColumnSpec":
        if self.coarsen and self.role != "public":
            raise ValueError(f"coarsen is for public columns, not for a column that is {self.role}")
        if self.role != "sensitive" and (self.values or self.low is not None or self.privacy or self.from_data):
            raise ValueError(
                f"a domain and a privacy target are for sensitive columns, not for one that is {self.role}"
            )
        if self.role != "sensitive" and self.attribute is not None:
            raise ValueError(f"an attribute is what coins belong to, and a column that is {self.role} has none")
        if (self.low is None) != (self.high is None):
            raise ValueError("low and high go together")
        if self.on_grid and self.low is None:
            raise ValueError("on_grid is for a domain of numbers: low, high and step")
        if self.values is not None and self.low is not None:
            raise ValueError("a domain is a list of values or a grid, not both")
        if self.parts is not None:
            demand_parts(self.role, self.parts, self.domains, self.low is not None or self.missing)
        elif self.domains is not None:
            raise ValueError("domains are those of parts; name the columns that are its parts")
        return self

    def beside(self, folder: Path) -> "ColumnSpec":
        """The same with its hierarchy's path taken as relative to a folder."""
        if self.coarsen is None or self.coarsen.hierarchy is None:
            return self
        moved = self.coarsen.model_copy(update={"hierarchy": str(folder / self.coarsen.hierarchy)})
        return self.model_copy(update={"coarsen": moved})

    @property
    def has_domain(self) -> bool:
        """Whether the spec says which values there are."""
        return self.values is not None or self.low is not None or self.domains is not None

    def domain(self, name: str, kind: pa.DataType) -> Domain:
        """The declared domain of a column of that Arrow type."""
        if self.low is not None:
            return scale(self.low, self.high, self.step, kind, exact=self.on_grid, missing=self.missing)
        listed = list(self.values or ())
        if self.parts is not None:
            listed = combinations(self.parts, self.values, self.domains)
        if self.missing and None not in listed:
            listed.append(None)
        if len(listed) < 2:
            raise SchemaError(
                f"the domain of {name!r} has {len(listed)} value(s); a sensitive column needs at least 2, "
                "or there is nothing to hide it among"
            )
        try:
            return Categories(listed, kind)
        except SchemaError as error:
            raise SchemaError(f"column {name!r}: {error}") from None


REST = (
    'rest is "drop" (columns that nobody decided are left out) or absent, not {!r}; '
    "nobody has looked at such columns, so name each one that is public"
)

ROWS_PER_PERSON = (
    'rows_per_person is a whole number from 1 on (so many rows of a person are published, drawn by coins) or "all" '
    "(every row, whatever is left of the promise to a person), not {!r}"
)
ONE_ROW_EACH = "one row each"


DEFAULT = "uniform"
"""The mechanism where none is named: each value kept, or replaced by any value of its domain alike. It needs no settings and no counts."""


class Spec(Model):
    """Everything that decides a release, apart from the rows and the coins."""

    table: str | None = None
    mechanism: str = DEFAULT
    settings: dict[str, Any] = {}
    """What the mechanism offers beyond the privacy target."""
    privacy: Target = Target()
    columns: dict[str, ColumnSpec] = {}

    fresh: Number | None = None
    """With a key: how probably the memoised response is published as it is; else it is replaced anew in each release."""
    budget: Number | None = None
    """With a ledger: the epsilon of all releases of the same people together that is not passed."""
    rest: Literal["drop"] | None = None
    """What becomes of the columns that nobody decided: left out, or, when absent, a refusal."""

    person: str | None = None
    """The column that says whose row it is: counted by, and not published."""
    rows_per_person: int | Literal["all"] | None = None
    """How many rows of a person are published, drawn by coins; "all" where what is left for a person may be nothing."""
    answers: Literal["rows", "persons"] | None = None
    """With rows_per_person: what answers count, by a weight on each row that tells about how many rows its person has. Without it rows have no weights."""
    persons: Literal["one row each"] | None = None
    """The publisher's word that each person is one row, where no column shows it."""
    metadata: Metadata | None = None
    """What catalogues of data are told about the release; with it, even empty, their files are written."""

    @field_validator("rows_per_person", mode="before")
    @classmethod
    def _some_rows(cls, given: Any) -> Any:
        if given in (None, "all") or (type(given) is int and given >= 1):
            return given
        raise ValueError(ROWS_PER_PERSON.format(given))

    @field_validator("persons", mode="before")
    @classmethod
    def _one_row_each(cls, given: Any) -> Any:
        if given not in (None, ONE_ROW_EACH):
            raise ValueError(
                f'persons is "{ONE_ROW_EACH}" or absent, not {given!r}; name a column of persons by person'
            )
        return given

    @model_validator(mode="after")
    def _persons_fit(self) -> "Spec":
        role = self.columns[self.person].role if self.person in self.columns else None
        if role in ("public", "sensitive"):
            raise ValueError(
                f"person names {self.person!r}, which is {role}; a column that says whose row it is, is not published: make it identifier"
            )
        if self.answers is not None and not isinstance(self.rows_per_person, int):
            raise ValueError("answers is about rows that are drawn; say how many of a person are, by rows_per_person")
        if self.persons and self.rows_per_person is not None:
            raise ValueError(f'persons = "{self.persons}" leaves nothing for rows_per_person to do; say one of them')
        return self

    @field_validator("rest", mode="before")
    @classmethod
    def _never_public(cls, given: Any) -> Any:
        if given not in (None, "drop"):
            raise ValueError(REST.format(given))
        return given

    def settings_as(self, model: type[Settings]) -> Settings:
        """The settings, checked by the mechanism's own model of them."""
        try:
            return model.model_validate(self.settings)
        except ValidationError as error:
            known = [field.alias or name for name, field in model.model_fields.items()]
            raise ParameterError(f"settings of {self.mechanism!r}: {first_problem(error, model, known)}") from None

    @property
    def sensitive(self) -> list[str]:
        """The names of the sensitive columns."""
        return [name for name, column in self.columns.items() if column.role == "sensitive"]

    @property
    def published(self) -> list[str]:
        """The names of the columns that a release has."""
        return [name for name, column in self.columns.items() if column.role in ("public", "sensitive")]

    def undecided(self, names: Iterable[str]) -> list[str]:
        """Those of the columns whose role nobody said."""
        return [name for name in names if name not in self.columns or self.columns[name].role == UNDECIDED]

    def completed(self, schema: pa.Schema, by_settings: Mapping[str, Role]) -> "Spec":
        """The spec with the roles that its settings and its `rest` give to columns that have none.

        by_settings   settings of the mechanism that name a column, and the role that naming it there gives it
        """
        self.demand_known(schema)
        open_ = self.undecided(schema.names)
        named = {
            str(self.settings[part]): role for part, role in by_settings.items() if self.settings.get(part) is not None
        }
        if self.person is not None:
            named.setdefault(self.person, "identifier")
        given = {name: role for name, role in named.items() if name in open_}
        if self.rest == "drop":
            given = dict.fromkeys(open_, DROPPED) | given
        plain = {
            name: self.columns.get(name, ColumnSpec.model_validate({"role": role})).model_copy(update={"role": role})
            for name, role in given.items()
        }
        return self.model_copy(update={"columns": self.columns | plain})

    def demand_known(self, schema: pa.Schema) -> None:
        """Refuses a column that the table does not have."""
        for name in [*self.columns, *([] if self.person is None else [self.person])]:
            if name not in schema.names:
                raise SchemaError(f"column {name!r} is not in the table{did_you_mean(name, schema.names)}")

    def for_schema(self, schema: pa.Schema, *, all_alike: bool = False) -> "Spec":
        """The spec in the order of the table's columns, each of which must have a role.

        all_alike   whether the mechanism treats all published columns alike, so that none needs to be sensitive
        """
        self.demand_known(schema)
        if bare := self.undecided(schema.names):
            raise SchemaError(
                f"column {bare[0]!r} has no role{f' (nor have {_listed(bare[1:])})' if bare[1:] else ''}; "
                "say whether it is public, sensitive, identifier or dropped (--drop, or drop=, leaves columns out)"
            )
        if not self.sensitive and not all_alike:
            raise SchemaError(
                "no column is sensitive, so there is nothing to protect; name one (--sensitive, sensitive=, or its role in a spec)"
            )
        return self.model_copy(update={"columns": {name: self.columns[name] for name in schema.names}})


def _listed(names: list[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def read_spec(path: str | Path) -> Spec:
    """The spec in a TOML file; the table's path is taken as relative to it."""
    path = Path(path)
    if path.suffix != ".toml" and path.exists():
        raise SchemaError(f"{path.name} is not a spec; `scumble init {path.name}` writes one for a table")
    try:
        with path.open("rb") as file:
            spec = Spec.model_validate(tomllib.load(file))
    except FileNotFoundError:
        raise SchemaError(f"there is no spec {str(path)!r}; `scumble init TABLE` writes one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SchemaError(f"{path.name} is not valid TOML: {error}") from None
    except ValidationError as error:
        raise SchemaError(f"{path.name}: {first_problem(error, Spec)}") from None
    if spec.table is None:
        raise SchemaError(f'{path.name} does not say which table it is about; add table = "..." at its top')
    columns = {name: column.beside(path.parent) for name, column in spec.columns.items()}
    return spec.model_copy(update={"table": beside(path, spec.table), "columns": columns})
