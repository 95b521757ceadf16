"""Noisy marginals as a mechanism: which columns are counted together, with how much of epsilon each, and what that guarantees."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from scumble.core.display import Card, Grid
from scumble.core.domain import Domain
from scumble.core.errors import ParameterError, SchemaError, did_you_mean
from scumble.core.parameters import plain
from scumble.mechanisms.counted_plans import demand_epsilon_only, demand_published
from scumble.mechanisms.marginals.settings import Settings
from scumble.mechanisms.marginals.split import pairs, shares
from scumble.mechanisms.marginals.terms import terms_of
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, listed_domain
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.suppression_odds import demand_epsilon
from scumble.spec.spec import Spec

MOST_CELLS = 20_000_000
"""Cells of all marginals together, which are counted in memory."""

MOST_MADE_UP = 200_000_000
"""Rows that noise alone adds to all tables, about, at most."""


@dataclass(frozen=True)
class MarginalPlan:
    """One marginal: its columns, its cells, and its noise."""

    columns: Sequence[str]
    cells: int
    noise: ClampedCounts

    @property
    def variance(self) -> float:
        """Of a count."""
        return float(self.noise.estimate([1])[1][0])


@dataclass(frozen=True, repr=False)
class MarginalsPlan(Plan):
    """The marginals that are counted."""

    marginals: Sequence[MarginalPlan] = field(kw_only=True)
    domains: dict[str, Domain] = field(kw_only=True)

    @property
    def parameters(self) -> str:
        """How many marginals, and the budget of all."""
        (guarantee,) = self.guarantees[:1]
        return f"{len(self.marginals)} marginals, epsilon = {guarantee.parameters['epsilon']:.3g}"

    @property
    def odds_factor(self) -> float:
        """A row with one value in the place of the row with another is one removed and one added: exp(2 epsilon)."""
        return math.exp(2 * math.fsum(marginal.noise.rate for marginal in self.marginals))

    @property
    def remarks(self) -> list[str]:
        """What is counted, with which noise."""
        return [
            f"marginal of {', '.join(m.columns)}: {m.cells:,} cells, epsilon = {plain(m.noise.rate, 4)}, standard error of a cell {plain(math.sqrt(m.variance), 4)}"
            for m in self.marginals
        ]

    def card(self) -> Card:
        """The marginals, what they will guarantee, and what the publisher should think about."""
        card = super().card()
        rows = [
            (", ".join(m.columns), f"{m.cells:,}", plain(m.noise.rate, 4), plain(math.sqrt(m.variance), 4))
            for m in self.marginals
        ]
        return Card(card.title, [Grid(("marginal", "cells", "epsilon", "standard error"), rows, (0,)), *card.parts])


def plan(profile: Profile, spec: Spec) -> MarginalsPlan:
    """The marginals that the spec asks for, and their shares of epsilon."""
    settings = spec.settings_as(Settings)
    epsilon = demand_epsilon(demand_epsilon_only(spec))
    columns = demand_published(spec)
    _demand_domains(profile, spec, columns)
    sizes = {name: profile.domains[name].size for name in columns}
    chosen, too_large = (
        (_given(settings.marginals, columns), []) if settings.marginals else pairs(sizes, settings.most_cells)
    )
    cells = [listed_domain(sizes[name] for name in members) for members in chosen]
    noises = [ClampedCounts.full(share) for share in shares(cells, epsilon, settings.split)]
    marginals = [MarginalPlan(*each) for each in zip(chosen, cells, noises, strict=True)]
    _demand_size(marginals)
    terms = terms_of(columns, [noise.rate for noise in noises])
    return MarginalsPlan(
        "marginals",
        [{}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        warnings=_left_out(too_large, settings.most_cells),
        marginals=marginals,
        domains={name: profile.domains[name] for name in columns},
    )


def _left_out(too_large: Sequence[Sequence[str]], most: int) -> list[str]:
    """Pairs that nobody will be able to ask for, because nobody named them."""
    if not too_large:
        return []
    named = "; ".join(", ".join(pair) for pair in too_large[:10]) + ("; ..." if len(too_large) > 10 else "")
    return [
        f"pairs with more than {most:,} combinations (most_cells) are not counted: {named}; name them in marginals to have them"
    ]


def _demand_domains(profile: Profile, spec: Spec, columns: Sequence[str]) -> None:
    """Every column has values that were declared: noise is on every combination, also on those that nobody has."""
    for name in columns:
        if name not in profile.domains:
            raise SchemaError(
                f"marginals count every combination of declared values, and {name!r} has none; make it sensitive and declare its values "
                "(values, or low, high and step), or drop it"
            )
        if spec.columns[name].from_data or name in profile.from_data:
            raise SchemaError(
                f"the values of {name!r} were taken from the data (from_data), and marginals promise that no single row shows; declare values that were known before"
            )


def _given(marginals: Sequence[Sequence[str]], columns: Sequence[str]) -> list[list[str]]:
    """The marginals of the spec, once each column is in one and no marginal is there twice."""
    for number, members in enumerate(marginals, 1):
        for name in members:
            if name not in columns:
                raise SchemaError(
                    f"marginal {number} names {name!r}, which is not published{did_you_mean(name, columns)}"
                )
        if len({*members}) != len(members):
            raise SchemaError(f"marginal {number} names a column twice")
    sets = [frozenset(members) for members in marginals]
    if len({*sets}) != len(sets):
        twice = next(m for place, m in enumerate(marginals) if sets.index(frozenset(m)) != place)
        raise SchemaError(f"there are two marginals of {', '.join(twice)}; name it once, with all of their budget")
    bare = [name for name in columns if not any(name in members for members in marginals)]
    if bare:
        raise SchemaError(f"column {bare[0]!r} is in no marginal; name it in one, or drop it")
    return [list(members) for members in marginals]


def _demand_size(marginals: Sequence[MarginalPlan]) -> None:
    """Refuses more cells than are counted, and tables that noise would fill: about half of the cells that nobody has are published."""
    worst = max(marginals, key=lambda m: m.cells / m.noise.rate)
    cells = sum(m.cells for m in marginals)
    if cells > MOST_CELLS:
        raise ParameterError(
            f"these marginals have {cells:,} cells together, at most {MOST_CELLS:,}; leave out or coarsen the largest ({', '.join(worst.columns)}: {worst.cells:,})"
        )
    made_up = sum(m.cells * m.noise.r / (1 - m.noise.r**2) for m in marginals)
    if made_up > MOST_MADE_UP:
        raise ParameterError(
            f"noise would add about {made_up:,.0f} rows to these marginals, at most {MOST_MADE_UP:,}; leave out or coarsen the largest ({', '.join(worst.columns)}: "
            f"{worst.cells:,} cells), or give more epsilon"
        )
