"""Unbiased estimating equations of a generalised linear model, and the law of their solution (docs/proofs/regression.md).

    sum over g, k of T[g, k] x (y - mean(x' b)) = 0,        x = U[g] V[k],  T the estimated rows (query/reconstruction.py)
    B = sum of T slope(x' b) x x',    Var(b) = B^-1 M B^-1,    M = the covariance of the score: coins, and the draw of the rows from a population

T has negative entries, so that the sum need not be concave in b. The start is the solution for max(T, 0), which is; from there the root is found by Powell's
hybrid method, and counts only where B is positive definite. Columns are brought to mean 0 and length 1 first, by a matrix A.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.errors import NotEstimable, QueryError
from scumble.core.once import once
from scumble.learn.family import ResponseFamily
from scumble.learn.terms import INTERCEPT
from scumble.query.reconstruction import Reconstruction

Tensor = npt.NDArray[np.float64]

COLLINEAR = 1e-10
"""The part of a column's squares that others leave unexplained, below which it says nothing new."""
SEPARATED = 1e-7
"""The least eigenvalue of B for each row, below which the likelihood has no maximum."""
SURE, NEARLY = 2.0, 5.0
"""How many standard errors B must be away from a singular one; and below how many the estimates lean."""
EXACT = 1e-8
"""What is left of the score of a row at a solution, at most."""


@dataclass(frozen=True)
class Equations:
    """Estimated rows with their columns and outcomes."""

    rows: Reconstruction
    counts: Tensor
    """T; 0 where a variable is missing."""
    public: Tensor
    """U."""
    hidden: Tensor
    """V."""
    outcome: Tensor
    """y, by public group or by key: of one dimension there is 1."""
    there: Tensor
    """1 where no variable is missing."""
    family: ResponseFamily
    names: list[str]

    @property
    def size(self) -> int:
        """Columns of the model."""
        return len(self.names)

    @once
    def total(self) -> float:
        """Rows that have all variables, estimated."""
        return float(self.counts.sum())

    def eta(self, b: Tensor, some: slice = slice(None)) -> Tensor:
        """x' b."""
        return np.asarray((self.public[some] * b) @ self.hidden.T)

    def score(self, b: Tensor, counts: Tensor) -> Tensor:
        """The sum of x (y - mean)."""
        left = counts * (self.outcome - self.family.mean(self.eta(b)))
        return np.asarray(((left @ self.hidden) * self.public).sum(axis=0))

    def information(self, b: Tensor, counts: Tensor) -> Tensor:
        """B."""
        return self.squares(counts * self.family.slope(self.eta(b)))

    def squares(self, weights: Tensor) -> Tensor:
        """The sum of x x' with weights by public group and key."""
        lines = [
            ((weights @ (self.hidden * self.hidden[:, [j]])) * self.public * self.public[:, [j]]).sum(axis=0)
            for j in range(self.size)
        ]
        return np.stack(lines)

    def likelihood(self, b: Tensor, counts: Tensor) -> float:
        """The sum of y x' b - cumulant(x' b)."""
        eta = self.eta(b)
        return float((counts * (self.outcome * eta - self.family.cumulant(eta))).sum())

    def scores(self, b: Tensor, direction: Tensor, some: slice) -> Tensor:
        """What a row adds to the score, and to B in a direction: public groups, keys, columns and the direction."""
        eta = self.eta(b, some)
        x = self.public[some][:, None, :] * self.hidden
        y = self.outcome[some] if len(self.outcome) > 1 else self.outcome
        there = self.there[some]
        own = x * ((y - self.family.mean(eta)) * there)[..., None]
        along = (x @ direction) ** 2 * self.family.slope(eta) * there
        return np.concatenate([own, along[..., None]], axis=2)


@dataclass(frozen=True)
class Solution:
    """The coefficients, and the covariance of their estimates."""

    coefficients: Tensor
    by_coins: Tensor
    """Their covariance by the coins of the publication: about the fit on the raw table."""
    by_draw: Tensor
    """What is added where the rows are a draw from a population."""
    notes: list[str]


def solve(equations: Equations) -> Solution:
    """The root of the equations, with its law."""
    if equations.total <= 0:
        raise NotEstimable("no rows are estimated that have all variables of the model; ask about more rows")
    scale = _standard(equations)
    b = scale @ _root(equations, scale)
    B = equations.information(b, equations.counts)
    own = scale.T @ B @ scale / equations.total
    values, vectors = np.linalg.eigh((own + own.T) / 2)
    weakest = scale @ vectors[:, 0]
    size = equations.size
    M = equations.rows.covariance(lambda some: equations.scores(b, weakest, some), size + 1)
    notes = _shaky(equations, float(weakest @ B @ weakest), float(M[size, size]), vectors[:, 0])
    inverse = scale @ (vectors / values @ vectors.T) @ scale.T / equations.total
    squares = equations.squares(equations.counts * (equations.outcome - equations.family.mean(equations.eta(b))) ** 2)
    return Solution(b, inverse @ _possible(M[:size, :size]) @ inverse, inverse @ _possible(squares) @ inverse, notes)


def _possible(covariance: Tensor) -> Tensor:
    """A covariance without what is negative in it: an unbiased estimate may have that, where rows are few."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def _standard(equations: Equations) -> Tensor:
    """A: columns of mean 0 and length 1, where there is an intercept; refuses what depends on others."""
    weights = np.abs(equations.counts)
    with np.errstate(over="ignore", invalid="ignore"):
        gram = equations.squares(weights) / max(float(weights.sum()), 1e-300)
    for name, square in zip(equations.names, np.diag(gram), strict=True):
        if not np.isfinite(square):
            raise QueryError(
                f"{name} has values that are infinite or too large to be squared; scale it, or leave rows out by where"
            )
    triangle = np.zeros_like(gram)
    for j, name in enumerate(equations.names):  # Gram and Schmidt, column by column, so that the culprit has a name
        unit = np.zeros(len(gram))
        unit[j] = 1.0
        left = unit - triangle[:, :j] @ (triangle[:, :j].T @ gram[:, j])
        left -= triangle[:, :j] @ (triangle[:, :j].T @ (gram @ left))
        square = float(left @ gram @ left)
        if square <= COLLINEAR * gram[j, j] or gram[j, j] <= 0:
            why = (
                "is 0 in all rows"
                if gram[j, j] <= 0
                else "says nothing that the terms before it do not say (collinear)"
            )
            raise QueryError(f"{name} {why}; leave it out of the formula")
        triangle[:, j] = left / np.sqrt(square)
    return triangle


def _root(equations: Equations, scale: Tensor) -> Tensor:
    """The solution for standard columns."""
    n, counts = equations.total, equations.counts
    if equations.family.straight:
        zero = np.zeros(equations.size)
        B = scale.T @ equations.information(zero, counts) @ scale / n
        _demand_definite(B, noisy=not equations.rows.totals.question.exact)
        return np.asarray(np.linalg.solve(B, scale.T @ equations.score(zero, counts) / n))
    from scipy.optimize import root

    positive = np.maximum(counts, 0)
    start = _maximum(equations, scale, positive, np.zeros(equations.size))
    _demand_maximum(equations, scale, positive, start)

    def score(b: Tensor) -> Tensor:
        return np.asarray(scale.T @ equations.score(scale @ b, counts) / n)

    def jacobian(b: Tensor) -> Tensor:
        return np.asarray(-scale.T @ equations.information(scale @ b, counts) @ scale / n)

    for at in (start, _maximum(equations, scale, counts, start)):
        found: Any = root(score, at, jac=jacobian, method="hybr", options={"xtol": 1e-12})
        B = -jacobian(found.x)
        if np.abs(score(found.x)).max() <= EXACT and np.linalg.eigvalsh(B)[0] > SEPARATED:
            return np.asarray(found.x)
    raise NotEstimable(
        "the equations have no solution: the coins hide too much of these columns for so many terms; "
        "leave terms out, put values together, or ask about more rows"
    )


def _maximum(equations: Equations, scale: Tensor, counts: Tensor, start: Tensor) -> Tensor:
    """Where the likelihood of counts is largest, near a start."""
    from scipy.optimize import minimize

    n = max(float(counts.sum()), 1.0)
    found: Any = minimize(
        lambda b: -equations.likelihood(scale @ b, counts) / n,
        start,
        jac=lambda b: -scale.T @ equations.score(scale @ b, counts) / n,
        hess=lambda b: scale.T @ equations.information(scale @ b, counts) @ scale / n,
        method="trust-exact",
        options={"gtol": 1e-9, "maxiter": 200, "max_trust_radius": 10.0},
    )
    return np.asarray(found.x)


def _demand_maximum(equations: Equations, scale: Tensor, counts: Tensor, b: Tensor) -> None:
    """Refuses rows that some columns tell the outcome of."""
    B = scale.T @ equations.information(scale @ b, counts) @ scale / max(float(counts.sum()), 1.0)
    values, vectors = np.linalg.eigh((B + B.T) / 2)
    if values[0] <= SEPARATED:
        culprit = _culprit(equations, vectors[:, 0], scale)
        raise NotEstimable(
            f"the model has no finite coefficients: {culprit} tells the outcome of some rows for sure (separation); leave it out, or put values together"
        )


def _demand_definite(B: Tensor, *, noisy: bool) -> None:
    if np.linalg.eigvalsh((B + B.T) / 2)[0] <= (0 if noisy else COLLINEAR):
        raise NotEstimable(
            "the equations have no solution: the coins hide too much of these columns for so many terms; "
            "leave terms out, put values together, or ask about more rows"
        )


def _culprit(equations: Equations, direction: Tensor, scale: Tensor) -> str:
    """The column that has most of a direction."""
    reach = np.abs(scale @ direction) * np.sqrt(np.maximum(np.diag(equations.squares(np.abs(equations.counts))), 0))
    named = np.array([name != INTERCEPT for name in equations.names])
    return equations.names[int(np.argmax(np.where(named, reach, -1.0)))]


def _shaky(equations: Equations, value: float, variance: float, direction: Tensor) -> list[str]:
    """Whether the coins leave B away from a singular one: a note where that is just so, a refusal where it is not."""
    error = float(np.sqrt(max(variance, 0.0)))
    if value >= NEARLY * error:
        return []
    culprit = _culprit(equations, direction, _standard(equations))
    if value < SURE * error:
        raise NotEstimable(
            f"the coins hide too much of {culprit}: what it says beside the other terms is {value / error:.1f} standard errors; "
            "leave it out, put values together, or ask about more rows"
        )
    return [
        f"{culprit}: what it says beside the other terms is {value / error:.1f} standard errors of its own, so that estimates lean and intervals are rough"
    ]
