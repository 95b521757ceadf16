"""What a count or a sum over several perturbed columns was drawn from: rows by published cell, and what rows of each true cell become.

Columns of conditions have the cells of the question. A column that is grouped by has two for each row of the answer: its own value, and all others,
which is a transition of its own where one retention holds. The transition of a row is the product over its columns.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scumble.core.channel import Channel, replacement_of
from scumble.core.channel_base import BaseChannel, Vector
from scumble.query.few import MANY
from scumble.query.law import FEWER, Flags, Tables, Tensor, Transition
from scumble.query.moments import Even, Moments, Ratio, quotient
from scumble.query.sampled import over_values
from scumble.query.stratum import Stratum

MOST_CELLS = 64
"""Cells of a question up to which its law is computed."""
MOST_STEPS = 1 << 24
"""Rows of the answer times cells squared up to which it is: some seconds of work."""
MOST_KINDS = 256
"""Groups up to which it is, where each has a replacement probability of its own."""

EVEN = 8.0
"""The variance of a count below which an average over it is not judged by the rows that are seen alone."""
SEEN = 30
"""How many rows, published as matching, tell enough of the numbers of those that match."""
LEAST = 6.0
"""The least variance from which on the score interval serves."""


def known(part: Stratum) -> bool:
    """Whether rows count 1 each and go from few cells to few cells, so that the law of an estimate is known."""
    question, cells = part.question, part.cells
    listed = [part.channels[axis.name] for axis in question.grouped]
    rest = part.truth.shape[len(cells.lines) :]
    states, behind = (int(np.prod(shape, dtype=np.int64)) * 2 ** len(cells.lines) for shape in (cells.rest, rest))
    return (
        not question.exact
        and not question.published.weighted
        and max(states, behind) <= MOST_CELLS
        and states * behind * len(cells.groups) * cells.width <= MOST_STEPS
        and all(channel.against_others is not None for channel in listed)
        and (_alike(listed) or cells.width <= MOST_KINDS)
    )


def most(part: Stratum) -> float:
    """The variance from which on the score interval serves: less where replacements follow the column, whose law, taken for known, is up to 1/p too wide."""
    if not part.question.published.whole:
        return MANY
    axes = [*part.question.grouped, *part.question.others]
    return max(LEAST, MANY * min(float(replacement_of(part.channels[axis.name]).retain) for axis in axes) ** 2)


def of_count(part: Stratum, ones: Vector, present: str | None) -> Tables:
    """What counts were drawn from."""
    published, one = _by_state(part, ones), np.ones(len(part.cells.groups) * part.cells.width)
    return Tables(published, published, one, one, True, _transitions(part, present), most(part))


def of_sum(part: Stratum, place: int) -> Tables:
    """What sums of a public number were drawn from, as rows that count c each."""
    numbers = part.cells.numbers
    first, second, third = (over_values(part.cells, numbers(f"v{place}_{order}")).reshape(-1) for order in "sqc")
    unit = quotient(third, second)
    pull = quotient(unit * first, second)
    squares, sums = _by_state(part, numbers(f"v{place}_q")), _by_state(part, numbers(f"v{place}_s"))
    scale = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit != 0)[:, None]
    return Tables(squares * scale**2, sums * scale, unit, pull, False, _transitions(part, None), FEWER)


def of_average(part: Stratum, place: int, ratio: Ratio) -> Even:
    """The variances of an average of a public number if rows match whatever it is, and where few rows decide.

    A count of which nothing is seen may still be half a row's weight, squared, away.
    """
    numbers = part.cells.numbers
    ranges, matching, few = _matching(part, place)
    shape, ones = ratio.numerator.value.shape, part.over(numbers(f"v{place}_n"))
    variance = np.maximum(ratio.denominator.variance, 0) + (ranges**2 / 2).reshape(shape)
    error = quotient(variance, ones)
    top = Moments(ratio.numerator.value, error * part.over(numbers(f"v{place}_q")))
    bottom = Moments(ratio.denominator.value, variance)
    return Even(Ratio(top, bottom, error * part.over(numbers(f"v{place}_s"))), few & (matching < SEEN))


def carrying(part: Stratum, place: int) -> Tensor:
    """The published rows that carry a sum, matching ones times (sum t)^2 / (n sum t^2), where few rows decide; elsewhere they are enough."""
    first, second, ones = (part.over(part.cells.numbers(f"v{place}_{name}")).reshape(-1) for name in "sqn")
    _, matching, few = _matching(part, place)
    return np.where(few, matching * quotient(first**2, ones * second), np.inf)


def _matching(part: Stratum, place: int) -> tuple[Tensor, Tensor, Flags]:
    """For each row of the answer how much one row can change the count of those with a number, how many are published as matching, and whether few decide."""
    tables = replace(of_count(part, part.cells.numbers(f"v{place}_n"), None), most=EVEN)
    matching = (tables.published * tables.counted).sum(axis=1)
    return tables.ranges, matching, tables.few(matching)


def _by_state(part: Stratum, sums: Vector) -> Tensor:
    """Sums by cell, a line for each row of the answer: its own values of the grouped columns, and all others."""
    table = part.cells.dense(sums)
    for place, axis in enumerate(part.question.grouped, start=1):
        own = np.moveaxis(part.channels[axis.name].matches(np.moveaxis(table, place, 0)), 0, place)
        table = np.stack([own, table.sum(axis=place, keepdims=True) - own], axis=-1)
    return table.reshape(len(part.cells.groups) * part.cells.width, -1)


def _transitions(part: Stratum, present: str | None) -> list[tuple[Flags, Transition]]:
    """Those that differ, by residual condition and, where replacement is not uniform, by the values of the grouped columns."""
    question, groups, shape = part.question, len(part.cells.groups), part.cells.lines
    rest = [axis.collapsed(part.channels[axis.name]).matrix() for axis in question.others]
    atoms = [np.eye(3) for _ in question.conditions.public_atoms]
    listed = [part.channels[axis.name] for axis in question.grouped]
    kinds = []
    for members, truth in part.classes(present):
        for some in [members] if _alike(listed) else _one_by_one(members):
            first = np.unravel_index(int(np.argmax(some)), shape) if shape else ()
            own = [_between(channel, int(value)) for channel, value in zip(listed, first, strict=True)]
            counted = [truth.astype(np.float64).reshape(-1), *(np.array([1.0, 0.0]) for _ in own)]
            weights = [part.rest_weights(truth.astype(float)).reshape(-1), *(c.weights([1.0, 0.0]) for c in own)]
            looks = [part.looks(truth.astype(float)).reshape(-1), *counted[1:]]
            through = _product([*rest, *atoms, *(channel.matrix() for channel in own)])
            transition = Transition(through, _product(weights), _product(counted) > 0, _product(looks) > 0)
            kinds.append((np.tile(some.reshape(-1), groups), transition))
    return kinds


def _alike(listed: Sequence[BaseChannel]) -> bool:
    """Whether all values of the grouped columns are treated alike."""
    return all(channel.alike for channel in listed)


def _one_by_one(members: Flags) -> list[Flags]:
    """Each of some rows of the answer by itself."""
    places = np.flatnonzero(members.reshape(-1))
    return [(np.arange(members.size) == place).reshape(members.shape) for place in places]


def _between(channel: BaseChannel, value: int) -> Channel:
    """A channel of one retention, between one value and all others."""
    known = channel.against_others
    assert known is not None
    share = float(known[1][value])
    return Channel(known[0], [share, 1 - share])


def _product(parts: Sequence[Tensor]) -> Tensor:
    """The Kronecker product of one or more."""
    product: Tensor = np.ones((1,) * parts[0].ndim)
    for part in parts:
        product = np.kron(product, part).astype(np.float64)
    return product
