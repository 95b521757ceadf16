"""The constrained maximum likelihood: the non-negative table of true states that explains the published one best.

    maximise  sum_j y_j ln (A x)_j     over  x >= 0,  sum x = n = sum y,          A = P_1 (x) ... (x) P_k

where y = the published counts of states, one dimension for each column, P_r = the channel of column r. A is never built for the
iteration: its factors are multiplied into two dense matrices, or applied one by one where those would be large. With

    g = A^T (y / (A x)),        L(best) - L(x) <= n ln(max g) <= n (max g - 1)

the distance from the best log-likelihood is bounded at every x, and that bound decides when to stop. Four ways, in this order:

    solved      A^-1 y, if nothing in it is negative: it fits exactly, so nothing fits better          ("closed form")
    one column  x_j = max(0, y_j / l - n (1-p) r_j / p), when one retention p holds                     ("closed form")
    SQUAREM     the step x <- x g (iterative Bayes, EM), extrapolated along its own steps               ("squarem")
    Newton      a primal-dual interior point by conjugate gradients, where steps of that kind are slow  ("newton")

Derivations and measured coverage: docs/proofs/likelihood.md.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from scumble.channel import Channel, IndistinguishableValues
from scumble.entropy import Entropy, Stream
from scumble.errors import ParameterError
from scumble.parameters import number

Tensor = npt.NDArray[np.float64]

TINY = 1e-300
"""Added to expected counts, so that an empty state that nothing can reach divides 0 by something."""
EASY = 30
"""Pairs of EM steps that an easy table needs at most; Newton is faster for the others."""


@dataclass(frozen=True)
class Likelihood:
    """An estimate of the true counts, and how near it is to the best one."""

    counts: Tensor
    gap: float
    """The log-likelihood still to be gained is at most this. Any linear figure is then within about sqrt(2 gap) of its
    standard errors from its place at the maximum: 0.045 at the default of 1e-3."""
    iterations: int
    """Pairs of EM steps, or Newton steps."""
    method: str
    converged: bool
    """Whether the gap that was asked for was reached."""


@dataclass(frozen=True)
class Intervals:
    """For each functional: its value at the maximum, the standard error of the pivot, and the interval."""

    value: Tensor
    se: Tensor
    low: Tensor
    high: Tensor


def maximize(y: Any, channels: Sequence[Channel], *, gap: float = 1e-3, start: Any = None) -> Likelihood:
    """The non-negative true counts, of the same total, under which the published counts y are likeliest.

    y         published counts, one dimension for each channel
    gap       stop when the log-likelihood still to be gained is at most this
    start     where to begin, strictly positive (a zero would stay zero); uniform when absent

    Where several values are never retained the maximum is not unique, and the start decides between them.

    >>> maximize([30, 30, 60], [Channel(0.25, size=3)]).counts.round(9).tolist()
    [0.0, 0.0, 120.0]
    >>> maximize([[40, 20], [20, 20]], [Channel(0.5, size=2)] * 2).method
    'closed form'
    """
    counts, shape, axes = _checked(y, channels)
    wanted = number(gap, "gap")
    if wanted <= 0:
        raise ParameterError(
            f"gap must be above 0, not {gap}; 0.001 is far below what the noise of any table allows to see"
        )
    begin, operator = _start(start, shape, counts), _operator(axes)
    y, begin = counts.reshape(operator.shape), begin.reshape(operator.shape)
    found = _direct(y, axes, operator, wanted) or _iterated(y, operator, wanted, begin)
    return replace(found, counts=found.counts.reshape(shape))


def plain(y: Any, channels: Sequence[Channel], *, gap: float = 1e-3, limit: int = 100_000) -> Likelihood:
    """The same maximum by iterative Bayes as it is published: A built, no acceleration. For comparison only."""
    counts, shape, axes = _checked(y, channels)
    A, flat, n = _whole(axes), counts.ravel(), counts.sum()
    x, left, done = np.full(flat.size, n / flat.size), np.inf, 0
    while n > 0:
        g = A.T @ (flat / (A @ x + TINY))
        left = float(n * (g.max() - 1))
        if left <= gap or done == limit:
            break
        x, done = x * g, done + 1
    return Likelihood(x.reshape(shape), left if n else 0.0, done, "plain", bool(left <= gap or n == 0))


def bootstrap(
    y: Any,
    channels: Sequence[Channel],
    functionals: Any,
    *,
    level: float = 0.95,
    draws: int = 200,
    stream: Stream | None = None,
) -> Intervals:
    """Intervals for sums of functional * true counts, around the maximum: a parametric bootstrap of the unbiased pivot.

    Tables are published again from the estimate, and the error of the UNBIASED figure in them is carried over to the unbiased
    figure of y. That error has mean 0 whatever the truth and a variance linear in it, so it is the same at the border of
    the possible as inside; the error of the maximum itself is not, and its percentiles cover as little as 0% there. What is
    impossible is cut off, and the interval is widened, where need be, to hold the maximum.

    functionals   one for each figure, over the states: shape (figures, *shape of y)
    level         how often an interval holds the truth, over the coins of the publication
    """
    h, shape, probability = np.asarray(functionals, dtype=np.float64), np.shape(y), number(level, "level")
    if h.shape[1:] != shape or h.ndim != len(shape) + 1:
        raise ParameterError(f"functionals need the shape (figures, {', '.join(map(str, shape))}), not {h.shape}")
    rank = int((draws + 1) * (1 - probability) / 2 + 1e-9)
    if not 0 < probability < 1 or rank < 1:
        raise ParameterError(
            f"an interval of level {level} needs more than {draws} draws: at least 2 / (1 - level) - 1"
        )
    best = maximize(y, channels)
    weights, axes = _weights(h, channels), tuple(range(1, h.ndim))
    truth = _whole_numbers(best.counts)
    tables = _published(
        np.broadcast_to(truth, (draws, *shape)), channels, stream or Entropy.system().stream("bootstrap")
    )
    errors = np.sort(np.tensordot(tables, weights, (axes, axes)) - (h * truth).sum(axis=axes), axis=0)
    value, unbiased, n = (h * best.counts).sum(axis=axes), (weights * y).sum(axis=axes), truth.sum()
    low = np.minimum(np.maximum(unbiased - errors[-rank], n * h.min(axis=axes)), value)
    high = np.maximum(np.minimum(unbiased - errors[rank - 1], n * h.max(axis=axes)), value)
    return Intervals(value, errors.std(axis=0), low, high)


def _checked(y: Any, channels: Sequence[Channel]) -> tuple[Tensor, tuple[int, ...], list[Channel]]:
    """Counts without the dimensions of size 1, the shape that was given, and the channels of what is left."""
    counts = np.asarray(y, dtype=np.float64)
    sizes = tuple(channel.size for channel in channels)
    if counts.shape != sizes or not sizes:
        raise ParameterError(
            f"counts of shape {counts.shape} do not fit channels of sizes {sizes}; one dimension for each channel"
        )
    if not np.all(np.isfinite(counts)) or np.any(counts < 0):
        raise ParameterError(f"published counts are finite and not negative; the smallest here is {counts.min()}")
    axes = [c for c in channels if c.size > 1] or [channels[0]]
    kept = counts.reshape([c.size for c in axes])
    for place, channel in enumerate(axes):
        never = np.flatnonzero((channel.retention == 0) & (channel.replace == 0))
        if kept.take(never, axis=place).any():
            raise ParameterError(
                f"values {never.tolist()} of axis {place} cannot be published, but were counted; is it the right channel?"
            )
    return kept, sizes, axes


def _start(start: Any, shape: tuple[int, ...], counts: Tensor) -> Tensor:
    n = counts.sum()
    if start is None:
        return np.full(counts.shape, n / counts.size)
    given = np.asarray(start, dtype=np.float64)
    if given.shape != shape or not np.all(given > 0) or not np.all(np.isfinite(given)):
        raise ParameterError(
            "start must be positive everywhere and have the shape of y: a state that starts at 0 stays at 0"
        )
    return np.asarray(given.reshape(counts.shape) * (n / given.sum()))


def _direct(y: Tensor, axes: Sequence[Channel], operator: "Operator", gap: float) -> Likelihood | None:
    """The maximum without iteration, where there is such a way; its own certificate decides whether it is one."""
    n = float(y.sum())
    if n == 0:
        return Likelihood(np.zeros(y.shape), 0.0, 0, "closed form", True)
    if len(axes) == 1 and axes[0].constant and axes[0].retain > 0:
        x = _one_column(y.ravel(), axes[0]).reshape(y.shape)
    else:
        try:
            x = operator.solve(y)
        except (IndistinguishableValues, np.linalg.LinAlgError):
            return None
    if not x.min() >= -1e-12 * n:
        return None
    x = np.maximum(x, 0)
    left = n * (float(operator.back(y / (operator.forward(x) + TINY)).max()) - 1)
    return Likelihood(x, max(left, 0.0), 0, "closed form", left <= gap) if left <= max(gap, 1e-11 * n) else None


def _one_column(y: Tensor, channel: Channel) -> Tensor:
    """x_j = max(0, y_j / l - o r_j n), o = (1-p)/p: above 0 for the largest y_j / r_j, as many as have y_j / (o r_j n) > l."""
    odds, n = (1 - channel.retain) / channel.retain, y.sum()
    drawn = odds * n * channel.replace
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(y > 0, y / drawn, 0.0)
    order = np.argsort(-ratio)
    levels = np.cumsum(y[order]) / (n + np.cumsum(drawn[order]))
    active = max(1, int(np.count_nonzero(ratio[order] > levels)))
    x = np.maximum(0, y / levels[active - 1] - drawn)
    return np.asarray(x * (n / x.sum()))


def _iterated(y: Tensor, operator: "Operator", gap: float, start: Tensor) -> Likelihood:
    """SQUAREM for easy tables; then Newton, from a point a little away from the border, where it would be stuck."""
    found = _squarem(y, operator, gap, start, EASY)
    if found.converged:
        return found
    better = _newton(y, operator, gap, 0.98 * found.counts + 0.02 * y.sum() / y.size)
    return better if better.gap < found.gap else found


def _squarem(y: Tensor, operator: "Operator", gap: float, x: Tensor, limit: int) -> Likelihood:
    """EM steps x -> x1 -> x2, then x + 2 a r + a^2 v with r = x1 - x, v = x2 - x1 - r, a = -<r, v> / <v, v>.

    EM's linear part is self-adjoint under <u, v> = sum u v / x, the metric of Fisher, so a is measured in that one. An
    extrapolation may not take more than 99% of a state away: all stay positive. Nothing else holds it: on some
    tables it goes back and forth for ever, and the limit ends it.
    """
    n, done = float(y.sum()), 0
    least = 1e-9 * n / y.size
    while True:
        x1 = x * operator.back(y / (operator.forward(x) + TINY))
        g = operator.back(y / (operator.forward(x1) + TINY))
        left, done = n * (float(g.max()) - 1), done + 1
        if left <= gap or done == limit:
            return Likelihood(x1, max(left, 0.0), done, "squarem", left <= gap)
        r, x2 = x1 - x, x1 * g
        v = x2 - x1 - r
        u = v / np.maximum(x1, least)
        a = -np.vdot(r, u) / (np.vdot(v, u) + TINY)
        x = np.maximum(x + (2 * a) * r + (a * a) * v, 0.01 * x2) if a > 1 else x2


def _newton(y: Tensor, operator: "Operator", gap: float, x: Tensor, limit: int = 40) -> Likelihood:
    """A primal-dual interior point for max sum y ln(Ax) - sum x, which has the same maximum without the condition on the total.

        w (A x) = y,        A^T w + s = 1,        x s = 0,        x, s, w >= 0

    Newton's step for the three, with x s -> m > 0 instead, needs one positive definite system
    (A^T diag(w/z) A + diag(s/x)) dx = ..., z = A x: as well-conditioned as A allows, however small x or s become.
    """
    n, done = float(y.sum()), 0
    w = y / (operator.forward(x) + TINY)
    w /= 1.05 * operator.back(w).max()
    s = 1 - operator.back(w)
    best, left = x, np.inf
    while left > gap and done < limit:
        # Rough systems do while x s is large, and are the cheaper ones; near the end they must be solved well.
        dx, ds, dw = _newton_step(operator, y, x, s, w, 10.0 ** -min(12, max(6, done)))
        x = x + _length(x, dx) * dx
        dual = min(_length(s, ds), _length(w, dw))
        s, w, done = s + dual * ds, w + dual * dw, done + 1
        scaled = x * (n / x.sum())
        reached = n * (float(operator.back(y / (operator.forward(scaled) + TINY)).max()) - 1)
        if reached < left:
            best, left = scaled, reached
    return Likelihood(best, max(left, 0.0), done, "newton", left <= gap)


def _newton_step(
    operator: "Operator", y: Tensor, x: Tensor, s: Tensor, w: Tensor, exact: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Mehrotra's predictor, which aims at x s = 0, then the corrector, which knows how far the predictor got."""
    z, miss = operator.forward(x) + TINY, 1 - operator.back(w) - s
    ratio, slack = w / z, s / x
    diagonal = operator.back_squares(ratio) + slack

    def step(products: Tensor, fit: Tensor, guess: Tensor, accuracy: float) -> tuple[Tensor, Tensor, Tensor]:
        wanted = products / x - miss + operator.back(fit / z)
        dx = _conjugate(
            lambda v: operator.back(ratio * operator.forward(v)) + slack * v, diagonal, wanted, guess, accuracy
        )
        dw = (fit - w * operator.forward(dx)) / z
        return dx, miss - operator.back(dw), dw

    dx, ds, dw = step(-x * s, y - w * z, np.zeros_like(x), math.sqrt(exact))
    now, then = np.vdot(x, s), np.vdot(x + _length(x, dx) * dx, s + _length(s, ds) * ds)
    return step(now / x.size * (then / now) ** 3 - x * s - dx * ds, y - w * z - dw * operator.forward(dx), dx, exact)


def _conjugate(system: Callable[[Tensor], Tensor], diagonal: Tensor, wanted: Tensor, x: Tensor, exact: float) -> Tensor:
    """Conjugate gradients, scaled by the diagonal, until `exact` of what is wanted is left."""
    r = wanted - system(x)
    p = h = r / diagonal
    size, enough = np.vdot(r, h), exact**2 * np.vdot(wanted, wanted / diagonal)
    for _ in range(2000):
        if size <= enough:
            break
        q = system(p)
        a = size / np.vdot(p, q)
        x, r = x + a * p, r - a * q
        h, before = r / diagonal, size
        size = np.vdot(r, h)
        p = h + (size / before) * p
    return x


def _length(values: Tensor, step: Tensor) -> float:
    """How much of a step keeps all values positive, at most the whole."""
    falling = step < 0
    return min(1.0, 0.995 * float((-values[falling] / step[falling]).min())) if falling.any() else 1.0


def _whole(axes: Sequence[Channel]) -> Tensor:
    """A itself, or the part of it that belongs to some of the axes."""
    whole: Tensor = np.eye(1)
    for channel in axes:
        whole = np.asarray(np.kron(whole, channel.matrix()), dtype=np.float64)
    return whole


class _Halves:
    """A as two dense factors: x is a matrix, A x = left x right^T."""

    def __init__(self, left: Sequence[Channel], right: Sequence[Channel]) -> None:
        self._left, self._right = _whole(left), _whole(right)
        self._left_t, self._right_t = np.ascontiguousarray(self._left.T), np.ascontiguousarray(self._right.T)
        self.shape: tuple[int, ...] = (len(self._left), len(self._right))

    def forward(self, x: Tensor) -> Tensor:
        product: Tensor = np.dot(np.dot(self._left, x), self._right_t)
        return product

    def back(self, g: Tensor) -> Tensor:
        product: Tensor = np.dot(np.dot(self._left_t, g), self._right)
        return product

    def back_squares(self, g: Tensor) -> Tensor:
        product: Tensor = np.dot(np.dot(self._left_t**2, g), self._right**2)
        return product

    def solve(self, y: Tensor) -> Tensor:
        return np.linalg.solve(self._left, np.linalg.solve(self._right, y.T).T)


class _Axes:
    """A one axis after the other, each in the O(m) of its channel."""

    def __init__(self, axes: Sequence[Channel]) -> None:
        self._axes = axes
        self.shape = tuple(channel.size for channel in axes)

    def forward(self, x: Tensor) -> Tensor:
        return self._along(x, [channel.apply for channel in self._axes])

    def back(self, g: Tensor) -> Tensor:
        return self._along(g, [channel.expect for channel in self._axes])

    def back_squares(self, g: Tensor) -> Tensor:
        return self._along(g, [partial(_expect_squares, channel) for channel in self._axes])

    def solve(self, y: Tensor) -> Tensor:
        return self._along(y, [channel.solve for channel in self._axes])

    @staticmethod
    def _along(tensor: Tensor, steps: Sequence[Callable[[Tensor], Tensor]]) -> Tensor:
        for place, step in enumerate(steps):
            tensor = np.moveaxis(step(np.moveaxis(tensor, place, 0)), 0, place)
        return tensor


Operator = _Halves | _Axes


def _expect_squares(channel: Channel, g: Tensor) -> Tensor:
    """sum_j P[j, i]^2 g_j, in O(m)."""
    shape = (-1, *[1] * (g.ndim - 1))
    p, r = channel.retention.reshape(shape), channel.replace.reshape(shape)
    return np.asarray(p * (p + 2 * (1 - p) * r) * g + (1 - p) ** 2 * (r**2 * g).sum(axis=0))


def _operator(axes: Sequence[Channel]) -> Operator:
    """Halves of the most equal size, unless one axis after the other is less work."""
    sizes = [channel.size for channel in axes]
    cut = min(range(1, len(sizes) + 1), key=lambda i: math.prod(sizes[:i]) + math.prod(sizes[i:]))
    work = math.prod(sizes[:cut]) + math.prod(sizes[cut:])
    return _Halves(axes[:cut], axes[cut:]) if work <= 64 * len(sizes) else _Axes(axes)


def _weights(functionals: Tensor, channels: Sequence[Channel]) -> Tensor:
    """The weight of each published state in the unbiased figure, for each functional."""
    weights = functionals
    for place, channel in enumerate(channels, start=1):
        weights = np.moveaxis(channel.weights(np.moveaxis(weights, place, 0)), 0, place)
    return weights


def _whole_numbers(counts: Tensor) -> npt.NDArray[np.int64]:
    """Counts rounded so that their sum is the rounded sum: the largest remainders are rounded up."""
    down = np.floor(counts).astype(np.int64)
    missing = round(float(counts.sum())) - int(down.sum())
    down.ravel()[np.argsort((down - counts).ravel(), kind="stable")[:missing]] += 1
    return down


def _published(truth: npt.NDArray[np.int64], channels: Sequence[Channel], stream: Stream) -> npt.NDArray[np.int64]:
    """Tables of true counts, published: on each axis a binomial number of each state is kept, and the rest, which has
    forgotten its value, is thrown onto the axis by the replacement distribution. As many draws as states, not rows.
    """
    for place, channel in enumerate(channels, start=1):
        if channel.size > 1 and np.any(channel.retention < 1):
            x = np.moveaxis(truth, place, 0)
            kept = _binomial(x, channel.retention.reshape(-1, *[1] * (x.ndim - 1)), stream)
            truth = np.moveaxis(kept + _thrown((x - kept).sum(axis=0), channel.replace, stream), 0, place)
    return truth


def _thrown(count: npt.NDArray[np.int64], distribution: Tensor, stream: Stream) -> npt.NDArray[np.int64]:
    """A multinomial draw, one conditional binomial after the other; the values come first."""
    rest = np.append(np.cumsum(distribution[::-1])[::-1], 0.0)
    out = []
    for j, share in enumerate(distribution):
        hit = _binomial(count, np.float64(min(1.0, share / rest[j]) if rest[j + 1] > 0 else float(share > 0)), stream)
        out.append(hit)
        count = count - hit
    return np.stack(out)


def _binomial(count: npt.NDArray[np.int64], chance: Any, stream: Stream) -> npt.NDArray[np.int64]:
    """Binomial draws: the inverse distribution function at uniform numbers of 53 bits, so right to about 1e-16 a tail."""
    chances = np.broadcast_to(chance, count.shape)
    out = np.where(chances == 1, count, 0)
    open_ = (count > 0) & (chances > 0) & (chances < 1)
    words = stream.integers(int(open_.sum()), 64) >> np.uint64(11)
    out[open_] = binom.ppf((words + 0.5) * 2.0**-53, count[open_], chances[open_])
    return out
