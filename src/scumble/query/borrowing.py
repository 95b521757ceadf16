"""Answers whose public groups borrow strength from each other: which questions have such groups, what their model is, and what to know of the answer.

Lines of an answer are public groups times values of perturbed columns. The groups with the same values are a family: their coins are independent, and public
columns say what they have in common (query/effects.py, query/small_area.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.core.errors import ParameterError, QueryError
from scumble.core.once import once
from scumble.core.stopping import look
from scumble.query.effects import Effects, model_of
from scumble.query.estimates import Estimate, Estimates
from scumble.query.figures import Reading
from scumble.query.form_answer import Lines, PublicGroups
from scumble.query.listing import Branch
from scumble.query.model import Query
from scumble.query.ranked import at_level, clause_of
from scumble.query.small_area import FAB, SMALL_AREA, Grouped

Numbers = npt.NDArray[np.float64]

BORROWING = (SMALL_AREA, FAB)
"""The methods by which groups borrow strength from each other."""
AVERAGE = (
    "small_area: groups borrow strength from each other, by {}. Intervals hold {:g}% ON AVERAGE over all lines, not for each: "
    "a group that is unlike the others is missed more often; method fab holds for each line"
)
EACH = (
    "fab: estimates are the unbiased ones. Each interval holds with {:g}% for its own line, whatever the others are, and is shorter where these, by {}, "
    "tell rightly where to look"
)
FREE = "{}: how many rows each group has there is itself an estimate, so that estimates are not made to agree with the whole"


class Borrowing(NamedTuple):
    """How groups borrow strength."""

    method: str
    model: Sequence[str] | None = None
    """The columns with effects; None for all public ones of GROUP BY."""

    def demand(self, query: Query, united: bool, simultaneous: bool) -> None:
        """Refuses questions whose lines do not stand for one set of groups, or which ask for more than is promised."""
        if united or query.sets is not None:
            raise QueryError(
                "UNION ALL, CUBE, ROLLUP and GROUPING SETS have groupings that cannot borrow from each other; "
                "ask for each grouping apart, or with method unbiased"
            )
        if query.derived is not None and query.derived.windows:
            raise QueryError(
                f"sums over lines (OVER) cannot be answered by {self.method}, because every line has a part in them; "
                "ask for AVG(CASE WHEN ... THEN 1 ELSE 0 END) by group, or with method unbiased"
            )
        if simultaneous and self.method == SMALL_AREA:
            raise QueryError(
                "intervals of small_area hold on average, and never all together; ask with method fab, or unbiased"
            )


def borrowing_of(method: str, model: Sequence[str] | str | None) -> Borrowing | None:
    """How groups borrow strength by a method; None for one by which they do not."""
    if method in BORROWING:
        return Borrowing(method, [model] if isinstance(model, str) else model)
    if model is not None:
        raise ParameterError(
            f"a model is of the methods {' and '.join(BORROWING)}, and not of {method!r}; name one of them"
        )
    return None


@dataclass(frozen=True)
class Borrower(Branch):
    """One SELECT whose public groups borrow strength from each other."""

    how: Borrowing

    @classmethod
    def over(cls, part: Branch, how: Borrowing) -> "Borrower":
        """The part, answered so."""
        return cls(part.query, part.asked, part.forms, how)

    def at(self, level: float) -> "Borrower":
        """The same at another level."""
        return Borrower(self.query, self.asked, [at_level(form, level) for form in self.forms], self.how)

    @once
    def plain(self) -> Branch:
        """The part by the unbiased method."""
        return Branch(self.query, self.asked, self.forms)

    @once
    def columns(self) -> Estimates:
        """The columns of the answer; what is exact, or surely within its interval, stays as it is."""
        lines, names = self.plain.columns, {e.name for e in self._unsure}
        if not names:
            return lines
        if clause := clause_of(self.query, lines):
            raise QueryError(
                f"lines that {clause} chooses by their estimates are the luckiest, of which {self.how.method} promises nothing; "
                "choose groups in WHERE, or ask with method unbiased"
            )
        kept = [self._borrowed(e) if e.name in names else e for e in lines.estimates]
        return Estimates(lines.columns, lines.groups, kept, lines.level, lines.notes)

    def notes(self, shown: Lines) -> list[str]:
        """What to know of the lines that are shown."""
        own, level = self.plain.notes(shown), 100 * self.plain.columns.level
        if not self._unsure:
            return own
        if self.how.method == FAB:
            return [*own, EACH.format(level, self.model.sentence)]
        free = [e.name for e in self._unsure if self._weights(e) is None]
        return [*own, AVERAGE.format(self.model.sentence, level), *([FREE.format(", ".join(free))] if free else [])]

    @once
    def _unsure(self) -> list[Estimate]:
        """The columns in which coins have a say."""
        return [e for e in self.plain.columns.estimates if not e.exact and not e.certain and not np.all(e.se == 0)]

    @once
    def groups(self) -> PublicGroups:
        """The public groups of the lines."""
        publics = self.forms[0].publics
        if publics is None:
            raise QueryError(
                f"{self.how.method} is for releases in which all rows are published and each row has coins of its own; ask this one with method unbiased"
            )
        if not (found := publics()).names:
            raise QueryError(
                f"{self.how.method} borrows strength between groups of public columns, and there are none in GROUP BY; "
                "group by one as well, or ask with method unbiased"
            )
        return found

    @once
    def model(self) -> Effects:
        """What the groups have in common."""
        table, count = self.plain.columns.groups, len(self.groups.rows)
        if missing := [name for name in self.groups.names if name not in table.column_names]:
            raise QueryError(
                f"{self.how.method} looks at the columns of GROUP BY; put {missing[0]!r} into SELECT as well"
            )
        first = np.arange(count) * (len(self.plain) // count)
        known = min(int(self._grouped(e).rates.known.sum(axis=1).min()) for e in self._unsure)
        return model_of(table.take(first).select(list(self.groups.names)), known, self.how.model)

    def _borrowed(self, e: Estimate) -> Estimate:
        grouped, design, level = self._grouped(e), self.model.design, self.plain.columns.level
        if self.how.method == SMALL_AREA:
            return grouped.small_area(design)
        if level <= 0.5:
            raise QueryError(
                "fab has intervals at levels above 0.5, where both sides can be chosen; ask at one of these"
            )
        return grouped.fab(design, lambda share: self._at(share)[e.name])

    @once
    def _levels(self) -> dict[float, Estimates]:
        return {}

    def _at(self, level: float) -> Estimates:
        """The unbiased answer at another level, asked once for all columns."""
        if level not in self._levels:
            look()
            self._levels[level] = self.plain.at(level).columns
        return self._levels[level]

    def _grouped(self, e: Estimate) -> Grouped:
        weights, stepped = self._weights(e), e.spread or len(self.forms) > 1
        if self._kind(e) in ("count", "sum"):
            return Grouped(
                e, self.plain.columns.level, self.groups.rows, self._rows, weights, self._kind(e) == "count", stepped
            )
        whole = self._whole(e)
        return Grouped(
            e,
            self.plain.columns.level,
            self.groups.rows,
            np.full(len(self.plain), whole or 1.0),
            weights,
            whole > 0,
            stepped,
        )

    def _whole(self, e: Estimate) -> float:
        """What a share of rows can be at most, 1 or 100 say; 0 for what is no share."""
        least, most = self.plain.possible.get(e.name, (np.ones(1), np.zeros(1)))
        divisor, kinds = divisor_of(self._expression(e)), {a.name: a.kind for a in self.query.aggregates}
        counts = divisor is not None and all(
            kinds.get(v.name) == "count" for v in self._expression(e).find_all(exp.Var)
        )
        if (self._kind(e) == "avg" or counts) and np.all(least == 0) and np.all(most == most[0]) and most[0] > 0:
            return float(most[0]) if counts or most[0] == 1 else 0.0
        return 0.0

    @property
    def _rows(self) -> Numbers:
        """Of the public group of each line."""
        return np.repeat(self.groups.rows, len(self.plain) // len(self.groups.rows))

    def _expression(self, e: Estimate) -> exp.Expression:
        made = self.query.derived.columns if self.query.derived is not None else ()
        return {column.name: column.expression for column in made}.get(e.name, exp.Var(this=e.name))

    def _kind(self, e: Estimate) -> str:
        """What an aggregate that is shown itself is; nothing for what is made of several."""
        kinds = {aggregate.name: aggregate.kind for aggregate in self.query.aggregates}
        expression = self._expression(e)
        return kinds.get(expression.name, "") if isinstance(expression, exp.Var) else ""

    def _weights(self, e: Estimate) -> Numbers | None:
        """How often the rates of lines count in the whole; None where that is an estimate itself."""
        kind, expression = self._kind(e), self._expression(e)
        if kind in ("count", "sum"):
            return self._rows
        if kind == "avg":
            return self.groups.counted.get(expression.name)
        divisor = divisor_of(expression)
        exact = {leaf.name for leaf in self.plain.leaves.estimates if leaf.exact}
        names = {leaf.name for leaf in divisor.find_all(exp.Var)} if divisor is not None else set()
        if divisor is None or not names or not names <= exact:
            return None
        return Reading(self.plain.figures, len(self.plain)).figure(divisor).value


def divisor_of(e: exp.Expression) -> exp.Expression | None:
    """What a share is divided by, whatever constant it is multiplied with; None for what is no share."""
    while not isinstance(e, exp.Div):
        if not isinstance(e, exp.Paren | exp.Round | exp.Cast | exp.Mul):
            return None
        sides = [e.left, e.right] if isinstance(e, exp.Mul) else [e.this]
        parts = [side for side in sides if side.find(exp.Var)]
        if len(parts) != 1:
            return None
        e = parts[0]
    found: exp.Expression = e.right
    return found if e.left.find(exp.Var) else None
