"""Regression on a release: linear, logistic and Poisson models, with perturbed outcomes and perturbed covariates.

    model = ReleaseLogisticRegression().fit(release, "income = '>50K' ~ age + sex + C(region)")
    print(model.summary())        model.coef_, model.intercept_        model.predict(rows)

The published values are not taken for true ones, which would draw every coefficient to 0: the equations of the model are solved for the true rows, as
far as the published ones tell of them (learn/estimating.py). Where nothing is perturbed the coefficients are those of the ordinary fit.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from scumble.core.errors import ParameterError
from scumble.core.parameters import confidence
from scumble.learn.coefficients import COEFFICIENT, TERM, Coefficients, Z
from scumble.learn.estimating import Equations, solve
from scumble.learn.family import find_family
from scumble.learn.model_rows import columns_of, equations_of
from scumble.learn.terms import INTERCEPT, Tensor
from scumble.learn.training_rows import TrainingRows, as_table, training_rows
from scumble.query.estimates import Estimate
from scumble.query.tested import P

ABOUT = {
    "population": "a population that the rows are drawn from; coins and draw are in the errors",
    "table": "the fit on the raw table; the coins alone are in the errors",
}
LABEL = "scumble outcome"


class _ReleaseRegression(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the models have in common."""

    _family = ""

    def __init__(self, about: str = "population") -> None:
        self.about = about

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        formula: str | None = None,
        target: str | None = None,
        features: Sequence[str] | None = None,
        where: str | None = None,
    ) -> Any:
        """Fits the model.

        X         a release; or raw rows, for comparison: a data frame, a dictionary of columns, a matrix
        y         the formula; or the outcomes of raw rows, as scikit-learn passes them
        formula   "income ~ age + sex"; instead of it:
        target    the column that is modelled
        features  the columns that it depends on; all others when absent
        where     a condition on rows, in SQL
        """
        if self.about not in ABOUT:
            raise ParameterError(f"about is one of {', '.join(ABOUT)}, not {self.about!r}")
        source, text = _asked(X, y, formula, target, features)
        self._model, equations = equations_of(source, text, find_family(self._family), where)
        solution = solve(equations)
        drawn = solution.by_draw if self.about == "population" else 0
        self.formula_, self.covariance_ = text, solution.by_coins + drawn
        self.terms_ = np.array(equations.names, dtype=object)
        self.rows_ = equations.total
        self._coefficients, self._perturbed = solution.coefficients, not equations.rows.totals.question.exact
        self._notes = [*equations.rows.notes, *_left_out(equations), *solution.notes]
        self._set()
        return self

    def _set(self) -> None:
        """The attributes that scikit-learn's models have."""
        own = self.terms_ != INTERCEPT
        self.coef_ = self._coefficients[own]
        self.intercept_: Any = float(self._coefficients[~own][0]) if not own.all() else 0.0
        self.feature_names_in_ = np.array(list(self._model.formula.variables), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    def summary(self, level: Any = 0.95) -> Coefficients:
        """A line for each term: coefficient, standard error, interval, z and p. It prints, and converts as answers do."""
        check_is_fitted(self)
        share = confidence(level)
        far = NormalDist().inv_cdf(0.5 + share / 2)
        errors = np.sqrt(np.maximum(np.diag(self.covariance_), 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(errors > 0, self._coefficients / errors, np.nan)
        p = [2 * NormalDist().cdf(-abs(one)) if np.isfinite(one) else None for one in z]
        beside = pa.table({TERM: list(self.terms_), Z: pa.array(z, mask=~np.isfinite(z)), P: pa.array(p, pa.float64())})
        b = self._coefficients
        estimate = Estimate(COEFFICIENT, b, errors, b - far * errors, b + far * errors, "unbiased")
        table = Coefficients([TERM, COEFFICIENT, Z, P], beside, [estimate], share, [self._about(), *self._notes])
        outcome = self._model.formula.outcome.label
        chosen = f" (of {self._model.classes[1]!r} against {self._model.classes[0]!r})" if self._model.classes else ""
        table.title = f"{self._family} regression of {outcome}{chosen}, {self.rows_:,.0f} rows"
        return table

    def _about(self) -> str:
        return f"coefficients are about {ABOUT[self.about]}"

    def _linear(self, X: Any) -> Tensor:
        """x' b of ordinary rows."""
        check_is_fitted(self)
        names = self._model.formula.variables
        rows = as_table(X, list(names)) if not hasattr(X, "columns") else X
        return self._model.matrix(rows) @ self._coefficients

    def _outcomes(self, X: Any, y: Any) -> Any:
        """What predictions are compared with: given, or what the rows have on the left side of the formula."""
        check_is_fitted(self)
        return self._model.outcomes(X) if y is None else y


class ReleaseLinearRegression(RegressorMixin, _ReleaseRegression):  # type: ignore[misc]
    """A linear model, by least squares for the true rows.

    about   "population": errors are those of coins and of drawing the rows from a population; "table": those of coins alone

    After `fit`: `coef_`, `intercept_`, `terms_`, `covariance_` (of all of `terms_`), `rows_`, `formula_`.
    """

    _family = "linear"

    def predict(self, X: Any) -> Any:
        """The mean of each row's outcome."""
        return self._linear(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of the variance that is explained, on ordinary rows."""
        return float(super().score(X, self._outcomes(X, y), sample_weight))


class ReleasePoissonRegression(ReleaseLinearRegression):
    """A log-linear model of counts. The rest is as of the linear one."""

    _family = "poisson"

    def predict(self, X: Any) -> Any:
        """The mean of each row's outcome."""
        return np.exp(self._linear(X))


class ReleaseLogisticRegression(ClassifierMixin, _ReleaseRegression):  # type: ignore[misc]
    """A logistic model of an outcome with two values, of which the second one (in their order) is modelled; without a penalty.

    about   "population": errors are those of coins and of drawing the rows from a population; "table": those of coins alone

    After `fit`: `classes_`, `coef_` (1 x terms), `intercept_`, `terms_`, `covariance_` (of all of `terms_`), `rows_`, `formula_`.
    """

    _family = "logistic"

    def _set(self) -> None:
        super()._set()
        self.classes_ = np.array(self._model.classes)
        self.coef_, self.intercept_ = self.coef_[None], np.array([self.intercept_])

    def decision_function(self, X: Any) -> Any:
        """The logarithm of the odds of the second class."""
        return self._linear(X)

    def predict_proba(self, X: Any) -> Any:
        """The probabilities of both classes."""
        second = find_family(self._family).mean(self._linear(X))
        return np.stack([1 - second, second], axis=1)

    def predict(self, X: Any) -> Any:
        """The likelier class of each row."""
        second = self._linear(X) > 0
        return self.classes_[second.astype(np.intp)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of ordinary rows whose class is predicted rightly."""
        return float(super().score(X, self._outcomes(X, y), sample_weight))


def _asked(
    X: Any, y: Any, formula: str | None, target: str | None, features: Sequence[str] | None
) -> tuple[TrainingRows, str]:
    """What is fitted, and its formula."""
    if isinstance(y, str):
        if formula is not None:
            raise ParameterError("two formulas are given; give one")
        formula, y = y, None
    if formula is not None:
        if target is not None or features is not None:
            raise ParameterError("a formula names outcome and columns; give it, or target and features")
        return training_rows(X, joint=True), formula
    if y is not None:
        table, outcomes = as_table(X), column_or_1d(y, warn=True)
        if len(outcomes) != len(table):
            raise ParameterError(f"{len(table)} rows need as many outcomes, not {len(outcomes)}")
        X, target = table.append_column(LABEL, pa.array(outcomes.tolist())), LABEL
    if target is None:
        raise ParameterError('name what is modelled: formula="y ~ a + b", or target="y"')
    source = training_rows(X, joint=True)
    chosen = features if features is not None else [name for name in columns_of(source) if name != target]
    return source, " ~ ".join([_named(target), " + ".join(map(_named, chosen))])


def _named(column: str) -> str:
    return f'"{column}"' if '"' not in column else f"`{column}`"


def _left_out(equations: Equations) -> list[str]:
    """How many rows have a missing variable."""
    every = float(equations.rows.counts().sum())
    gone = every - equations.total
    if abs(gone) < 0.5:
        return []
    return [f"left out: about {gone:,.0f} of {every:,.0f} rows, in which a variable is missing"]
