"""Columnization as a mechanism: a schema, at most c* of its columns for each tuple, and noisy counts in each at (epsilon / c*, delta / c*).

The schema is the publisher's, fixed without looking at the data; or it is computed from noisy correlations under a stated share of epsilon
(`noisy_schema`), and the columns get the rest. A table of rows has its columns as attributes; transactions (user, item, value) have the
items as attributes, and a user's transactions are one tuple.
"""

from dataclasses import dataclass, field

from scumble.core.errors import ParameterError, SchemaError, did_you_mean
from scumble.core.parameters import number
from scumble.mechanisms.columnized.settings import Settings
from scumble.mechanisms.columnized.terms import terms_of
from scumble.mechanisms.counted_plans import (
    demand_epsilon_only,
    demand_published,
    frequent_enough,
    matrix_text,
    practical,
)
from scumble.mechanisms.noisy_count_matrix import NoisyCountMatrix
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.suppression_odds import demand_epsilon
from scumble.spec.spec import Spec

HISTOGRAM_SHARE = 0.1
"""Of epsilon, where a cap takes tuples out of columns and nothing else is said."""

LOWER = "without a histogram of columns (histogram_share = 0) answers will be lower counts, without an upper end"


@dataclass(frozen=True, repr=False)
class SchemaPlan(Plan):
    """The matrix of each column of the schema, in how many of them a tuple stays, and what a computed schema may spend."""

    matrix: NoisyCountMatrix = field(kw_only=True)
    c_star: int = field(kw_only=True)
    epsilon_schema: float = field(kw_only=True)
    epsilon_histogram: float = field(kw_only=True)
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
            *([LOWER] if self.c_star < self.settings.size and not self.epsilon_histogram else []),
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
    counting = _histogram_share(settings, share, capped=parts < settings.size)
    rest = epsilon * (1 - share - counting) / parts
    matrix = practical(
        spec, settings.k, rest, None if settings.delta is None else number(settings.delta, "delta") / parts
    )
    spent = None if settings.schema_ is not None else epsilon * share
    terms = terms_of(attributes, matrix, parts, spent, settings.total, epsilon * counting)
    return SchemaPlan(
        "columnized",
        [{}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        matrix=matrix,
        c_star=parts,
        epsilon_schema=epsilon * share,
        epsilon_histogram=epsilon * counting,
        settings=settings,
    )


def _histogram_share(settings: Settings, schema_share: float, *, capped: bool) -> float:
    """The share of epsilon that a histogram of columns uses: none where no tuple is taken out of a column."""
    if settings.histogram_share is None:
        return HISTOGRAM_SHARE * (1 - schema_share) if capped else 0.0
    share = number(settings.histogram_share, "histogram_share")
    if share and not capped:
        raise ParameterError(
            "histogram_share is for tuples that stay in fewer columns than the schema has; give c_star, or leave it out"
        )
    if not 0 <= share < 1 - schema_share:
        raise ParameterError(
            f"histogram_share is a part of epsilon, and lies with schema_share between 0 and 1, not {settings.histogram_share}"
        )
    return share


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
