"""Intervals around the maximum of the likelihood, by publishing again what it found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from scumble.core.channel import replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.entropy import Entropy, Stream
from scumble.core.errors import ParameterError
from scumble.core.parameters import number
from scumble.query.likelihood import maximize

Tensor = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Intervals:
    """For each functional: its value at the maximum, the standard error of the pivot, and the interval."""

    value: Tensor
    se: Tensor
    low: Tensor
    high: Tensor


def bootstrap(
    y: Any,
    channels: Sequence[BaseChannel],
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

    functionals   one for each figure, over the true states: shape (figures, *their shape)
    level         how often an interval holds the truth, over the coins of the publication
    """
    h, probability = np.asarray(functionals, dtype=np.float64), number(level, "level")
    shape = tuple(channel.size for channel in channels)
    if h.shape[1:] != shape or h.ndim != len(shape) + 1:
        raise ParameterError(f"functionals need the shape (figures, {', '.join(map(str, shape))}), not {h.shape}")
    rank = int((draws + 1) * (1 - probability) / 2 + 1e-9)
    if not 0 < probability < 1 or rank < 1:
        raise ParameterError(
            f"an interval of level {level} needs more than {draws} draws: at least 2 / (1 - level) - 1"
        )
    best, axes = maximize(y, channels), tuple(range(1, h.ndim))
    errors = np.sort(
        pivot_errors(best.counts, channels, h, draws, stream or Entropy.system().stream("bootstrap")), axis=0
    )
    unbiased = (_weights(h, channels) * np.asarray(y)).sum(axis=axes)
    value, n = (h * best.counts).sum(axis=axes), best.counts.sum()
    low = np.minimum(np.maximum(unbiased - errors[-rank], n * h.min(axis=axes)), value)
    high = np.maximum(np.minimum(unbiased - errors[rank - 1], n * h.max(axis=axes)), value)
    return Intervals(value, errors.std(axis=0), low, high)


def pivot_errors(
    counts: Tensor, channels: Sequence[BaseChannel], functionals: Tensor, draws: int, stream: Stream
) -> Tensor:
    """Errors of the unbiased figures in tables that are published again from these true counts: shape (draws, figures)."""
    axes, truth = tuple(range(1, functionals.ndim)), _whole_numbers(counts)
    tables = _published(np.broadcast_to(truth, (draws, *counts.shape)), channels, stream)
    return np.asarray(
        np.tensordot(tables, _weights(functionals, channels), (axes, axes)) - (functionals * truth).sum(axis=axes)
    )


def _weights(functionals: Tensor, channels: Sequence[BaseChannel]) -> Tensor:
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


def _published(truth: npt.NDArray[np.int64], channels: Sequence[BaseChannel], stream: Stream) -> npt.NDArray[np.int64]:
    """Tables of true counts, published: on each axis a binomial number of each state is kept, and the rest, which has
    forgotten its value, is thrown onto the axis by the replacement distribution. Where codes are published, as the channel draws them.
    As many draws as states, not rows.
    """
    for place, own in enumerate(channels, start=1):
        if own.recoded:
            truth = np.moveaxis(own.draw(np.moveaxis(truth, place, 0), stream), 0, place)
            continue
        channel = replacement_of(own)
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
