"""Columnization as a mechanism: a schema, at most c* of its columns for each tuple, and noisy counts in each at (epsilon / c*, delta / c*).

The schema is the publisher's, fixed without looking at the data; or it is computed from noisy correlations under a stated share of epsilon
(`noisy_schema`), and the columns get the rest. A table of rows has its columns as attributes; transactions (user, item, value) have the
items as attributes, and a user's transactions are one tuple.
"""

from dataclasses import dataclass, field

from scumble.core.errors import ParameterError, SchemaError, did_you_mean
from scumble.core.parameters import number
from scumble.forms.tuples.record import Practical, TuplesRecord
from scumble.mechanisms.columnized.settings import Settings
from scumble.mechanisms.counted_plans import (
    NOT_COVERED,
    demand_epsilon_only,
    demand_published,
    derived_matrix,
    dp_guarantee,
    frequent_enough,
    given_total,
    matrix_text,
    of_total,
    practical,
)
from scumble.mechanisms.facts import Facts, Terms
from scumble.mechanisms.noisy_count_matrix import NoisyCountMatrix
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.suppression_odds import demand_epsilon
from scumble.privacy.guarantee import Clause, clauses
from scumble.spec.spec import Spec


@dataclass(frozen=True, repr=False)
class SchemaPlan(Plan):
    """The matrix of each column of the schema, in how many of them a tuple stays, and what a computed schema may spend."""

    matrix: NoisyCountMatrix = field(kw_only=True)
    c_star: int = field(kw_only=True)
    epsilon_schema: float = field(kw_only=True)
    settings: Settings = field(kw_only=True)

    @property
    def parameters(self) -> str:
        """The smallest crowd, and the budget of a column."""
        return matrix_text(self.matrix)

    @property
    def remarks(self) -> list[str]:
        """How frequent a tuple has to be to be published, and in how many columns it stays."""
        return [
            *frequent_enough(self.matrix),
            f"each tuple stays in at most {self.c_star} columns of the schema",
        ]


def plan(profile: Profile, spec: Spec) -> SchemaPlan:
    """The matrix of one column, and the budget of all."""
    settings = spec.settings_as(Settings)
    epsilon = demand_epsilon(demand_epsilon_only(spec))
    published = demand_published(spec)
    _demand_roles(settings, spec)
    attributes = _attributes(settings, profile, published)
    parts = min(settings.c_star or settings.size, settings.size)
    share = number(settings.schema_share, "schema_share") if settings.schema_share is not None else 0.0
    if settings.schema_share is not None and not 0 < share < 1:
        raise ParameterError(f"schema_share is a part of epsilon and lies between 0 and 1, not {settings.schema_share}")
    rest = epsilon * (1 - share) / parts
    matrix = practical(
        spec, settings.k, rest, None if settings.delta is None else number(settings.delta, "delta") / parts
    )
    spent = None if settings.schema_ is not None else epsilon * share
    terms = _terms(attributes, matrix, parts, spent, settings.total)
    return SchemaPlan(
        "columnized",
        [{}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        matrix=matrix,
        c_star=parts,
        epsilon_schema=epsilon * share,
        settings=settings,
    )


def derive(facts: Facts) -> Terms:
    """What follows from the matrix, from how many tables a tuple can be in, and from what the publisher says that the schema cost."""
    record = facts.form_as(TuplesRecord)
    counting, schema = record.counting, record.schema_
    facts.demand(isinstance(counting, Practical), "noisy counts from k on, and the manifest has others")
    assert isinstance(counting, Practical)
    matrix = derived_matrix(facts, counting.k, counting.epsilon, counting.delta)
    facts.demand(schema is not None, "a schema, and the manifest has none")
    assert schema is not None
    parts = schema.c_star
    facts.demand(
        1 <= parts <= len(schema.tables), "tables of which a tuple is in c* or fewer, and the manifest has not"
    )
    claims = facts.asked("noisy_counts")
    spent = claims[0].parameters.get("beside", 0.0) if claims and schema.schema_from == "budget" else None
    paid = schema.schema_from == "given" or (spent is not None and spent > 0)
    facts.demand(paid, "a schema that was given, or paid for with a part of epsilon, and the manifest says neither")
    columns = facts.named("counted")
    if record.transactions is not None:
        columns = [record.transactions[role] for role in ("item", "value") if role in record.transactions]
    claimed = claims[0].columns if claims else []
    return _terms(claimed if sorted(claimed) == sorted(columns) else columns, matrix, parts, spent, record.total)


def _terms(columns: list[str], matrix: NoisyCountMatrix, parts: int, spent: float | None, total: int | None) -> Terms:
    """The terms of so many tables; `spent` is what a computed schema cost."""
    given = dp_guarantee(columns, matrix, parts, spent or 0.0)
    schema = (
        clauses("given_schema") if spent is None else [Clause(code="computed_schema", parameters={"epsilon": spent})]
    )
    terms = given.model_copy(update={"conditions": [*given.conditions, *schema]})
    return Terms(given_total([terms], total), [*clauses("apart"), *NOT_COVERED], of_total(total))


def _demand_roles(settings: Settings, spec: Spec) -> None:
    for role, name in (("user", settings.user), ("item", settings.item), ("value", settings.value)):
        if name is None:
            continue
        if name not in spec.columns:
            raise SchemaError(f"the {role} column {name!r} is not in the table{did_you_mean(name, spec.columns)}")
        if role != "user" and name not in spec.published:
            raise SchemaError(
                f"the {role} column {name!r} is {spec.columns[name].role}; transactions publish it, so make it public"
            )


def _attributes(settings: Settings, profile: Profile, published: list[str]) -> list[str]:
    """The published columns of the table: all of a schema's, or item and value."""
    if settings.user is not None:
        parts = [name for name in (settings.item, settings.value) if name is not None]
        beside = [name for name in published if name not in (settings.user, *parts)]
        if beside:
            raise SchemaError(
                f"transactions publish {' and '.join(parts)} alone; drop {beside[0]!r}, or make it part of the item"
            )
        return parts
    for number_, members in enumerate(settings.schema_ or (), 1):
        for name in members:
            if name not in published:
                raise SchemaError(
                    f"column {number_} of the schema names {name!r}, which is not published{did_you_mean(str(name), published)}"
                )
        if len(set(members)) != len(members):
            raise SchemaError(f"column {number_} of the schema names an attribute twice")
    bare = [name for name in published if name not in profile.domains or name in profile.from_data]
    if settings.columns is not None and bare:
        raise SchemaError(
            f"a schema under a budget needs noise on every pair of values that could occur, and {bare[0]!r} has no declared values; make it "
            "sensitive and declare them, or give the schema yourself"
        )
    used = {name for members in settings.schema_ or () for name in members}
    return [name for name in published if settings.schema_ is None or name in used]
