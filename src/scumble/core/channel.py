"""Retention replacement, the channel whose codes are the values: Pr[published value | true value].

A column has m values. With retention p (one number, or one for each value) and replacement r (sums to 1), value i is
kept with probability p_i and otherwise redrawn from r:

    P[j, i] = Pr[i becomes j] = p_i [i = j] + (1 - p_i) r_j           P = diag(p) + r (1 - p)^T

A diagonal plus a rank-one matrix, so that everything below but `matrix` costs O(m).

where p = `retain`, r = `replace`, m = `size`.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import BaseChannel, Flags, Pair, Places
from scumble.core.channel_base import Vector as Vector
from scumble.core.display import Card, Grid, Note, Part
from scumble.core.errors import InternalError, NotEstimable, ParameterError
from scumble.core.parameters import number, plain

SMALL = 8
"""Values of a domain whose matrix a notebook shows."""


class Channel(BaseChannel):
    """Retention replacement on a domain of `size` values.

    retain   the probability that a value is kept: one number, or one for each value
    replace  the distribution of what stands in its place otherwise; uniform when absent
    size     the number of values, where neither of the two says it

    >>> channel = Channel.from_rho(3, "1/5", "1/4")
    >>> channel.matrix().round(3).tolist()
    [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]]
    >>> channel.solve([30, 35, 35]).round(9).tolist()
    [0.0, 50.0, 50.0]
    """

    def __init__(self, retain: Any, replace: Any = None, *, size: int | None = None) -> None:
        sizes = {len(v) for v in (retain, replace) if v is not None and np.ndim(v) == 1} | ({size} if size else set())
        if len(sizes) != 1:
            problem = f"sizes {sorted(sizes)} do not agree" if sizes else "the number of values is not given"
            raise ParameterError(f"a channel needs one size: {problem}; give size=, or vectors of one length")
        self.size: int = int(sizes.pop())
        if self.size < 1:
            raise ParameterError(f"a channel needs at least one value, not {self.size}")
        self._retain = _retention(retain, self.size)
        self._replace = _replacement(replace, self.size)

    @classmethod
    def from_gamma(cls, size: int, gamma: Any) -> "Channel":
        """The uniform channel of the largest retention whose amplification is gamma.

        >>> [round(100 * Channel.from_gamma(m, 5).retain) for m in (77, 70, 50, 14, 9, 7, 6, 2)]
        [5, 5, 7, 22, 31, 36, 40, 67]
        """
        bound = number(gamma, "gamma")
        if bound <= 1:
            raise ParameterError(f"gamma must be above 1, not {gamma}: at 1 nothing of the value is published")
        return cls((bound - 1) / (size - 1 + bound), size=size)

    @classmethod
    def from_epsilon(cls, size: int, epsilon: Any) -> "Channel":
        """The uniform channel that is epsilon-locally differentially private, with the largest retention."""
        value = number(epsilon, "epsilon")
        if not 0 < value <= 700:
            raise ParameterError(f"epsilon must be above 0 and at most 700, not {epsilon}")
        return cls.from_gamma(size, math.exp(value))

    @classmethod
    def from_rho(cls, size: int, rho1: Any, rho2: Any) -> "Channel":
        """The uniform channel of the largest retention under which no prior up to rho1 becomes a posterior above rho2."""
        return cls.from_gamma(size, gamma_bound(rho1, rho2))

    @property
    def uniform(self) -> bool:
        """Whether one retention holds for all values and all replacements are equally likely."""
        return self.constant and self._replace.strides == (0,)

    @property
    def constant(self) -> bool:
        """Whether one retention holds for all values."""
        return self._retain.strides == (0,)

    @property
    def retain(self) -> Any:
        """The retention: a number if one holds for all values, else a vector."""
        return float(self._retain[0]) if self.constant else self._retain

    @property
    def retention(self) -> Vector:
        """The retention of each value."""
        return self._retain

    @property
    def replace(self) -> Vector:
        """The replacement distribution."""
        return self._replace

    @property
    def codes(self) -> int:
        """As many as values: a code is a value."""
        return self.size

    @property
    def recoded(self) -> bool:
        """Values are published."""
        return False

    @property
    def alike(self) -> bool:
        """Whether all values are kept and drawn alike."""
        return self.uniform

    @property
    def traits(self) -> Vector | None:
        """The retention, where there are several."""
        return None if self.constant else self._retain

    def matrix(self) -> Vector:
        """P itself, column i the distribution of what value i becomes; for small m."""
        if self.size > 4096:
            raise ParameterError(f"a matrix of {self.size} x {self.size} is not built; use apply, solve and weights")
        return np.diag(self._retain) + np.outer(self._replace, 1 - self._retain)

    def apply(self, counts: Any) -> Vector:
        """P x: the published counts to be expected of true counts x; further dimensions are separate tables.

        >>> Channel(0.5, size=2).apply([100, 0]).tolist()
        [75.0, 25.0]
        """
        x, p, r = self._columns(counts)
        return np.asarray(p * x + r * ((1 - p) * x).sum(axis=0))

    def solve(self, counts: Any) -> Vector:
        """P^-1 y: the unbiased estimate of the true counts behind published counts y; it may be negative.

        With s = sum_i (1 - p_i) x_i, y = p x + r s gives x = (y - r s) / p, and the total fixes s. Where one p_k is 0,
        y_k = r_k s fixes it, and the total gives x_k.
        """
        y, p, r = self._columns(counts)
        zero = self.never_retained
        if len(zero) > 1 or (len(zero) == 1 and self._replace[zero[0]] == 0):
            raise IndistinguishableValues(zero)
        if len(zero) == 0:
            redrawn = ((y / p).sum(axis=0) - y.sum(axis=0)) / (r / p).sum()
            return np.asarray((y - r * redrawn) / p)
        k = int(zero[0])
        x = y - r * (y[k] / r[k])
        x[np.arange(self.size) != k] /= p[np.arange(self.size) != k]
        x[k] = 0
        x[k] = y.sum(axis=0) - x.sum(axis=0)
        return np.asarray(x)

    def solve_squares(self, counts: Any) -> Vector:
        """The squared entries of P^-1 applied to counts: what variances of `solve` are made of.

        P^-1[d, y] = [d = y] / p_d - c_d (1 - p_y) / p_y with c_d = (r_d / p_d) / sum(r / p), hence the sum over y of its
        squares times t_y needs one pass.
        """
        t, p, r = self._columns(counts)
        if len(self.never_retained):
            inverse = np.stack([self.weights(row) for row in np.eye(self.size)])
            return np.tensordot(inverse**2, t, axes=1)
        c = (r / p) / (r / p).sum()
        odds = (1 - p) / p
        return np.asarray((1 / p**2 - 2 * c * odds / p) * t + c**2 * (odds**2 * t).sum(axis=0))

    def weights(self, h: Any) -> Vector:
        """The debias weights phi of a function h on the domain: E[phi(published) | true = x] = h(x) for every x.

        phi solves P^T phi = h:

            c = sum_i(r_i h_i / p_i) / sum_i(r_i / p_i)        phi_i = (h_i - (1 - p_i) c) / p_i

        On the set Z of values that are never retained h must be constant; that constant is then c, and the phi of
        smallest variance is equal on Z, so that the mean of phi under r is c. Further dimensions are separate functions.

        >>> Channel(0.5, size=4).weights([1, 0, 0, 0]).tolist()
        [1.75, -0.25, -0.25, -0.25]
        """
        values, p, r = self._columns(h)
        zero = self.never_retained
        if len(zero) == 0:
            c = (r / p * values).sum(axis=0) / (r / p).sum()
            return np.asarray((values - (1 - p) * c) / p)
        c = self._common(values, zero)
        kept = self._retain > 0
        phi = np.zeros_like(values)
        phi[kept] = (values[kept] - (1 - p[kept]) * c) / p[kept]
        mass = float(self._replace[zero].sum())
        if mass > 0:
            phi[zero] = (c - (r[kept] * phi[kept]).sum(axis=0)) / mass
        return phi

    def expect(self, g: Any) -> Vector:
        """P^T g: the mean of g(published) for each true value.

        >>> Channel(0.5, size=2).expect([1, 0]).tolist()
        [0.75, 0.25]
        """
        values, p, r = self._columns(g)
        return np.asarray(p * values + (1 - p) * (r * values).sum(axis=0))

    def matches(self, counts: Any) -> Vector:
        """How often each value is published."""
        return self.demand(counts, self.size, "value")

    def likelihood(self, codes: Places, values: Places) -> Vector:
        """P[j, i] = p_i [i = j] + (1 - p_i) r_j."""
        p = self._retain[values]
        return np.asarray(p * (np.asarray(codes) == values) + (1 - p) * self._replace[codes])

    def singular_values(self) -> Vector:
        """Of p I + (1-p) r 1^T: p on all that is orthogonal to r and 1, and those of a 2 x 2 matrix on their span, which it maps to itself."""
        if not self.constant:
            return np.asarray(np.linalg.svd(self.matrix(), compute_uv=False))
        p, ones = float(self.retain), np.ones(self.size)
        basis, _ = np.linalg.qr(np.stack([ones, self._replace], axis=1))
        inner = p * np.eye(basis.shape[1]) + (1 - p) * np.outer(basis.T @ self._replace, basis.T @ ones)
        return np.append(np.linalg.svd(inner, compute_uv=False), [p] * (self.size > basis.shape[1]))

    def extremes(self) -> tuple[Vector, Vector]:
        """Of value j at least (1 - max p) r_j, at most the larger of p_j + (1 - p_j) r_j and (1 - min p) r_j."""
        p, r = self._retain, self._replace
        return np.asarray((1 - p.max()) * r), np.maximum(p + (1 - p) * r, (1 - p.min()) * r)

    def pair(self, inside: Flags) -> Pair | None:
        """A set is kept with p + (1 - p) r(set) and drawn with (1 - p) r(set), where one retention holds."""
        if not self.constant or self.retain == 0:
            return None
        drawn = (1 - float(self.retain)) * float(self._replace @ inside)
        return Pair(np.asarray(inside, dtype=np.bool_), float(self.retain) + drawn, drawn)

    @property
    def against_others(self) -> tuple[float, Vector] | None:
        """The retention and the replacement, where one retention holds."""
        return (float(self.retain), self._replace) if self.constant and self.retain > 0 else None

    def places(self, cells: Places, count: int) -> Places:
        """Codes are values."""
        return cells

    def expect_squares(self, g: Any) -> Vector:
        """sum_j P[j, i]^2 g_j."""
        values, p, r = self._columns(g)
        return np.asarray(p * (p + 2 * (1 - p) * r) * values + (1 - p) ** 2 * (r**2 * values).sum(axis=0))

    @property
    def never_retained(self) -> npt.NDArray[np.intp]:
        """The values of retention 0: one can still be told from the rest, several not from each other."""
        return np.flatnonzero(self._retain == 0)

    def collapse(self, cells: npt.NDArray[np.intp], count: int) -> "Channel":
        """The channel between cells of values; within a cell the retention must be one.

        >>> Channel(0.5, size=4).collapse(np.array([0, 1, 1, 1]), 2).replace.tolist()
        [0.25, 0.75]
        """
        retain: Any = self.retain
        if not self.constant:
            retain = np.ones(count)
            retain[cells] = self._retain
        return Channel(retain, np.bincount(cells, weights=self._replace, minlength=count), size=count)

    @property
    def amplification(self) -> float:
        """gamma: how much likelier one true value can make a published value than another true value does.

            gamma = max_j (p_j + (1 - p_j) r_j) / (r_j (1 - M_j)),        M_j = max_{i != j} p_i

        >>> round(Channel.from_gamma(50, 5).amplification, 9)
        5.0
        """
        if self.size == 1:
            return 1.0
        others = self._largest_other()
        most = self._retain + (1 - self._retain) * self._replace
        least = self._replace * (1 - others)
        seen = most > 0
        if np.any(least[seen] == 0):
            return math.inf
        return float(np.max(most[seen] / least[seen]))

    def _largest_other(self) -> Vector:
        if self.constant:
            return self._retain
        first, second = np.partition(self._retain, -2)[[-1, -2]]
        largest = np.full(self.size, first)
        largest[int(np.argmax(self._retain))] = second
        return largest

    def _common(self, values: Vector, zero: npt.NDArray[np.intp]) -> Vector:
        """The value that h has on all of Z, or an error where it has several or leaves no trace."""
        c = values[zero[0]]
        if np.any(values[zero] != c):
            raise IndistinguishableValues(zero)
        if self._replace[zero].sum() == 0:
            kept = self._retain > 0
            odds = self._replace[kept] / self._retain[kept]
            if not np.allclose(np.tensordot(odds, values[kept], axes=1) / odds.sum(), c, rtol=1e-12, atol=1e-12):
                raise IndistinguishableValues(zero)
        return np.asarray(c)

    def _columns(self, values: Any) -> tuple[Vector, Vector, Vector]:
        """The argument, and p and r with as many dimensions."""
        array = np.asarray(values, dtype=np.float64)
        if array.shape[:1] != (self.size,):
            raise ParameterError(f"expected {self.size} numbers, one for each value, not shape {array.shape}")
        shape = (self.size,) + (1,) * (array.ndim - 1)
        return array, self._retain.reshape(shape), self._replace.reshape(shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel) or self.size != other.size:
            return NotImplemented if not isinstance(other, Channel) else False
        return np.array_equal(self._retain, other._retain) and np.array_equal(self._replace, other._replace)

    __hash__ = None  # type: ignore[assignment]  # compared by value, holds arrays

    def card(self) -> Card:
        """What is kept, what replaces it, how much odds change; and the matrix, where it is small."""
        kept = f"{self.retain:.4g}" if self.constant else f"{self._retain.min():.4g} to {self._retain.max():.4g}"
        drawn = "any value alike" if self._replace.strides == (0,) else "one by given probabilities"
        bound = "; nothing bounds how odds change"
        if math.isfinite(self.amplification):
            bound = f"; odds change by a factor of at most {plain(self.amplification, 4)}, epsilon = {math.log(self.amplification):.4g}"
        parts: list[Part] = [Note(f"a value is kept with probability {kept}, else replaced by {drawn}{bound}")]
        if self.size <= SMALL:
            rows = [(j, *(f"{share:.4f}" for share in row)) for j, row in enumerate(self.matrix())]
            parts.append(Grid(("published \\ true", *map(str, range(self.size))), rows))
        return Card(f"a channel on {self.size:,} values", parts)

    def __repr__(self) -> str:
        kept = f"{self.retain:.6g}" if self.constant else f"{self._retain.min():.6g}..{self._retain.max():.6g}"
        drawn = "uniform" if self._replace.strides == (0,) else "given"
        return f"Channel(retain={kept}, replace={drawn}, size={self.size}, amplification={self.amplification:.6g})"


def replacement_of(channel: BaseChannel) -> Channel:
    """A channel where values are kept or replaced, and nothing else can be meant: what follows is about p and r."""
    if not isinstance(channel, Channel):
        raise InternalError(f"{channel!r} has no retention and no replacements")
    return channel


class IndistinguishableValues(NotEstimable):
    """A question that takes several values where the published data cannot tell which."""

    def __init__(self, values: npt.NDArray[np.intp], names: list[Any] | None = None) -> None:
        self.values = values
        labels = names if names is not None else values.tolist()
        shown = ", ".join(str(v) for v in labels[:8]) + (", ..." if len(labels) > 8 else "")
        super().__init__(f"values {shown} cannot be told apart, because they are never retained; ask for them together")


def gamma_bound(rho1: Any, rho2: Any) -> float:
    """The largest amplification under which no prior up to rho1 becomes a posterior above rho2.

        gamma = rho2 (1 - rho1) / (rho1 (1 - rho2))

    >>> round(gamma_bound("1/5", "1/4"), 12)
    1.333333333333
    """
    low, high = number(rho1, "rho1"), number(rho2, "rho2")
    if not 0 < low < high < 1:
        raise ParameterError(f"0 < rho1 < rho2 < 1 must hold, not rho1 = {rho1}, rho2 = {rho2}")
    return high * (1 - low) / (low * (1 - high))


def _retention(retain: Any, size: int) -> Vector:
    given = np.asarray(number(retain, "retain") if isinstance(retain, str) else retain, dtype=np.float64)
    if given.ndim > 1 or not np.all((given >= 0) & (given <= 1)):
        raise ParameterError(f"retain must hold probabilities in [0, 1], not {retain!r}")
    if given.ndim == 1 and np.all(given == given[0]):
        given = given[0]
    return np.broadcast_to(given, size)


def _replacement(replace: Any, size: int) -> Vector:
    if replace is None:
        return np.broadcast_to(np.float64(1 / size), size)
    given = np.asarray(replace, dtype=np.float64)
    if given.ndim != 1 or not np.all(given >= 0) or not math.isclose(float(given.sum()), 1, rel_tol=1e-9):
        raise ParameterError("replace must be a distribution: one probability for each value, summing to 1")
    return np.broadcast_to(given[0], size) if np.all(given == given[0]) else given
