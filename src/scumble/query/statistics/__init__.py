"""Statistics: aggregates that are functions of counts and sums, each written as such in the language of questions.

One file for each family, one line here for each function. What is made of them, and how uncertain that is, follows from the counts and sums and their
covariance (query/derive.py): the delta method with the influence dF/dT, by the chain rule.
"""

import math
from collections.abc import Callable

from sqlglot import exp

from scumble.query.statistics import counting, pairs, spread

Formula = Callable[[exp.Expression], exp.Expression]
"""A statistic as counts and sums."""

STATISTICS: dict[type[exp.Expression], Formula] = {
    exp.CountIf: counting.count_if,
    exp.Variance: spread.variance,
    exp.VariancePop: spread.variance_of_all,
    exp.Stddev: spread.deviation,
    exp.StddevSamp: spread.deviation,
    exp.StddevPop: spread.deviation_of_all,
    exp.CovarSamp: pairs.covariance,
    exp.CovarPop: pairs.covariance_of_all,
    exp.Corr: pairs.correlation,
    exp.RegrSlope: pairs.slope,
    exp.RegrIntercept: pairs.intercept,
    exp.RegrR2: pairs.determination,
    exp.RegrCount: pairs.count,
    exp.RegrAvgx: pairs.mean_x,
    exp.RegrAvgy: pairs.mean_y,
}
"""By what sqlglot reads it as."""

SCALES: dict[type[exp.Expression], str] = {
    exp.Variance: "log",
    exp.VariancePop: "log",
    exp.Stddev: "log",
    exp.StddevSamp: "log",
    exp.StddevPop: "log",
    exp.Corr: "fisher",
}
"""On which scale the interval of a statistic is even: of what cannot be negative the logarithm, of a correlation the inverse hyperbolic tangent."""

SPANS: dict[type[exp.Expression], tuple[float, float]] = {
    exp.Variance: (0.0, math.inf),
    exp.VariancePop: (0.0, math.inf),
    exp.Stddev: (0.0, math.inf),
    exp.StddevSamp: (0.0, math.inf),
    exp.StddevPop: (0.0, math.inf),
    exp.Corr: (-1.0, 1.0),
    exp.RegrR2: (0.0, 1.0),
}
"""The least and the most that a statistic can be at all."""

SPREADS: dict[type[exp.Expression], tuple[int, bool]] = {
    exp.Variance: (2, True),
    exp.VariancePop: (2, False),
    exp.Stddev: (1, True),
    exp.StddevSamp: (1, True),
    exp.StddevPop: (1, False),
}
"""Deviations: the power of them that a statistic is, and whether it is that of a sample."""
