"""From aggregates with their covariance to what an answer shows of them: shares, differences, deviations, each with an interval.

    se(F)^2 = g' C g,      g = dF/dT,  C the covariance of the aggregates T            (query/figures.py)

- An aggregate alone keeps its own interval.
- A quotient of linear figures has Fieller's (query/intervals.py); anything else F +- z se / (1 - g), on the scale where that is even. g is the
  largest (z se(D) / D)^2 of what was divided by: so much wider is Fieller's interval, and from 1 on there is no end to it.
- Where no covariance is known, se <= sum of |g| se(T): what holds however the aggregates go together.
- Numbers in steps, whose interval reaches farther than their coins, add sum of |g| times that.
- Where rows were suppressed, nothing but the ends of the aggregates can be put together (query/within.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.query.estimates import BOUNDS, PUBLISHED, STEPS, Estimate, Estimates
from scumble.query.figures import Figure, Reading, rounded
from scumble.query.intervals import of_average
from scumble.query.joined import together
from scumble.query.model import HIDDEN, Column, Derived, Query, Window
from scumble.query.moments import Moments, Ratio
from scumble.query.possible import Ends, Limits
from scumble.query.quotients import Quotients
from scumble.query.statistics.spelt import SCALE
from scumble.query.within import Within

if TYPE_CHECKING:
    from scumble.query.form_answer import Answer

Numbers = npt.NDArray[np.float64]

WORST = "no covariance is known of what is published so: the interval of what is made of several aggregates holds however they go together"


@dataclass(frozen=True)
class Made:
    """What an answer is made of: the aggregates and the sums of them over lines, with their covariance."""

    leaves: Estimates
    windows: Sequence[Window]
    covariance: Numbers | None
    sums: Mapping[str, Numbers] = field(default_factory=dict)
    """Sums over lines that are known already."""

    @property
    def figures(self) -> dict[str, Figure]:
        """Each of them, by its name."""
        values = [*(e.value for e in self.leaves.estimates), *(self._over(w) for w in self.windows)]
        names = [*(e.name for e in self.leaves.estimates), *(w.name for w in self.windows)]
        units = np.eye(len(names))[:, :, None] * np.ones(len(self.leaves))
        return {name: Figure(value, unit) for name, value, unit in zip(names, values, units, strict=True)}

    def _over(self, window: Window) -> Numbers:
        if window.name in self.sums:
            return self.sums[window.name]
        return over_lines(self.leaves[window.of].value, self.leaves.groups, window)

    @property
    def errors(self) -> Numbers:
        """The standard errors, of sums over lines the most that they can be."""
        own = [np.nan_to_num(e.se) for e in self.leaves.estimates]
        return np.stack(
            [*own, *(over_lines(np.nan_to_num(self.leaves[w.of].se), self.leaves.groups, w) for w in self.windows)]
        )

    def beyond(self, z: float) -> Numbers:
        """How much farther intervals reach than their coins, where numbers were published in steps."""
        names = [*(e.name for e in self.leaves.estimates), *(w.of for w in self.windows)]
        parts = [self.leaves[name] for name in names]
        ends = [np.fmax(e.high - e.value, e.value - e.low) - z * np.nan_to_num(e.se) for e in parts]
        stepped = [isinstance(e.method, str) and (e.certain or e.spread) for e in parts]
        return np.stack([np.maximum(np.nan_to_num(r, posinf=0.0), 0) * s for r, s in zip(ends, stepped, strict=True)])

    @property
    def ends(self) -> dict[str, Ends]:
        """What each of them surely lies within; one line's ends hold all suppressed rows, also those of lines that nobody sees."""
        own: dict[str, Ends] = {e.name: (e.low, e.high) for e in self.leaves.estimates}
        sums = {w.name: tuple(over_lines(x, self.leaves.groups, w, np.inf) for x in own[w.of]) for w in self.windows}
        return own | {name: (low, high) for name, (low, high) in sums.items()}

    def variance(self, one: Figure, other: Figure) -> Numbers:
        """The covariance of two figures."""
        assert self.covariance is not None
        return np.asarray(np.einsum("jl,jkl,kl->l", one.gradient, self.covariance, other.gradient))

    def error(self, figure: Figure) -> Numbers:
        """The standard error of a figure; where no covariance is known the most that it can be."""
        if self.covariance is not None:
            return np.sqrt(np.maximum(self.variance(figure, figure), 0))
        return np.asarray(np.sum(np.abs(figure.gradient) * self.errors, axis=0))

    def correlations(self, figures: Sequence[Figure]) -> Numbers | None:
        """Those of figures with each other, for every line; None where they are not known."""
        if self.covariance is None:
            return None
        errors = [self.error(figure) for figure in figures]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.array(
                [
                    [np.nan_to_num(self.variance(f, g) / (a * b)) for g, b in zip(figures, errors, strict=True)]
                    for f, a in zip(figures, errors, strict=True)
                ]
            )

    def take(self, lines: npt.NDArray[np.intp]) -> "Made":
        """The same for some lines. Sums over lines are those over all of them."""
        covariance = None if self.covariance is None else self.covariance[..., lines]
        sums = {window.name: self._over(window)[lines] for window in self.windows}
        return replace(self, leaves=self.leaves.take(lines), covariance=covariance, sums=sums)


def over_lines(values: Numbers, groups: pa.Table, window: Window, infinite: float | None = None) -> Numbers:
    """Of each line the sum over those that have the same values of some groups."""
    part = together(groups, sorted(window.by), len(values))
    finite = np.nan_to_num(values, posinf=infinite, neginf=None if infinite is None else -infinite)
    return np.asarray(np.bincount(part, weights=finite)[part])


def made_of(query: Query, leaves: Estimates, answer: "Answer") -> Made:
    """What the columns of an answer are made of."""
    windows = query.derived.windows if query.derived is not None else ()
    covariance, count = answer.covariance(windows) if answer.covariance is not None else None, len(leaves.estimates)
    if covariance is not None and len(covariance) > count + len(windows):  # helpers behind the aggregates are gone
        kept = [*range(count), *range(len(covariance) - len(windows), len(covariance))]
        covariance = covariance[np.ix_(kept, kept)]
    return Made(leaves, windows, covariance)


def derive(query: Query, made: Made) -> Estimates:
    """The columns of an answer, for every line."""
    assert query.derived is not None
    shown, leaves = query.derived, made.leaves
    estimates = [column for column in _columns(shown, leaves, made) if column is not None]
    groups = {c.name: leaves.groups.column(c.expression.name) for c in shown.columns if _is_group(c, leaves)}
    names = [column.name for column in shown.columns]
    unsure = [e for e in estimates if not e.exact and e.method != PUBLISHED]
    several = made.covariance is None and any(e.name not in shown.direct for e in unsure)
    return Estimates(names, pa.table(groups), estimates, leaves.level, [WORST] if several else [])


def limits_of(query: Query, made: Made, limits: Limits, answer: "Answer") -> Limits:
    """What the columns of an answer can be, where it is known what aggregates can be."""
    assert query.derived is not None
    possible = [replace(e, low=limits[e.name][0], high=limits[e.name][1]) for e in made.leaves.estimates]
    leaves = Estimates(made.leaves.columns, made.leaves.groups, possible, made.leaves.level, ())
    figures = made.figures
    quotients = Quotients(query, made.leaves, figures, answer)
    within, reading = (
        Within(replace(made, leaves=leaves).ends, len(leaves), quotients.ends),
        Reading(figures, len(leaves)),
    )
    ends = {}
    for column in (column for column in query.derived.columns if not _is_group(column, leaves)):
        digits = reading.figure(column.expression).digits
        low, high = within.ends(column.expression)
        if (widest := quotients.widest_spread(column)) is not None:
            high = np.fmin(high, widest)
        ends[column.name] = (low, high) if digits is None else (rounded(low, digits), rounded(high, digits))
    return ends


def without_hidden(answer: Estimates) -> Estimates:
    """The answer without columns that it is only ordered by."""
    names = [name for name in answer.columns if not name.startswith(HIDDEN)]
    estimates = [e for e in answer.estimates if e.name in names]
    return Estimates(names, answer.groups, estimates, answer.level, answer.notes)


def _is_group(column: Column, leaves: Estimates) -> bool:
    return isinstance(column.expression, exp.Var) and column.expression.name in leaves.groups.schema.names


def _columns(shown: Derived, leaves: Estimates, made: Made) -> list[Estimate | None]:
    reading = Reading(made.figures, len(leaves))
    known = {e.name: e for e in leaves.estimates}
    columns: list[Estimate | None] = []
    for column in shown.columns:
        name = column.expression.name if isinstance(column.expression, exp.Var) else None
        if _is_group(column, leaves):
            columns.append(None)
        elif name in known:
            columns.append(replace(known[name], name=column.name))
        else:
            columns.append(_estimate(column, reading, made))
    return columns


def _root(column: Column, reading: Reading, made: Made) -> Estimate:
    """A root, with the roots of the ends of what it is taken of: of a variance whose estimate is negative there is none, but an interval."""
    inner = column.expression.this.copy()
    inner.meta[SCALE] = column.expression.meta.get(SCALE, "plain")
    square, error = _estimate(Column(column.name, inner), reading, made), made.error(reading.figure(column.expression))
    with np.errstate(invalid="ignore"):
        low, high = (np.sqrt(np.maximum(end, 0)) for end in (square.low, square.high))
        return replace(square, value=np.sqrt(square.value), se=np.where(square.se == 0, 0, error), low=low, high=high)


def _estimate(column: Column, reading: Reading, made: Made) -> Estimate:
    """A figure with its interval."""
    if isinstance(column.expression, exp.Sqrt) and _method(column, made) != PUBLISHED:
        return _root(column, reading, made)
    figure = reading.figure(column.expression)
    z = NormalDist().inv_cdf(0.5 + made.leaves.level / 2)
    method = _method(column, made)
    extra = np.sum(np.abs(np.nan_to_num(figure.gradient)) * made.beyond(z), axis=0)
    if made.covariance is not None and figure.ratio is not None:
        top, bottom = figure.ratio
        ratio = Ratio(
            Moments(top.value, made.variance(top, top)),
            Moments(bottom.value, made.variance(bottom, bottom)),
            made.variance(top, bottom),
        )
        quotient = of_average(column.name, ratio, method == "exact", z)
        estimate = replace(quotient, low=quotient.low - extra, high=quotient.high + extra, method=method)
    else:
        estimate = _delta(column, figure, made, z, extra, method)
    return _rounded(_suppressed(estimate, column, made), figure.digits)


def _suppressed(estimate: Estimate, column: Column, made: Made) -> Estimate:
    """With rows that were suppressed, of which no standard error is known."""
    if estimate.method != PUBLISHED:
        return estimate
    low, high = Within(made.ends, len(made.leaves)).ends(column.expression)
    return replace(estimate, low=low, high=high, se=np.where(low == high, 0.0, np.nan))


def _method(column: Column, made: Made) -> str:
    """By what it is made of; also where it happens not to change with that, as the square of a 0."""
    names = {part.name for part in column.expression.find_all(exp.Var)}
    names |= {window.of for window in made.windows if window.name in names}
    methods = {e.method for e in made.leaves.estimates if e.name in names}
    if methods <= {"exact"}:
        return "exact"
    sure = next((method for method in (STEPS, BOUNDS) if methods <= {"exact", STEPS, method}), None)
    return sure or sorted(methods - {"exact", STEPS, BOUNDS})[0]


def _delta(column: Column, figure: Figure, made: Made, z: float, extra: Numbers, method: str) -> Estimate:
    """F +- z se, on the scale of the statistic."""
    se, shaky = made.error(figure), _shaky(figure, made, z)
    with np.errstate(all="ignore"):
        reach = np.where(shaky < 1, z * se / (1 - shaky), np.inf) + extra
        low, high = _on_scale(column.expression.meta.get(SCALE, "plain"), figure.value, reach)
    known = reach == 0
    unknown = ~known & np.isnan(figure.value)  # nothing speaks against anything that is possible
    low = np.where(known, figure.value, np.where(unknown, -np.inf, low))
    high = np.where(known, figure.value, np.where(unknown, np.inf, high))
    return Estimate(column.name, figure.value, se, low, high, method)


def _shaky(figure: Figure, made: Made, z: float) -> Numbers:
    """The largest (z se / value)^2 of what a figure was divided by."""
    with np.errstate(all="ignore"):
        squares = [(z * made.error(divisor) / divisor.value) ** 2 for divisor in figure.divisors]
    return np.asarray(np.maximum.reduce([np.nan_to_num(square, nan=np.inf) for square in squares], initial=0.0))


def _on_scale(scale: str, value: Numbers, reach: Numbers) -> Ends:
    """Ends that are even on the scale of a statistic; of what may be 0 as well on its own."""
    plain = value - reach, value + reach
    if scale == "log":
        ends = value * np.exp(-reach / value), value * np.exp(reach / value)
        return np.where(reach < value, ends[0], plain[0]), np.where(reach < value, ends[1], plain[1])
    if scale == "fisher":
        turned, wide = np.arctanh(np.clip(value, -1 + 1e-9, 1 - 1e-9)), reach / (1 - np.minimum(value**2, 1 - 1e-9))
        return np.tanh(turned - wide), np.tanh(turned + wide)
    return plain


def _rounded(estimate: Estimate, digits: int | None) -> Estimate:
    """The ends are rounded outwards, so that they hold the number as well as what it is rounded to; those of a known number are both that."""
    if digits is None:
        return estimate
    value, low, high = (rounded(x, digits) for x in (estimate.value, estimate.low, estimate.high))
    known = estimate.low == estimate.high
    low = np.where(known, low, rounded(estimate.low, digits, np.floor))
    high = np.where(known, high, rounded(estimate.high, digits, np.ceil))
    return replace(estimate, value=value, low=low, high=high)
