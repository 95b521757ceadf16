"""Are groups different? All pairs of lines of an answer, or of its columns where it has one line.

Where the covariance of the lines is known (query/across.py), a difference D has the standard error of the joint law, and intervals and p-values hold together
by the largest of all differences (query/contrasts.py). Of an average whose rows are themselves an estimate the interval is wider, by Fieller's 1 / (1 - g) with
g = (z s)^2; so that 0 is c standard errors away where

    |D| / se  =  c / (1 - c^2 s^2)          and  c = (sqrt(1 + 4 s^2 d^2) - 1) / (2 s^2 d),    d = |D| / se

Where no covariance is known, two intervals that miss with probability a / 2 each are a distance apart that misses with a at most; p is the least a at which
they are apart, times the pairs that there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.errors import QueryError
from scumble.query.code_lists import Tables
from scumble.query.contrasts import Contrasts
from scumble.query.estimates import Estimate
from scumble.query.form_answer import Answer, Lines
from scumble.query.listing import Branch, Listing
from scumble.query.model import BESIDE, Query
from scumble.query.parse import parse_all
from scumble.query.ranked import clause_of, uncertain
from scumble.query.rewrites import Recoding
from scumble.query.stacked import groupings
from scumble.query.tested import P, Tested

Numbers = npt.NDArray[np.float64]

MOST_LINES = 60
"""Lines that are compared with each other, at most."""
CHANCES = np.logspace(-9, 0, 91)
"""Among which a p-value is looked for where no covariance is known; it is 26% too large at most."""
MEASURE, DIFFERENCE, OTHER = "measure", "difference", "other_{}"
APART = "no covariance is known of what is published so: two lines differ where their intervals are apart, which holds however they go together"


def question_of(sql: str, columns: Sequence[str], beside: Sequence[str], name: str, tables: Tables | None) -> Query:
    """The one question that a text asks, whose lines are neither chosen nor added up by their estimates."""
    queries, ends = parse_all(sql, columns, beside, name, tables)
    first = queries[0]
    if ends is not None or len(groupings(first)) > 1:
        raise QueryError("UNION ALL, CUBE, ROLLUP and GROUPING SETS cannot be compared; ask for each grouping apart")
    if first.derived is not None and first.derived.windows:
        raise QueryError(
            "sums over lines (OVER) cannot be compared, because every line has a part in them; "
            "compare the counts themselves, or AVG(CASE WHEN ... THEN 1 ELSE 0 END) by group"
        )
    return first


def compare(
    sql: str,
    columns: Sequence[str],
    recoding: Recoding,
    answer: Callable[[Query], Answer],
    beside: Sequence[str] = BESIDE,
    name: str = "",
    tables: Tables | None = None,
) -> Tested:
    """The differences between all lines of an answer. The arguments are those of query/ask.py."""
    query = question_of(sql, columns, beside, name, tables)
    part = Branch.of(query, recoding, answer)
    listing = Listing([part], query, False, False, False)
    lines = _lines(listing, query, part)
    estimates = _estimates(part)
    compared = (
        Comparisons.of_columns(part, estimates) if not query.groups else Comparisons.of_lines(part, estimates, lines)
    )
    exact = [e.name for e in part.columns.estimates if e.exact and e.name in dict(query.shown)]
    notes = [*part.notes(lines), *([f"{', '.join(exact)}: exact, so that there is nothing to test"] if exact else [])]
    return compared.answer(part, notes)


def _lines(listing: Listing, query: Query, part: Branch) -> Lines:
    """The lines that are compared, in their order."""
    if clause := clause_of(query, part.columns):
        raise QueryError(
            f"lines that {clause} chooses by their estimates cannot be compared, as the luckiest would be; choose groups in WHERE"
        )
    shown = {name for name, group in query.shown if group}
    if any(group.name not in shown for group in query.groups):
        raise QueryError("lines that are compared have names: put the columns of GROUP BY into SELECT as well")
    lines = listing.shown()
    if len(lines) > MOST_LINES:
        raise QueryError(
            f"{len(lines):,} lines have {len(lines) * (len(lines) - 1) // 2:,} pairs, and {MOST_LINES} lines are compared at most; choose groups in WHERE"
        )
    if query.groups and len(lines) < 2:
        raise QueryError("there is one line at most, and two are needed to compare; ask by more groups")
    return lines


def _estimates(part: Branch) -> list[Estimate]:
    """The columns in which chance has a say."""
    found = uncertain(part.columns)
    if not found:
        sure = any(e.certain for e in part.columns.estimates)
        why = (
            "its intervals are sure, and no matter of chance"
            if sure
            else "all of it is exact, from public columns alone"
        )
        raise QueryError(f"there is nothing to test in this answer: {why}; ask without a comparison and subtract")
    return found


@dataclass(frozen=True)
class Sides:
    """Estimates one by one, whatever line and column they are of."""

    value: Numbers
    se: Numbers
    low: Numbers
    high: Numbers
    stepped: npt.NDArray[np.bool_]
    """Whether an interval reaches farther than coins do, because numbers or conditions lie in steps."""

    @classmethod
    def of(cls, estimates: Sequence[Estimate], lines: Lines, stepped: bool) -> "Sides":
        """The columns below each other."""
        value, se, low, high = (
            np.concatenate([getattr(e, name)[lines] for e in estimates]) for name in ("value", "se", "low", "high")
        )
        flags = np.repeat([stepped or e.spread for e in estimates], len(lines))
        return cls(value, np.nan_to_num(se), low, high, flags)

    def beyond(self, z: float) -> Numbers:
        """How far intervals reach beyond what coins do."""
        far = np.fmax(self.high - self.value, self.value - self.low) - z * self.se
        return np.where(self.stepped, np.maximum(np.nan_to_num(far, nan=0.0, posinf=np.inf), 0), 0)

    def shakiness(self, z: float) -> Numbers:
        """s^2 of the docstring above, by how much wider than z standard errors the interval is."""
        with np.errstate(all="ignore"):
            half = (self.high - self.low) / 2
            wider = np.where(np.isfinite(half), 1 - z * self.se / half, 1.0)
        return np.where(self.stepped | (self.se == 0), 0, np.clip(np.nan_to_num(wider, nan=1.0), 0, 1)) / z**2


@dataclass(frozen=True)
class Comparisons:
    """What is compared with what."""

    estimates: Sequence[Estimate]
    lines: Lines
    covariance: Numbers | None
    """Of all of them with each other."""
    one: npt.NDArray[np.intp]
    other: npt.NDArray[np.intp]
    names: pa.Table

    @classmethod
    def of_columns(cls, part: Branch, estimates: Sequence[Estimate]) -> "Comparisons":
        """The columns of the only line."""
        if len(estimates) < 2:
            raise QueryError(
                "there is one number to compare, and two are needed; ask by a GROUP BY, or for two columns"
            )
        one, other = np.array(list(combinations(range(len(estimates)), 2))).T
        titles = np.array([e.name for e in estimates])
        names = pa.table({MEASURE: titles[one], OTHER.format(MEASURE): titles[other]})
        return cls(estimates, np.zeros(1, dtype=np.intp), part.together(np.zeros(1, dtype=np.intp)), one, other, names)

    @classmethod
    def of_lines(cls, part: Branch, estimates: Sequence[Estimate], lines: Lines) -> "Comparisons":
        """All lines, in the only column."""
        if len(estimates) > 1:
            names = " and ".join(repr(e.name) for e in estimates)
            raise QueryError(
                f"lines are compared in one column at a time, and {names} are estimates; ask for one of them"
            )
        one, other = np.array(list(combinations(range(len(lines)), 2))).T
        groups = part.columns.groups.take(pa.array(lines))
        named: dict[str, pa.ChunkedArray] = {}
        for title, places in (("{}", one), (OTHER, other)):
            for name in groups.column_names:
                if title.format(name) in (*named, DIFFERENCE, P):
                    raise QueryError(
                        f"the comparison has a column {title.format(name)!r} of its own; name yours with AS"
                    )
                named[title.format(name)] = groups.column(name).take(pa.array(places))
        return cls(estimates, lines, part.together(lines), one, other, pa.table(named))

    def answer(self, part: Branch, notes: list[str]) -> Tested:
        """Each with its interval and p-value."""
        level, stepped = part.columns.level, len(part.forms) > 1
        sides = Sides.of(self.estimates, self.lines, stepped)
        value = sides.value[self.one] - sides.value[self.other]
        if self.covariance is None or len({e.method for e in self.estimates}) > 1:
            se, low, high, chances, note = self._apart(part, sides, level)
        else:
            se, low, high, chances, note = self._together(sides, value, level)
        estimate = Estimate(DIFFERENCE, value, se, low, high, self.estimates[0].method)
        rows = self.names.append_column(P, pa.array(np.where(np.isnan(value), np.nan, chances)))
        columns = [*self.names.column_names, DIFFERENCE, P]
        return Tested(columns, rows, [estimate], level, [*notes, *note, self._families(level)])

    def _families(self, level: float) -> str:
        return (
            f"{len(self.one):,} differences: all intervals hold together with {100 * level:g}%, and p-values are adjusted for all of them. "
            "They are about the rows of the table, of which coins are all that is uncertain"
            if len(self.one) > 1
            else "the interval and p are about the rows of the table, of which coins are all that is uncertain"
        )

    def _together(self, sides: Sides, value: Numbers, level: float) -> "Parts":
        """By the joint law of all of them."""
        assert self.covariance is not None
        size = len(sides.value)
        contrasts = Contrasts(np.nan_to_num(self.covariance.reshape(size, size)), self.one, self.other)
        z, c = NormalDist().inv_cdf(0.5 + level / 2), contrasts.reach(1 - level)
        beyond, shaky = sides.beyond(z), sides.shakiness(z)
        extra = beyond[self.one] + beyond[self.other]
        square = np.maximum(shaky[self.one], shaky[self.other])
        with np.errstate(all="ignore"):
            reach = np.where(square * c * c < 1, c * contrasts.errors / (1 - c * c * square), np.inf) + extra
            away = np.maximum(np.abs(value) - extra, 0)
            far = np.where(contrasts.errors > 0, away / contrasts.errors, np.where(away > 0, np.inf, 0))
            far = np.where(square > 0, _shortened(far, square), far)
        return contrasts.errors, value - reach, value + reach, contrasts.chances(far), []

    def _apart(self, part: Branch, sides: Sides, level: float) -> "Parts":
        """By intervals that are apart, whatever they have to do with each other."""
        share = (1 - level) / len(self.one) / 2
        low, high = self._ends(part, share)
        chances = np.ones(len(self.one))
        for chance in CHANCES[::-1]:
            least, most = self._ends(part, chance / len(self.one) / 2)
            chances = np.where((least > 0) | (most < 0), chance, chances)
        return sides.se[self.one] + sides.se[self.other], low, high, chances, [APART]

    def _ends(self, part: Branch, share: float) -> tuple[Numbers, Numbers]:
        """The ends of differences of intervals that miss so often each."""
        at = part.at(1 - max(share, 1e-15))
        wider = Sides.of([at.columns[e.name] for e in self.estimates], self.lines, False)
        return wider.low[self.one] - wider.high[self.other], wider.high[self.one] - wider.low[self.other]


Parts = tuple[Numbers, Numbers, Numbers, Numbers, list[str]]


def _shortened(far: Numbers, square: Numbers) -> Numbers:
    """The c at which an interval that is wider by 1 / (1 - c^2 s^2) ends at so many standard errors.

    >>> c = _shortened(np.array([3.0]), np.array([0.01]))
    >>> (c / (1 - c * c * 0.01)).round(9).tolist()
    [3.0]
    """
    with np.errstate(all="ignore"):
        exactly = 2 * far / (np.sqrt(1 + 4 * square * far**2) + 1)
    return np.where(np.isinf(far), 1 / np.sqrt(square), exactly)
