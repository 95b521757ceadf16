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
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, IndistinguishableValues, replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.errors import ParameterError
from scumble.core.parameters import number
from scumble.core.stopping import look
from scumble.query.kronecker import Operator, operator_of, whole

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


def maximize(y: Any, channels: Sequence[BaseChannel], *, gap: float = 1e-3, start: Any = None) -> Likelihood:
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
    operator = operator_of(axes)
    begin = _start(start, shape, float(counts.sum())).reshape(operator.behind)
    y = counts.reshape(operator.shape)
    maximum = _direct(y, axes, operator, wanted) or _iterated(y, operator, wanted, begin)
    return replace(maximum, counts=maximum.counts.reshape(shape))


def plain(y: Any, channels: Sequence[BaseChannel], *, gap: float = 1e-3, limit: int = 100_000) -> Likelihood:
    """The same maximum by iterative Bayes as it is published: A built, no acceleration. For comparison only."""
    counts, shape, axes = _checked(y, channels)
    A, flat, n = whole(axes), counts.ravel(), counts.sum()
    x, left, done = np.full(A.shape[1], n / A.shape[1]), np.inf, 0
    while n > 0:
        g = A.T @ (flat / (A @ x + TINY))
        left = float(n * (g.max() - 1))
        if left <= gap or done == limit:
            break
        x, done = x * g, done + 1
    return Likelihood(x.reshape(shape), left if n else 0.0, done, "plain", bool(left <= gap or n == 0))


def _checked(y: Any, channels: Sequence[BaseChannel]) -> tuple[Tensor, tuple[int, ...], list[BaseChannel]]:
    """Counts without the dimensions of size 1, the shape of the true ones, and the channels of what is left."""
    counts = np.asarray(y, dtype=np.float64)
    sizes = tuple(channel.codes for channel in channels)
    if counts.shape != sizes or not sizes:
        raise ParameterError(
            f"counts of shape {counts.shape} do not fit channels of sizes {sizes}; one dimension for each channel"
        )
    if not np.all(np.isfinite(counts)) or np.any(counts < 0):
        raise ParameterError(f"published counts are finite and not negative; the smallest here is {counts.min()}")
    axes = [c for c in channels if c.size > 1] or [channels[0]]
    kept = counts.reshape([c.codes for c in axes])
    for place, channel in enumerate(axes):
        never = np.flatnonzero(channel.apply(np.ones(channel.size)) == 0)
        if kept.take(never, axis=place).any():
            raise ParameterError(
                f"values {never.tolist()} of axis {place} cannot be published, but were counted; is it the right channel?"
            )
    return kept, tuple(channel.size for channel in channels), axes


def _start(start: Any, shape: tuple[int, ...], n: float) -> Tensor:
    if start is None:
        return np.full(shape, n / math.prod(shape))
    given = np.asarray(start, dtype=np.float64)
    if given.shape != shape or not np.all(given > 0) or not np.all(np.isfinite(given)):
        raise ParameterError(
            "start must be positive everywhere and have the shape of the true counts: a state that starts at 0 stays at 0"
        )
    return np.asarray(given * (n / given.sum()))


def _direct(y: Tensor, axes: Sequence[BaseChannel], operator: Operator, gap: float) -> Likelihood | None:
    """The maximum without iteration, where there is such a way; its own certificate decides whether it is one."""
    n = float(y.sum())
    if n == 0:
        return Likelihood(np.zeros(operator.behind), 0.0, 0, "closed form", True)
    if len(axes) == 1 and axes[0].constant and axes[0].against_others is not None:
        x = _one_column(y.ravel(), replacement_of(axes[0])).reshape(y.shape)
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


def _iterated(y: Tensor, operator: Operator, gap: float, start: Tensor) -> Likelihood:
    """SQUAREM for easy tables; then Newton, from a point a little away from the border, where it would be stuck."""
    maximum = _squarem(y, operator, gap, start, EASY)
    if maximum.converged:
        return maximum
    better = _newton(y, operator, gap, 0.98 * maximum.counts + 0.02 * y.sum() / maximum.counts.size)
    return better if better.gap < maximum.gap else maximum


def _squarem(y: Tensor, operator: Operator, gap: float, x: Tensor, limit: int) -> Likelihood:
    """EM steps x -> x1 -> x2, then x + 2 a r + a^2 v with r = x1 - x, v = x2 - x1 - r, a = -<r, v> / <v, v>.

    EM's linear part is self-adjoint under <u, v> = sum u v / x, the metric of Fisher, so a is measured in that one. An
    extrapolation may not take more than 99% of a state away: all stay positive. Nothing else holds it: on some
    tables it goes back and forth for ever, and the limit ends it.
    """
    n, done = float(y.sum()), 0
    least = 1e-9 * n / x.size
    while True:
        look()
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


def _newton(y: Tensor, operator: Operator, gap: float, x: Tensor, limit: int = 40) -> Likelihood:
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
        look()
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
    operator: Operator, y: Tensor, x: Tensor, s: Tensor, w: Tensor, exact: float
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
