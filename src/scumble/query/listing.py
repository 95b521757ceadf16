"""The parts of a question, each one SELECT with one grouping, and their lines together: which are shown, in which order, and at what level they hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from scumble.core.once import once
from scumble.query.aggregates.aggregation import LINEAR
from scumble.query.derive import Made, derive, limits_of, made_of, without_hidden
from scumble.query.deviations import stretched
from scumble.query.estimates import Estimate, Estimates
from scumble.query.figures import Figure, Reading
from scumble.query.form_answer import Answer, Lines
from scumble.query.hulls import Hull, hull_of_limits, without_counts
from scumble.query.lines import Condition
from scumble.query.model import Query
from scumble.query.possible import Limits, beyond, cut_to, ends_of
from scumble.query.ranked import Family, at_level, clause_of, may_be_first, note_of, uncertain
from scumble.query.rewrites import Recoding, Rewritten, rewritten
from scumble.query.stacked import stacked


@dataclass(frozen=True)
class Told:
    """What a form said to a question, after what the rules did to it is undone."""

    query: Query
    asked: Rewritten
    form: Answer

    @once
    def leaves(self) -> Estimates:
        """The aggregates, and the counts that averages are stretched by."""
        return self.asked.undo(self.form.estimates)

    @once
    def made(self) -> Made:
        """The aggregates, and what is known of them together."""
        form = self.form if self.query.derived is not None else replace(self.form, covariance=None)
        return made_of(self.query, without_counts(self.leaves), form)

    def limits(self, *, exactly: bool) -> Limits:
        """What aggregates can be; exactly, those that are exact what they are."""
        ends = self.asked.undo(ends_of(self.form.estimates, self.form.limits(), exactly=exactly))
        return {e.name: (e.low, e.high) for e in ends.estimates}

    @once
    def columns(self) -> Estimates:
        """The columns of the answer."""
        if self.query.derived is None:
            return self.made.leaves
        return stretched(derive(self.query, self.made), self.query, self.asked.reaches, self.made.leaves)

    @once
    def possible(self) -> Limits:
        """What they can be."""
        limits = self.limits(exactly=True)
        return limits if self.query.derived is None else limits_of(self.query, self.made, limits, self.form)


@dataclass(frozen=True)
class Branch:
    """One SELECT with one grouping, and what a form said to it: as it is, and as it may be where values are not known."""

    query: Query
    asked: Rewritten
    forms: Sequence[Answer]

    @classmethod
    def of(cls, query: Query, recoding: Recoding, answer: Callable[[Query], Answer]) -> "Branch":
        """The part, answered."""
        asked = rewritten(query, recoding)
        return cls(query, asked, [answer(asked.query), *(answer(variant) for variant in asked.variants)])

    def at(self, level: float) -> "Branch":
        """The same at another level."""
        return Branch(self.query, self.asked, [at_level(form, level) for form in self.forms])

    def __len__(self) -> int:
        return len(self._own.columns)

    @once
    def _told(self) -> list[Told]:
        return [Told(self.query, self.asked, form) for form in self.forms]

    @property
    def _own(self) -> Told:
        return self._told[0]

    @once
    def _hull(self) -> Hull:
        own, *others = self._told
        first = Hull(self.query, own.leaves, [other.leaves for other in others], {}, self.asked.unknown)
        limits = zip((other.limits(exactly=False) for other in others), first.places, strict=True)
        return replace(first, limits=hull_of_limits(own.limits(exactly=False), list(limits)))

    @once
    def columns(self) -> Estimates:
        """The columns of the answer, for every line, also those that it is only ordered by; nothing is cut."""
        own, *others = self._told
        if not others:
            return own.columns
        if self.query.derived is None:
            return self._hull.aggregates
        known = {column.name: column.expression for column in self.query.derived.columns}
        kept = [self._column(e, known[e.name]) for e in own.columns.estimates]
        lines = own.columns
        return Estimates(lines.columns, lines.groups, kept, lines.level, lines.notes)

    def _column(self, e: Estimate, expression: exp.Expression) -> Estimate:
        if isinstance(expression, exp.Var) and expression.name in self._hull.aggregates.columns:
            leaf: Estimate = self._hull.aggregates[expression.name]
            return replace(leaf, name=e.name)
        return self._hull.column(e, [other.columns[e.name] for other in self._told[1:]], expression)

    def cut(self, values: bool) -> Estimates:
        """The same, cut to what is possible."""
        return cut_to(self.columns, self.possible, values=values)

    @once
    def possible(self) -> Limits:
        """What the columns can be."""
        own, *others = self._told
        places = self._hull.places if others else []
        return hull_of_limits(own.possible, [(o.possible, at) for o, at in zip(others, places, strict=True)])

    @property
    def leaves(self) -> Estimates:
        """The aggregates."""
        return self._own.made.leaves

    @property
    def figures(self) -> dict[str, Figure]:
        """The same, as expressions of them are read."""
        return self._own.made.figures

    @property
    def correlations(self) -> npt.NDArray[np.float64] | None:
        """Those of the columns that are shown and uncertain."""
        made = made_of(self.query, self._own.made.leaves, self._own.form)
        return made.correlations(self._figures(made))

    def _figures(self, made: Made) -> list[Figure]:
        shown = self.query.derived.columns if self.query.derived is not None else ()
        known = {column.name: column.expression for column in shown}
        reading = Reading(made.figures, len(self))
        return [reading.figure(known.get(e.name, exp.Var(this=e.name))) for e in uncertain(self.columns)]

    def together(self, lines: Lines) -> npt.NDArray[np.float64] | None:
        """The covariances of the columns that are shown and uncertain, at some lines with all at the others: columns, lines, columns, lines.

        None where they are not known; quantiles and the like are no sums.
        """
        form, own = self._own.form, self._own.made.leaves
        if form.across is None or any(a.kind not in LINEAR for a in self.query.aggregates):
            return None
        covariance = form.across(lines)
        if covariance is None:
            return None
        figures = self._figures(Made(own, (), None))
        gradients = np.stack([figure.gradient[:, lines] for figure in figures])
        count = gradients.shape[1]  # helpers behind the aggregates are gone
        return np.asarray(np.einsum("cai,abij,dbj->cidj", gradients, covariance[:count, :count], gradients))

    def kept(self, reach: float = 0.0, *, surely: bool = False) -> Lines:
        """The lines that HAVING and QUALIFY leave; or may leave, or surely do, where estimates are so many standard errors off."""
        lines = np.arange(len(self))
        clauses = (self.query.derived.having, self.query.derived.qualify) if self.query.derived is not None else ()
        for clause in (clause for clause in clauses if clause is not None):
            condition = Condition(self._own.made.take(lines), reach)  # QUALIFY numbers the lines that HAVING leaves
            lines = lines[condition.holds_surely(clause) if surely else condition.may_hold(clause)]
        return lines

    def notes(self, shown: Lines) -> list[str]:
        """What to know of the lines that are shown."""
        made = self.columns.notes if self.query.derived is not None else []
        return [*self.asked.notes, *made, *self.forms[0].notes(shown)]


@dataclass(frozen=True)
class Listing:
    """All parts, and what is asked of their lines together."""

    parts: Sequence[Branch]
    query: Query
    """The first of them, with the order and the limit of all."""
    united: bool
    simultaneous: bool
    cut: bool

    def answer(self) -> Estimates:
        """The lines that are shown; where they are chosen by their estimates, intervals hold for all that might have been chosen."""
        shown, level = self.shown(), self.parts[0].columns.level
        every = sum(map(len, self.parts))
        chosen = clause_of(self.query, self.parts[0].columns) if len(shown) < every else ""
        if every > 1 and (self.simultaneous or chosen):
            asked = [(part.columns, part.correlations) for part in self.parts]
            family = Family.of(asked, None if self.simultaneous else self._may_be_shown, level)
            if family.columns:
                wider = [part.at(family.each) for part in self.parts]
                return self._lines(wider, shown, level, [note_of(chosen, family, level)])
        return self._lines(self.parts, shown, level, [])

    def _lines(self, parts: Sequence[Branch], shown: Lines, level: float, notes: list[str]) -> Estimates:
        lines = without_hidden(self._together([part.cut(self.cut) for part in parts])).take(shown)
        told = [note for part, some in zip(parts, self._apart(shown), strict=True) for note in part.notes(some)]
        below = list(dict.fromkeys([*told, *beyond(lines), *notes]))
        return Estimates(lines.columns, lines.groups, lines.estimates, level, below)

    def _together(self, answers: Sequence[Estimates]) -> Estimates:
        return stacked(answers, self.query) if self.united else answers[0]

    def _joined(self, lines: Sequence[Lines]) -> Lines:
        """Lines of the parts as lines of the whole."""
        starts = np.cumsum([0, *map(len, self.parts)])[:-1]
        return np.concatenate([some + start for some, start in zip(lines, starts, strict=True)]).astype(np.intp)

    def _apart(self, lines: Lines) -> list[Lines]:
        """Lines of the whole as lines of each part."""
        ends = np.cumsum([0, *map(len, self.parts)])
        return [lines[(lines >= a) & (lines < b)] - a for a, b in pairwise(ends)]

    def shown(self) -> Lines:
        """HAVING, QUALIFY, ORDER BY, OFFSET and LIMIT: the lines that are shown, in the order in which they are."""
        order = self._joined([part.kept() for part in self.parts])
        if self.query.order:
            table = self._together([part.columns for part in self.parts]).to_arrow().take(pa.array(order))
            keys = pa.table({f"k{i}": table.column(key.name) for i, key in enumerate(self.query.order)})
            ways = [(f"k{i}", "descending" if k.descending else "ascending") for i, k in enumerate(self.query.order)]
            order = order[pc.sort_indices(keys, sort_keys=ways).to_numpy().astype(np.intp)]
        end = None if self.query.limit is None else self.query.offset + self.query.limit
        return order[self.query.offset : end]

    def _may_be_shown(self, reach: float) -> list[Lines]:
        """Of each part the lines that are shown if estimates are so many standard errors off."""
        kept = [part.kept(reach) for part in self.parts]
        if self.query.limit is None or not self.query.order:
            return kept
        key = self.query.order[0]
        estimates = {e.name: e for e in self._together([part.columns for part in self.parts]).estimates}
        if key.name not in estimates:
            return kept
        surely = self._joined([part.kept(reach, surely=True) for part in self.parts])
        last = self.query.offset + self.query.limit
        return self._apart(may_be_first(estimates[key.name], self._joined(kept), surely, last, reach, key.descending))
