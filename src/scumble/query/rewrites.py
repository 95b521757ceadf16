"""Questions in the values of the table, put in those that were published: a list of rules, each Query -> Query.

A rule says what to know of its answer, and may have something to undo on it: helper columns, say, that nobody asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scumble.query import rounding
from scumble.query.coarse import Coarse, notes_of, numbers_in_steps
from scumble.query.estimates import Estimates
from scumble.query.merged import Ends, at_merged, notes_of_sums
from scumble.query.middle import Spread, in_middles, put_together
from scumble.query.model import Query
from scumble.query.part_columns import Parts, of_wholes


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
    """Numbers that were rounded: sums reach as far as they may, conditions are asked as they surely hold and as they may.

    It is the last rule: no other sees its variants.
    """
    notes = rounding.notes_of(query, recoding.reaches)
    changed, undo = rounding.with_rows(query, recoding.reaches)
    return Rewritten(changed, notes, undo, rounding.variants(changed, recoding.reaches))


RULES: tuple[Callable[[Query, Recoding], Rewritten], ...] = (taken_as_one, coarsened, merged, rounded, on_grid)


def rewritten(query: Query, recoding: Recoding) -> Rewritten:
    """A question after all rules; what the last one did is undone first."""
    whole = Rewritten(query)
    for rule in RULES:
        after = rule(whole.query, recoding)
        whole = replace(after, notes=[*whole.notes, *after.notes], undo=_both(after.undo, whole.undo))
    return whole


def _both(
    first: Callable[[Estimates], Estimates], then: Callable[[Estimates], Estimates]
) -> Callable[[Estimates], Estimates]:
    return lambda answer: then(first(answer))
