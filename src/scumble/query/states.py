"""What a count or a sum over several perturbed columns was drawn from: rows by published cell, and what rows of each true cell become.

Columns of conditions have the cells of the question. A column that is grouped by has two for each row of the answer: its own value, and all others,
which is a transition of its own where one retention and uniform replacement hold. The transition of a row is the product over its columns.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scumble.channel import Channel, Vector
from scumble.query.cells import MOST_STATES
from scumble.query.law import Flags, Tables, Tensor, Transition
from scumble.query.moments import quotient
from scumble.query.sampled import over_values

if TYPE_CHECKING:
    from scumble.query.reconstruct import Reconstruction

MOST_CELLS = 64
"""Cells of a question up to which its law is computed."""


def known(part: "Reconstruction") -> bool:
    """Whether rows count 1 each and go from few cells to few cells, so that the law of an estimate is known."""
    question, cells = part.question, part.cells
    states = int(np.prod(cells.rest, dtype=np.int64)) * 2 ** len(cells.shape)
    return (
        not question.exact
        and not question.published.weighted
        and not question.published.whole
        and states <= MOST_CELLS
        and states * len(cells.groups) * cells.width <= MOST_STATES
        and all(part.channels[axis.name].uniform and part.channels[axis.name].retain > 0 for axis in question.grouped)
    )


def of_count(part: "Reconstruction", ones: Vector, present: str | None) -> Tables:
    """What counts were drawn from."""
    published, one = _by_state(part, ones), np.ones(len(part.cells.groups) * part.cells.width)
    return Tables(published, published, one, one, True, _transitions(part, present))


def of_sum(part: "Reconstruction", place: int) -> Tables:
    """What sums of a public number were drawn from, as rows that count c each."""
    numbers = part.cells.numbers
    first, second, third = (over_values(part.cells, numbers(f"v{place}_{order}")).reshape(-1) for order in "sqc")
    unit = quotient(third, second)
    pull = quotient(unit * first, second)
    squares, sums = _by_state(part, numbers(f"v{place}_q")), _by_state(part, numbers(f"v{place}_s"))
    scale = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit != 0)[:, None]
    return Tables(squares * scale**2, sums * scale, unit, pull, False, _transitions(part, None))


def _by_state(part: "Reconstruction", sums: Vector) -> Tensor:
    """Sums by cell, a line for each row of the answer: its own values of the grouped columns, and all others."""
    table = part.cells.dense(sums)
    for place in range(1, 1 + len(part.cells.shape)):
        table = np.stack([table, table.sum(axis=place, keepdims=True) - table], axis=-1)
    return table.reshape(len(part.cells.groups) * part.cells.width, -1)


def _transitions(part: "Reconstruction", present: str | None) -> list[tuple[Flags, Transition]]:
    question, groups = part.question, len(part.cells.groups)
    own = [_own(part.channels[axis.name]) for axis in question.grouped]
    rest = [axis.collapsed(part.channels[axis.name]).matrix() for axis in question.others]
    atoms = [np.eye(3) for _ in question.conditions.public_atoms]
    through = _product([*rest, *atoms, *(channel.matrix() for channel in own)])
    first = [channel.weights([1.0, 0.0]) for channel in own]
    kinds = []
    for members, truth in part.classes(present):
        counted = _product([truth.astype(np.float64).reshape(-1), *(np.array([1.0, 0.0]) for _ in own)]) > 0
        weights = _product([part.rest_weights(truth.astype(float)).reshape(-1), *first])
        kinds.append((np.tile(members.reshape(-1), groups), Transition(through, weights, counted)))
    return kinds


def _own(channel: Channel) -> Channel:
    """A uniform channel between one value and all others."""
    share = 1 / channel.size
    return Channel(channel.retain, [share, 1 - share])


def _product(parts: Sequence[Tensor]) -> Tensor:
    """The Kronecker product of one or more."""
    found: Tensor = np.ones((1,) * parts[0].ndim)
    for part in parts:
        found = np.kron(found, part).astype(np.float64)
    return found
