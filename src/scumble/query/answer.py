"""Sums into estimates with intervals, in the order that was asked for.

Intervals, at level 1 - alpha with z the normal quantile:

- sums and counts: value +- z se;
- counts over one perturbed column with one retention: the score interval, the k with
  (O - k a - (n - k) b)^2 <= z^2 (k a (1 - a) + (n - k) b (1 - b)), a = p + (1 - p) r, b = (1 - p) r, which covers better
  where few rows match (O published rows match, r is the replacement probability of the set);
- the same where rows have weights W: (S - k)^2 <= z^2 V(k), V the variance that is to be expected at k (query/sampled.py);
- averages R = N / D: Fieller's, the R with (N - R D)^2 <= z^2 (V_N - 2 R C + R^2 V_D); unbounded where D may be 0. The
  standard error is sqrt(V_N - 2 R C + R^2 V_D) / D.
"""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.engine import Engine
from scumble.errors import ParameterError, did_you_mean
from scumble.estimate import Estimate, Estimates
from scumble.parameters import number
from scumble.query.cells import Cells
from scumble.query.compile import Published, Question, compile_query, perturbed_column
from scumble.query.parse import Aggregate, Group, Query, parse
from scumble.query.reconstruct import Moments, Ratio, Whole
from scumble.query.sampled import over_values, score_of_samples

FEW = 10
"""Published rows below which a normal interval is a bad description."""

ROUNDING = 1e-12
"""A variance below this, for each row counted, is that of the arithmetic."""

Numbers = npt.NDArray[np.float64]


METHODS = ("unbiased", "likelihood")


def ask(sql: str, published: Published, engine: Engine, level: Any, method: str = "unbiased") -> Estimates:
    """The answer to a question."""
    if method not in METHODS:
        raise ParameterError(f"there is no method {method!r}{did_you_mean(method, METHODS)}")
    if method == "likelihood" and published.weighted:
        raise ParameterError(
            "rows of this release have weights, which the likelihood does not know; ask with method unbiased"
        )
    share = number(level, "level")
    if not 0 < share < 1:
        raise ParameterError(
            f"level is the share of intervals that hold the truth and lies between 0 and 1, not {level}"
        )
    question = compile_query(parse(sql, published.columns), published, engine, by_value=method == "likelihood")
    return answer(question, Whole(question, Cells(question, engine.run(question.statement))), share, method)


def answer(question: Question, found: Whole, level: float, method: str = "unbiased") -> Estimates:
    """Estimates from sums."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    estimates = [_estimate(a, question, found, z) for a in question.query.aggregates]
    notes = _notes(question, found, estimates)
    if method == "likelihood" and not question.exact:
        from scumble.query.likely import likely

        estimates, how = likely(question, found, estimates, level)
        notes += how
    names = [output.name for output in question.query.outputs]
    told = arranged(Estimates(names, _group_columns(question, found), estimates, level, notes), question.query)
    if any(np.any(np.isinf(e.low)) for e in told.estimates):
        told.notes.append(
            "an average is unbounded where its group may be empty: the release cannot tell its size from 0"
        )
    return told


def _estimate(aggregate: Aggregate, question: Question, found: Whole, z: float) -> Estimate:
    if aggregate.value is None:
        count = found.count()
        if question.exact and question.published.weighted:  # people are whole, sums of weights n/s nearly so
            count = Moments(np.rint(count.value), count.variance)
        if _one_column(question):
            way = _score_of_samples if question.published.weighted else _score
            return way(aggregate.name, count, question, found, z)
        return _normal(aggregate.name, count, question.exact, z)
    if aggregate.kind == "count":
        return _normal(aggregate.name, _present(aggregate, question, found), question.exact, z)
    ratio = found.sum(aggregate)
    if aggregate.kind == "sum":
        return _empty_sums(_normal(aggregate.name, ratio.numerator, question.exact, z), ratio.denominator)
    return _fieller(aggregate.name, ratio, question.exact, z)


def _present(aggregate: Aggregate, question: Question, found: Whole) -> Moments:
    assert aggregate.value is not None
    column = perturbed_column(aggregate.value, {a.name: a.domain for a in [*question.grouped, *question.others]})
    return found.count(question.place(aggregate.value)) if column is None else found.count(present=column)


def _normal(name: str, moments: Moments, exact: bool, z: float) -> Estimate:
    value = moments.value.reshape(-1)
    variance = moments.variance.reshape(-1)
    se = np.sqrt(np.where(variance > ROUNDING * (1 + np.abs(value)), variance, 0))
    return Estimate(name, value, se, value - z * se, value + z * se, "exact" if exact else "unbiased")


def _empty_sums(estimate: Estimate, count: Moments) -> Estimate:
    """SUM over no rows is null in SQL, where that is known for certain."""
    if not estimate.exact:
        return estimate
    unless = np.where(count.value.reshape(-1) == 0, np.nan, 0.0)
    e = estimate
    return Estimate(e.name, e.value + unless, e.se + unless, e.low + unless, e.high + unless, "exact")


def _one_column(question: Question) -> bool:
    axes = [*question.grouped, *(axis for axis in question.others if axis.count > 1)]
    published = question.published
    if len(axes) != 1 or len(published.strata) > 1 or question.conditions.public_atoms:
        return False
    channel = published.strata[0][axes[0].name]
    return bool(channel.constant and channel.retain > 0)


def _score(name: str, count: Moments, question: Question, found: Whole, z: float) -> Estimate:
    """The score interval; where the set is empty or everything, the count is known."""
    plain = _normal(name, count, False, z)
    axis = next(a for a in [*question.grouped, *question.others] if a.count > 1)
    p = float(question.published.strata[0][axis.name].retain)
    seen = found.matching().reshape(-1)
    n = np.repeat(found.parts[0].rows(), found.cells.width)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.broadcast_to(
            _mass(question, found).reshape(1, -1), (len(found.cells.groups), found.cells.width)
        ).reshape(-1)
        low, high = _score_ends(seen, n, p + (1 - p) * r, (1 - p) * r, z)
    known = plain.se == 0
    return Estimate(
        name, plain.value, plain.se, np.where(known, plain.value, low), np.where(known, plain.value, high), "unbiased"
    )


def _score_of_samples(name: str, count: Moments, question: Question, found: Whole, z: float) -> Estimate:
    """The same where rows have weights."""
    plain = _normal(name, count, False, z)
    axis = next(a for a in [*question.grouped, *question.others] if a.count > 1)
    p, (part,) = float(question.published.strata[0][axis.name].retain), found.parts
    r = np.broadcast_to(_mass(question, found).reshape(1, -1), (len(found.cells.groups), found.cells.width)).reshape(-1)
    sums = [over_values(part.cells, part.cells.numbers("n", order)).reshape(-1) for order in (1, 2)]
    extra = part.sampling(part.cells.numbers("n", 2)).variance.reshape(-1)
    low, high = score_of_samples(plain.value, sums[0], sums[1], extra, p, r, z)
    known = plain.se == 0
    low, high = np.where(known, plain.value, low), np.where(known, plain.value, high)
    return Estimate(name, plain.value, plain.se, low, high, "unbiased")


def _mass(question: Question, found: Whole) -> Numbers:
    """The replacement probability of the set that is counted, for each grouped value."""
    axes = [*question.grouped, *(axis for axis in question.others if axis.count > 1)]
    replace = axes[0].collapsed(question.published.strata[0][axes[0].name]).replace
    truth = found.parts[0].truth.reshape(found.cells.width, -1)
    return np.asarray(np.where(truth[:, 0], replace, 0.0) if question.grouped else truth @ replace)


def _score_ends(seen: Numbers, n: Numbers, a: Numbers, b: Numbers, z: float) -> tuple[Numbers, Numbers]:
    """The ends of {k : (O - n b - k d)^2 <= z^2 (n b (1 - b) + k s)}, d = a - b, s = a (1 - a) - b (1 - b)."""
    d, s, rest = a - b, a * (1 - a) - b * (1 - b), seen - n * b
    middle = rest * d + z * z * s / 2
    root = np.sqrt(np.maximum(middle**2 - d * d * (rest**2 - z * z * n * b * (1 - b)), 0))
    return (middle - root) / d**2, (middle + root) / d**2


def _fieller(name: str, ratio: Ratio, exact: bool, z: float) -> Estimate:
    top, bottom = ratio.numerator.value.reshape(-1), ratio.denominator.value.reshape(-1)
    v_top, v_bottom = (np.maximum(m.variance.reshape(-1), 0) for m in (ratio.numerator, ratio.denominator))
    c = ratio.covariance.reshape(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        nobody = np.abs(bottom) <= 1e-9 * np.sqrt(v_bottom) + ROUNDING
        value = np.where(nobody, np.nan, top / bottom)
        se = np.sqrt(np.maximum(v_top - 2 * value * c + value**2 * v_bottom, 0)) / np.abs(bottom)
        square, middle = bottom**2 - z * z * v_bottom, top * bottom - z * z * c
        root = np.sqrt(np.maximum(middle**2 - square * (top**2 - z * z * v_top), 0))
        bounded = square > 0
        low = np.where(bounded, (middle - root) / square, -math.inf)
        high = np.where(bounded, (middle + root) / square, math.inf)
    low, high = np.where(se == 0, value, low), np.where(se == 0, value, high)
    return Estimate(name, value, se, low, high, "exact" if exact else "unbiased")


def _group_columns(question: Question, found: Whole) -> pa.Table:
    groups, width = found.cells.groups, found.cells.width
    columns: dict[str, pa.ChunkedArray] = {}
    for output in question.query.outputs:
        if isinstance(output, Group):
            columns[output.name] = _group_column(output, question, groups, width, found.cells.shape)
    return pa.table(columns)


def _group_column(output: Group, question: Question, groups: pa.Table, width: int, shape: tuple[int, ...]) -> pa.Array:
    for i, group in enumerate(question.publics):
        if group.expression == output.expression:
            return groups.column(f"g{i}").take(pa.array(np.repeat(np.arange(len(groups)), width)))
    place = next(i for i, axis in enumerate(question.grouped) if axis.name == output.expression.name)
    codes = np.unravel_index(np.arange(width), shape)[place]
    return question.grouped[place].domain.values.take(pa.array(np.tile(codes, len(groups))))


def _notes(question: Question, found: Whole, estimates: list[Estimate]) -> list[str]:
    notes = list(question.conditions.notes)
    if question.exact:
        return notes
    few = int((found.matching().reshape(-1) < FEW).sum())
    if few:
        where = f"in {few} of {len(estimates[0].value)} rows" if len(estimates[0].value) > 1 else "here"
        notes.append(f"fewer than {FEW} published rows match {where}; read the interval as a rough one")
    return notes


def arranged(answer: Estimates, query: Query) -> Estimates:
    """ORDER BY, OFFSET and LIMIT."""
    order = np.arange(len(answer))
    if query.order:
        table = answer.to_arrow()
        keys = pa.table({f"k{i}": table.column(key.name) for i, key in enumerate(query.order)})
        ways = [(f"k{i}", "descending" if key.descending else "ascending") for i, key in enumerate(query.order)]
        order = pa.compute.sort_indices(keys, sort_keys=ways).to_numpy().astype(np.intp)
    end = None if query.limit is None else query.offset + query.limit
    order = order[query.offset : end]
    groups = answer.groups.take(pa.array(order)) if answer.groups.num_columns else answer.groups
    return Estimates(answer.columns, groups, [e.take(order) for e in answer.estimates], answer.level, answer.notes)
