"""Small areas: estimates of many groups that borrow strength from each other (Fay and Herriot 1979), for several families of groups at once.

    y_g = theta_g + e_g,   Var(e_g) = V_g known         theta_g = z_g' beta + u_g,   Var(u_g) = psi_g = a_g + rho b_g

    estimate  z_g' beta + B_g (y_g - z_g' beta),         B_g = psi_g / (psi_g + V_g),  beta by least squares with weights 1 / (psi_g + V_g)
    MSE       g1 + g2 + 2 g3,   g1 = B V,   g2 = (1 - B)^2 z' C z,   g3 = b^2 V^2 / (psi + V)^3 Var(rho),   Var(rho) = 2 / sum of (b / (psi + V))^2

where C is the covariance of beta. g2 is what beta costs, g3 what rho costs; it counts twice, because g1 at an estimated rho is too small by as much again.
rho maximises sqrt(rho) times the restricted likelihood: the likelihood alone is greatest at 0 in up to half of all tables with few groups, and intervals
there are too short (docs/proofs/small_area.md).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.core.once import once

Numbers = npt.NDArray[np.float64]

HALVINGS = 48
"""Until rho is known to more digits than anybody needs."""
LEAST = 1e-300
"""A rho that is not 0, where groups are all alike and known."""
UNKNOWN = 1e12
"""How many times the largest variance stands for that of a group of which nothing is known."""


class Borrowed(NamedTuple):
    """Families by groups."""

    estimate: Numbers
    synthetic: Numbers
    """What the model expects of each group, without its own estimate."""
    between: Numbers
    """How far groups lie from that, squared: psi."""
    g1: Numbers
    g2: Numbers
    g3: Numbers

    @property
    def mse(self) -> Numbers:
        """The mean squared error of the estimate."""
        return self.g1 + self.g2 + 2 * self.g3


class AreaFit(NamedTuple):
    """At one rho for each family."""

    total: Numbers
    """psi + V."""
    residual: Numbers
    leverage: Numbers
    """z' C z."""
    score: Numbers
    """Twice the derivative of the logarithm of the restricted likelihood."""
    likelihood: Numbers
    """Twice the logarithm of what is made as great as it can be, up to a constant."""


@dataclass(frozen=True)
class Areas:
    """Families of groups: for each value of a perturbed column that lines are split by the estimates of all public groups."""

    direct: Numbers
    """Families by groups."""
    variance: Numbers
    """The same shape; inf where nothing is known of a group."""
    floor: Numbers
    """a: what groups vary by in any case."""
    slope: Numbers
    """b: what rho multiplies."""
    design: Numbers
    """Groups by effects, in orthonormal columns."""
    most: float = np.inf
    """The largest rho that can be."""

    def borrowed(self) -> Borrowed:
        """The estimates of all groups, with their mean squared errors."""
        rho = self.rho
        fit = self._fit(rho)
        between = self.floor + rho[:, None] * self.slope
        kept = between / fit.total
        spent = 2 / np.sum((self.slope / fit.total) ** 2, axis=1)
        third = self.slope**2 * self._variance**2 / fit.total**3 * spent[:, None]
        return Borrowed(
            self._direct - (1 - kept) * fit.residual,
            self._direct - fit.residual,
            between,
            kept * self._variance,
            (1 - kept) ** 2 * fit.leverage,
            third,
        )

    def shortfall(self, weights: Numbers, borrowed: Borrowed) -> Numbers:
        """The variance of what a weighted sum of the estimates falls short of that of the direct ones, for each family.

        It is a function of residuals alone, q' r with q = w (1 - B), and so is independent of the errors of the estimates.
        """
        total = borrowed.between + self._variance
        part = weights * self._variance / total
        lost = (part @ self.design)[:, :, None]
        return np.asarray(
            np.sum(part**2 * total, axis=1) - (lost.transpose(0, 2, 1) @ self._covariance(total) @ lost)[:, 0, 0]
        )

    @once
    def _known(self) -> npt.NDArray[np.bool_]:
        return np.isfinite(self.variance) & np.isfinite(self.direct)

    @once
    def _direct(self) -> Numbers:
        return np.where(self._known, self.direct, 0.0)

    @property
    def _middle(self) -> Numbers:
        return np.asarray(self._direct.sum(axis=1, keepdims=True) / self._known.sum(axis=1, keepdims=True))

    @once
    def _variance(self) -> Numbers:
        largest = np.max(np.where(self._known, self.variance, 0.0), axis=1, keepdims=True)
        return np.where(self._known, self.variance, UNKNOWN * largest)

    def _covariance(self, total: Numbers) -> Numbers:
        return np.asarray(np.linalg.inv((self.design.T / total[:, None, :]) @ self.design))

    def _fit(self, rho: Numbers) -> AreaFit:
        total = self._variance + self.floor + rho[:, None] * self.slope
        covariance = self._covariance(total)
        beta = covariance @ ((self._direct / total) @ self.design)[:, :, None]
        residual = self._direct - beta[:, :, 0] @ self.design.T
        leverage = np.sum((self.design @ covariance) * self.design, axis=2)
        weight = self.slope / total
        score = np.sum(weight * residual**2 / total - weight + weight * leverage / total, axis=1)
        likelihood = np.linalg.slogdet(covariance)[1] - np.sum(np.log(total) + residual**2 / total, axis=1)
        return AreaFit(total, residual, leverage, score, likelihood + np.log(rho))

    @once
    def rho(self) -> Numbers:
        """Where sqrt(rho) times the restricted likelihood is greatest."""
        away = np.where(self._known, self._direct - self._middle, 0.0)
        spread = np.sum(away**2, axis=1) + np.max(np.where(self._known, self.variance, 0.0), axis=1)
        low, high = np.zeros(len(self.direct)), np.minimum(10 * spread / self.slope.min(axis=1) + LEAST, self.most)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            rising = self._fit(middle).score + 1 / middle > 0
            low, high = np.where(rising, middle, low), np.where(rising, high, middle)
        return np.asarray(high)

    @property
    def likelihood(self) -> Numbers:
        """Twice the logarithm of what rho makes as great as it can be, up to a constant."""
        return self._fit(self.rho).likelihood
