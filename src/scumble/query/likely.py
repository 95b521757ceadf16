"""The same question by the constrained maximum likelihood: estimates that are never negative and agree with each other.

For each public group the published rows are a table of states, one dimension for each perturbed column. Its likeliest true table x
is found (likelihood.py), and

    COUNT   sum of f x,        SUM(x_r)   sum of f x_r x,        AVG   their ratio

where f is the truth table of the condition. SUM(v) of a public column is found from the table of sums of v in the same way, as if v
were counts, which needs v >= 0. Sub-tables, and public conditions among perturbed ones, make several tables, which are added.

Intervals of counts and of sums of perturbed columns are a parametric bootstrap of the unbiased pivot (bootstrap.py): the estimate is
published again, and the errors of the unbiased figure there are those of the one here. Intervals of sums and averages with public
columns, and all where rows have weights, are those of the unbiased figure. All are cut to what is possible and widened, where need
be, to hold the estimate.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import BaseChannel
from scumble.core.entropy import Entropy
from scumble.core.errors import QueryError
from scumble.core.stopping import look
from scumble.query.bootstrap import pivot_errors
from scumble.query.compile import Question, perturbed_column
from scumble.query.estimates import Estimate
from scumble.query.likelihood import Likelihood, maximize
from scumble.query.model import Aggregate, sql_of
from scumble.query.reconstruct import Reconstruction, Whole

Tensor = npt.NDArray[np.float64]
DRAWS = 200
MOST_FUNCTIONALS = 5_000_000
"""Numbers in the functionals of a bootstrap, at most; beyond that the unbiased figure's own interval is carried over."""


@dataclass
class Fit:
    """Likeliest tables of true states, and how they were found."""

    counts: Tensor
    channels: list[BaseChannel]
    digest: str
    """Of the published states: tables published again have coins of their own for each."""
    likelihoods: list[Likelihood] = field(default_factory=list)


def likely(
    question: Question, whole: Whole, unbiased: list[Estimate], level: float
) -> tuple[list[Estimate], list[str]]:
    """The estimates of the likelihood in place of the unbiased ones, and what to say about them."""
    fits = [_fit(part, part.cells.numbers("n")) for part in whole.parts]
    estimates = [
        _unless_null(_estimate(aggregate, question, whole, fits, plain, level), aggregate, plain)
        for aggregate, plain in zip(question.query.aggregates, unbiased, strict=True)
    ]
    fitted = [likelihood for fit in fits for likelihood in fit.likelihoods]
    ways = ", ".join(f"{count} by {way}" for way, count in Counter(likelihood.method for likelihood in fitted).items())
    gap = max((likelihood.gap for likelihood in fitted), default=0.0)
    note = f"likelihood: {len(fitted)} tables of states ({ways or 'none'}), at most {gap:.1e} of log-likelihood from the best"
    if not all(likelihood.converged for likelihood in fitted):
        note += "; NOT converged everywhere"
    return estimates, [
        note,
        "never negative, and for that biased toward the middle where few rows have a value; "
        f"intervals: {_way(estimates, unbiased)}, cut to what is possible and widened to hold the estimate",
    ]


def _unless_null(estimate: Estimate, aggregate: Aggregate, plain: Estimate) -> Estimate:
    """A sum over what is surely no row is null by any method."""
    if aggregate.kind != "sum":
        return estimate
    unless = np.where(np.isnan(plain.value), np.nan, 0.0)
    return replace(estimate, value=estimate.value + unless, low=estimate.low + unless, high=estimate.high + unless)


def _way(estimates: list[Estimate], unbiased: list[Estimate]) -> str:
    """Where the intervals are from: an error that is that of the unbiased figure was carried over with its interval."""
    carried = [estimate.name for estimate, plain in zip(estimates, unbiased, strict=True) if estimate.se is plain.se]
    if not carried:
        return "parametric bootstrap of the unbiased pivot"
    if len(carried) == len(estimates):
        return "those of the unbiased answer"
    return f"parametric bootstrap of the unbiased pivot ({', '.join(carried)}: those of the unbiased answer)"


def _fit(part: Reconstruction, sums: Tensor) -> Fit:
    """The likeliest true table for each public group and each combination of public conditions."""
    table = part.cells.dense(sums)
    axes = [*part.question.grouped, *part.question.others]
    channels = [axis.collapsed(part.channels[axis.name]) for axis in axes]
    digest = hashlib.sha256(np.rint(table).astype("<i8").tobytes()).hexdigest()
    atoms = table.shape[1 + len(axes) :]
    fit = Fit(np.zeros((len(table), *(channel.size for channel in channels), *atoms)), channels, digest)
    for place in _places(table, len(axes)):
        look()
        states = table[place]
        total = states.sum()
        if total > 0:
            best = maximize(states * (len(states.ravel()) if total < 1 else 1.0), channels)
            fit.counts[place] = best.counts * (total / best.counts.sum())
            fit.likelihoods.append(best)
    return fit


def _places(table: Tensor, axes: int) -> Iterator[tuple[slice | int, ...]]:
    """The tables of states: one for each public group and each combination of truth values of public conditions."""
    for group in range(len(table)):
        for atoms in np.ndindex(table.shape[1 + axes :]):
            yield (group, *(slice(None),) * axes, *atoms)


def _estimate(
    aggregate: Aggregate, question: Question, whole: Whole, fits: list[Fit], plain: Estimate, level: float
) -> Estimate:
    domains = question.published.domains
    column = None if aggregate.value is None else perturbed_column(aggregate.value, domains)
    if aggregate.value is None or column is not None:
        return _of_states(aggregate, whole, fits, plain, level, column)
    place = question.place(aggregate.value)
    if aggregate.kind == "count":
        count = _public(whole, whole.cells.numbers(f"v{place}_n"))
        return _held(plain, count, 0.0, math.inf)
    sums = whole.cells.numbers(f"v{place}_s")
    if np.any(sums < 0):
        raise QueryError(
            f"{sql_of(aggregate.value)} has negative values, which the likelihood cannot sum; ask with method unbiased"
        )
    top = _public(whole, sums)
    if aggregate.kind == "sum":
        return _held(plain, top, 0.0, math.inf)
    return _held(plain, _average(top, _public(whole, whole.cells.numbers(f"v{place}_n"))), 0.0, math.inf)


def _average(total: Tensor, rows: Tensor) -> Tensor:
    """A quotient; where the likeliest table has no rows there is no average."""
    return np.asarray(np.divide(total, rows, out=np.full(rows.shape, np.nan), where=rows > 0))


def _public(whole: Whole, sums: Tensor) -> Tensor:
    """Sums of a public column over true states, by the same likelihood."""
    total: Tensor = np.zeros(())
    for part in whole.parts:
        total = total + _gathered(_fit(part, sums).counts, part.truth.astype(float), len(part.cells.shape))
    return np.asarray(total).reshape(-1)


def _gathered(counts: Tensor, functional: Tensor, grouped: int) -> Tensor:
    product = counts * functional
    return np.asarray(product.sum(axis=tuple(range(1 + grouped, product.ndim))))


def _of_states(
    aggregate: Aggregate, whole: Whole, fits: list[Fit], plain: Estimate, level: float, column: str | None
) -> Estimate:
    """A figure that is a function of the states: counts, and sums and averages of perturbed columns."""
    grouped = len(whole.cells.shape)
    functionals = [_functional(part, column, aggregate.kind) for part in whole.parts]
    pairs = list(zip(fits, functionals, strict=True))
    value = np.asarray(sum(_gathered(fit.counts, f, grouped) for fit, f in pairs)).reshape(-1)
    if aggregate.kind == "avg":
        present = [_functional(part, column, "count") for part in whole.parts]
        rows = np.asarray(sum(_gathered(fit.counts, f, grouped) for fit, f in zip(fits, present, strict=True))).reshape(
            -1
        )
        asked = [f[here > 0] for f, here in zip(functionals, present, strict=True)]
        possible = np.concatenate(asked) if any(map(len, asked)) else np.array([math.nan])
        return _held(plain, _average(value, rows), float(possible.min()), float(possible.max()))
    n = sum(fit.counts.reshape(len(fit.counts), -1).sum(axis=1) for fit in fits)
    ends_low, ends_high = (np.repeat(n * f, whole.cells.width) for f in _ends(functionals, whole.cells.width))
    errors = _errors(whole, fits, functionals, max(DRAWS, math.ceil(10 / (1 - level))), f"{aggregate.kind} {column}")
    if errors is None:
        return _held(plain, value, ends_low, ends_high)
    rank = int((len(errors) + 1) * (1 - level) / 2 + 1e-9)
    low, high = plain.value - errors[-rank], plain.value - errors[rank - 1]
    pivot = Estimate(plain.name, plain.value, errors.std(axis=0), low, high, plain.method)
    return _held(pivot, value, ends_low, ends_high)


def _ends(functionals: list[Tensor], width: int) -> tuple[float, float]:
    """The least and the most that a true row can add to a row of the answer; nothing, where it may belong to another one."""
    low, high = min(float(f.min()) for f in functionals), max(float(f.max()) for f in functionals)
    return (min(low, 0.0), max(high, 0.0)) if width > 1 else (low, high)


def _functional(part: Reconstruction, column: str | None, kind: str) -> Tensor:
    """What a true state adds to the figure."""
    truth = (part.truth & part.present(column)).astype(float)
    if column is None or kind == "count":
        return truth
    axes = [*part.question.grouped, *part.question.others]
    place = next(i for i, axis in enumerate(axes) if axis.name == column)
    shape = [1] * truth.ndim
    shape[place] = -1
    return np.asarray(truth * np.nan_to_num(axes[place].domain.numbers).reshape(shape))


def _errors(whole: Whole, fits: list[Fit], functionals: list[Tensor], draws: int, name: str) -> Tensor | None:
    """Sorted errors of the unbiased figure in tables published again: (draws, rows of the answer); None where that is too large.

    None too where rows have weights: their sums have the means that the likelihood asks for, and so a maximum that is right in the limit,
    but not its law, because the groups and their samples, which a table published again would need, are not in the lines of an answer.
    """
    cells = whole.cells
    if functionals[0].size * cells.width > MOST_FUNCTIONALS or cells.question.published.weighted:
        return None
    total = np.zeros((draws, len(cells.groups), cells.width))
    # the same question of a release has the same answer; one stream for all releases would make all of them miss alike
    stream = Entropy.seeded(0).stream("bootstrap", " ".join([name, *(fit.digest for fit in fits)]))
    for fit, functional in zip(fits, functionals, strict=True):
        axes = len(fit.channels)
        for place in _places(fit.counts, axes):
            look()
            if fit.counts[place].sum() > 0:
                parts = _by_row(functional[place[1:]], len(cells.shape), cells.width)
                total[:, place[0]] += pivot_errors(fit.counts[place], fit.channels, parts, draws, stream)
    return np.sort(total.reshape(draws, -1), axis=0)


def _by_row(functional: Tensor, grouped: int, width: int) -> Tensor:
    """One functional for each row of the answer: its own grouped values, and 0 elsewhere."""
    rest = functional.shape[grouped:]
    rows = np.zeros((width, width, *rest))
    rows[np.arange(width), np.arange(width)] = functional.reshape(width, *rest)
    return rows.reshape(width, *functional.shape)


def _held(pivot: Estimate, value: Tensor, least: float | Tensor, most: float | Tensor) -> Estimate:
    """The interval of the pivot, cut to what is possible and wide enough for the value."""
    low = np.fmin(np.clip(pivot.low, least, most), value)
    high = np.fmax(np.clip(pivot.high, least, most), value)
    return Estimate(pivot.name, value, pivot.se, low, high, "likelihood")
