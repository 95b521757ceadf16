"""Statistics: aggregates that are functions of counts and sums, each written as such in the language of questions.

One file for each family, one line here for each function. What is made of them, and how uncertain that is, follows from the counts and sums and their
covariance (query/derive.py): the delta method with the influence dF/dT, by the chain rule.
"""

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
