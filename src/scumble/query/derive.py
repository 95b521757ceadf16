"""From aggregates with their covariance to what an answer shows of them: shares, differences, deviations, each with an interval.

    se(F)^2 = g' C g,      g = dF/dT,  C the covariance of the aggregates T            (query/figures.py)

- An aggregate alone keeps its own interval.
- A quotient of linear figures has Fieller's (query/intervals.py); anything else F +- z se, on the scale where that is even.
- Where no covariance is known, se <= sum of |g| se(T): what holds however the aggregates go together.
- Numbers in steps, whose interval reaches farther than their coins, add sum of |g| times that.
- Where rows were suppressed, nothing but the ends of the aggregates can be put together (query/within.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.query.estimates import PUBLISHED, STEPS, Estimate, Estimates
from scumble.query.figures import Figure, Reading, rounded
from scumble.query.intervals import of_average
from scumble.query.joined import together
from scumble.query.model import HIDDEN, Column, Derived, Query, Window
from scumble.query.moments import Moments, Ratio
from scumble.query.statistics.spelt import SCALE
from scumble.query.within import Ends, Within

if TYPE_CHECKING:
    from scumble.query.ask import Answer

Numbers = npt.NDArray[np.float64]

WORST = "no covariance is known of what is published so: the interval of what is made of several aggregates holds however they go together"


@dataclass(frozen=True)
class Made:
    """What an answer is made of: the aggregates and the sums of them over lines, with their covariance."""

    leaves: Estimates
    windows: Sequence[Window]
    covariance: Numbers | None

    @property
    def figures(self) -> dict[str, Figure]:
        """Each of them, by its name."""
        values = [*(e.value for e in self.leaves.estimates), *(self._over(w) for w in self.windows)]
        names = [*(e.name for e in self.leaves.estimates), *(w.name for w in self.windows)]
        units = np.eye(len(names))[:, :, None] * np.ones(len(self.leaves))
        return {name: Figure(value, unit) for name, value, unit in zip(names, values, units, strict=True)}

    def _over(self, window: Window) -> Numbers:
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
        ends = [np.fmax(e.high - e.value, e.value - e.low) - z * e.se for e in parts]
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


def over_lines(values: Numbers, groups: pa.Table, window: Window, infinite: float | None = None) -> Numbers:
    """Of each line the sum over those that have the same values of some groups."""
    part = together(groups, sorted(window.by), len(values))
    finite = np.nan_to_num(values, posinf=infinite, neginf=None if infinite is None else -infinite)
    return np.asarray(np.bincount(part, weights=finite)[part])


def derive(query: Query, leaves: Estimates, answer: "Answer") -> Estimates:
    """The columns of an answer, for every line."""
    assert query.derived is not None
    shown, windows = query.derived, query.derived.windows
    covariance = answer.covariance(windows) if answer.covariance is not None else None
    count = len(leaves.estimates)
    if covariance is not None and len(covariance) > count + len(windows):  # helpers behind the aggregates are gone
        kept = [*range(count), *range(len(covariance) - len(windows), len(covariance))]
        covariance = covariance[np.ix_(kept, kept)]
    made = Made(leaves, windows, covariance)
    columns = _columns(shown, leaves, made)
    groups = {c.name: leaves.groups.column(c.expression.name) for c in shown.columns if _is_group(c, leaves)}
    names = [column.name for column in shown.columns]
    estimates = [column for column in columns if column is not None]
    unsure = [e for e in estimates if not e.exact and e.method != PUBLISHED]
    several = covariance is None and any(e.name not in shown.direct for e in unsure)
    return Estimates(names, pa.table(groups), estimates, leaves.level, [WORST] if several else [])


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
            figure = reading.figure(column.expression)
            columns.append(_estimate(column, figure, made))
    return columns


def _estimate(column: Column, figure: Figure, made: Made) -> Estimate:
    """A figure with its interval."""
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
    if methods <= {"exact", STEPS}:
        return STEPS
    return sorted(methods - {"exact", STEPS})[0]


def _delta(column: Column, figure: Figure, made: Made, z: float, extra: Numbers, method: str) -> Estimate:
    """F +- z se, on the scale of the statistic."""
    if made.covariance is not None:
        se = np.sqrt(np.maximum(made.variance(figure, figure), 0))
    else:
        se = np.sum(np.abs(figure.gradient) * made.errors, axis=0)
    value, reach = figure.value, z * se + extra
    scale = column.expression.meta.get(SCALE, "plain")
    with np.errstate(all="ignore"):
        if scale == "log":
            low, high = value * np.exp(-reach / value), value * np.exp(reach / value)
        elif scale == "fisher":
            turned, wide = np.arctanh(np.clip(value, -1 + 1e-9, 1 - 1e-9)), reach / (1 - np.minimum(value**2, 1 - 1e-9))
            low, high = np.tanh(turned - wide), np.tanh(turned + wide)
        else:
            low, high = value - reach, value + reach
    low, high = np.where(reach == 0, value, low), np.where(reach == 0, value, high)
    return Estimate(column.name, value, se, low, high, method)


def _rounded(estimate: Estimate, digits: int | None) -> Estimate:
    """The ends are rounded outwards, so that they hold the number as well as what it is rounded to; those of a known number are both that."""
    if digits is None:
        return estimate
    value, low, high = (rounded(x, digits) for x in (estimate.value, estimate.low, estimate.high))
    known = estimate.low == estimate.high
    low = np.where(known, low, rounded(estimate.low, digits, np.floor))
    high = np.where(known, high, rounded(estimate.high, digits, np.ceil))
    return replace(estimate, value=value, low=low, high=high)
