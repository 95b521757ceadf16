"""Questions in the values of the table, put in those that were published: a list of rules, each Query -> Query.

A rule says what to know of its answer, and may have something to undo on it: helper columns, say, that nobody asked for.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from scumble.query import rounding
from scumble.query.coarse import Coarse, notes_of, numbers_in_steps, unknown_of
from scumble.query.estimates import Estimates
from scumble.query.hulls import at_least, with_counts
from scumble.query.merged import Ends, Members, at_merged, in_lists, in_spread, notes_of_sums
from scumble.query.middle import Spread, in_middles, put_together
from scumble.query.model import Query
from scumble.query.part_columns import Parts, of_wholes
from scumble.query.settled import Around, Named, Unknown, in_names, variants


def _unchanged(answer: Estimates) -> Estimates:
    return answer


@dataclass(frozen=True)
class Recoding:
    """What became of the values of columns before publishing, coins apart."""

    coarse: Mapping[str, Coarse] = field(default_factory=dict)
    """Columns whose values stand for several of the table, by a rule."""
    merged: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """Columns of which values were put together: what a value is published as."""
    ends: Mapping[str, Ends] = field(default_factory=dict)
    """Those of them that have numbers: which ones a published number stands for."""
    reaches: rounding.Reaches = field(default_factory=dict)
    """Perturbed columns whose numbers were put on the nearest point of a grid, and how far at most."""
    parts: Parts = field(default_factory=dict)
    """Columns of the table that were perturbed as one with others: what each is of the published one."""
    members: Mapping[str, Members] = field(default_factory=dict)
    """Of merged columns the published values, and those of the table that each stands for."""

    @property
    def unknown(self) -> Unknown:
        """The columns whose published values stand for others too."""
        unknown: dict[str, Around | Named] = {}
        for name, reach in self.reaches.items():
            unknown[name] = rounding.around(reach)
        for name, column in self.coarse.items():
            if (own := unknown_of(column)) is not None:
                unknown[name] = own
        for name, members in self.members.items():
            numbers = name in self.ends or not any(isinstance(v, str) for v, _ in members)
            unknown[name] = in_spread(self.spreads.get(name)) if numbers else in_lists(members)
        return unknown

    @property
    def moved(self) -> dict[str, float]:
        """How far numbers may lie from the points, or from the middles of steps, that they are taken for."""
        steps = {
            name: max(own.reach, *(own.reach + w for _, w in own.further), 0.0) / 2
            for name, own in self.spreads.items()
        }
        return {**steps, **self.reaches}

    @property
    def spreads(self) -> dict[str, Spread]:
        """What published numbers stand for."""
        spreads = {name: Spread(own.reach) for name, own in numbers_in_steps(self.coarse).items()}
        for name, ends in self.ends.items():
            further = tuple((low, high - low) for low, high in ends if high > low)
            spreads[name] = Spread(spreads[name].reach if name in spreads else 0.0, further)
        return spreads


@dataclass(frozen=True)
class Rewritten:
    """A question, what to know of its answer, and what is to be done to that."""

    query: Query
    notes: list[str] = field(default_factory=list)
    undo: Callable[[Estimates], Estimates] = _unchanged
    variants: list[Query] = field(default_factory=list)
    """The question as values may make it that are not known; intervals hold the answers to all of them."""
    unknown: Collection[str] = ()
    """The columns whose values are not known."""
    reaches: Mapping[str, float] = field(default_factory=dict)
    """How far numbers of columns may lie from what they are taken for, where that is known."""


def taken_as_one(query: Query, recoding: Recoding) -> Rewritten:
    """Parts of a column that was perturbed as a whole are asked for as functions of it."""
    return Rewritten(of_wholes(query, recoding.parts))


def coarsened(query: Query, recoding: Recoding) -> Rewritten:
    """Coarse columns are asked as they are; bounds and values that fall inside of a step are told."""
    return Rewritten(query, notes_of(query, recoding.coarse))


def merged(query: Query, recoding: Recoding) -> Rewritten:
    """Values that were put together are asked for by the one that was published."""
    changed, notes = at_merged(query, recoding.merged)
    return Rewritten(changed, [*notes_of_sums(query, recoding.ends), *notes])


def rounded(query: Query, recoding: Recoding) -> Rewritten:
    """Numbers in steps are summed in the middles of these, and at both ends, to where the interval reaches."""
    changed, ends = in_middles(query, recoding.spreads)
    return Rewritten(changed, undo=lambda answer: put_together(answer, ends)) if ends else Rewritten(query)


def on_grid(query: Query, recoding: Recoding) -> Rewritten:
    """Numbers that were rounded: sums reach as far as they may."""
    changed, undo = rounding.with_rows(query, recoding.reaches)
    return Rewritten(changed, rounding.notes_of(query, recoding.reaches), undo)


def distinct(query: Query, recoding: Recoding) -> Rewritten:
    """Of values that were put together there are at least as many as of published ones."""
    names = {c.name for c in query.aggregates if c.kind == "distinct" and _named_in(c.value, recoding.unknown)}

    def undo(answer: Estimates) -> Estimates:
        kept = [at_least(e) if e.name in names else e for e in answer.estimates]
        return Estimates(answer.columns, answer.groups, kept, answer.level, answer.notes)

    return Rewritten(query, undo=undo) if names else Rewritten(query)


def _named_in(value: exp.Expression | None, unknown: Unknown) -> bool:
    return value is not None and any(column.name in unknown for column in value.find_all(exp.Column))


RULES: tuple[Callable[[Query, Recoding], Rewritten], ...] = (
    taken_as_one,
    coarsened,
    merged,
    distinct,
    rounded,
    on_grid,
)


def rewritten(query: Query, recoding: Recoding) -> Rewritten:
    """A question after all rules, and as it may be where published values stand for others."""
    others = variants(query, recoding.unknown)
    if not others:
        return replace(_by_rules(query, recoding), reaches=recoding.moved)
    own = _by_rules(with_counts(in_names(query, recoding.unknown)), recoding)
    asked = [_by_rules(with_counts(other), recoding).query for other in others]
    return replace(
        own,
        notes=_by_rules(query, recoding).notes,
        variants=asked,
        unknown=frozenset(recoding.unknown),
        reaches=recoding.moved,
    )


def _by_rules(query: Query, recoding: Recoding) -> Rewritten:
    """A question after all rules; what the last one did is undone first."""
    whole = Rewritten(query)
    for rule in RULES:
        after = rule(whole.query, recoding)
        whole = Rewritten(after.query, [*whole.notes, *after.notes], _both(after.undo, whole.undo))
    return whole


def _both(
    first: Callable[[Estimates], Estimates], then: Callable[[Estimates], Estimates]
) -> Callable[[Estimates], Estimates]:
    return lambda answer: then(first(answer))
