"""From aggregates with their covariance to what an answer shows of them: shares, differences, deviations, each with an interval.

    se(F)^2 = g' C g,      g = dF/dT,  C the covariance of the aggregates T            (query/figures.py)

- An aggregate alone keeps its own interval.
- A quotient of linear figures has Fieller's (query/intervals.py); anything else F +- z se, on the scale where that is even.
- Where no covariance is known, se <= sum of |g| se(T): what holds however the aggregates go together.
- Numbers in steps, whose interval reaches farther than their coins, add sum of |g| times that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.query.estimates import STEPS, Estimate, Estimates
from scumble.query.figures import Figure, Reading
from scumble.query.intervals import of_average
from scumble.query.joined import together
from scumble.query.model import HIDDEN, Column, Derived, Query, Window
from scumble.query.moments import Moments, Ratio
from scumble.query.statistics.spelt import SCALE

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
        found = [self.leaves[name] for name in names]
        ends = [np.fmax(e.high - e.value, e.value - e.low) - z * e.se for e in found]
        stepped = [isinstance(e.method, str) and (e.certain or e.spread) for e in found]
        return np.stack([np.maximum(np.nan_to_num(r, posinf=0.0), 0) * s for r, s in zip(ends, stepped, strict=True)])

    def variance(self, one: Figure, other: Figure) -> Numbers:
        """The covariance of two figures."""
        assert self.covariance is not None
        return np.asarray(np.einsum("jl,jkl,kl->l", one.gradient, self.covariance, other.gradient))


def over_lines(values: Numbers, groups: pa.Table, window: Window) -> Numbers:
    """Of each line the sum over those that have the same values of some groups."""
    part = together(groups, sorted(window.by), len(values))
    return np.asarray(np.bincount(part, weights=np.nan_to_num(values))[part])


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
    several = covariance is None and any(not e.exact and e.name not in shown.direct for e in estimates)
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
    found: list[Estimate | None] = []
    for column in shown.columns:
        name = column.expression.name if isinstance(column.expression, exp.Var) else None
        if _is_group(column, leaves):
            found.append(None)
        elif name in known:
            found.append(replace(known[name], name=column.name))
        else:
            figure = reading.figure(column.expression)
            found.append(_estimate(column, figure, made))
    return found


def _estimate(column: Column, figure: Figure, made: Made) -> Estimate:
    """A figure with its interval."""
    z = NormalDist().inv_cdf(0.5 + made.leaves.level / 2)
    used = [e for e, g in zip(made.leaves.estimates, figure.gradient, strict=False) if np.any(g)]
    method = _method(used, figure, made)
    extra = np.sum(np.abs(np.nan_to_num(figure.gradient)) * made.beyond(z), axis=0)
    if made.covariance is not None and figure.ratio is not None:
        top, bottom = figure.ratio
        ratio = Ratio(
            Moments(top.value, made.variance(top, top)),
            Moments(bottom.value, made.variance(bottom, bottom)),
            made.variance(top, bottom),
        )
        found = of_average(column.name, ratio, method == "exact", z)
        found = replace(found, low=found.low - extra, high=found.high + extra, method=method)
    else:
        found = _delta(column, figure, made, z, extra, method)
    return _rounded(found, figure.digits)


def _method(used: Sequence[Estimate], figure: Figure, made: Made) -> str:
    windows = any(np.any(g) for g in figure.gradient[len(made.leaves.estimates) :])
    methods = {e.method for e in (made.leaves.estimates if windows else used)}
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


def _rounded(found: Estimate, digits: int | None) -> Estimate:
    """Rounding keeps the order of numbers, so that the ends of the interval are rounded too."""
    if digits is None:
        return found
    value, low, high = (np.round(x, digits) for x in (found.value, found.low, found.high))
    return replace(found, value=value, low=low, high=high)
