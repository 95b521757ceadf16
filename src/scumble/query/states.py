"""What a count over several perturbed columns was drawn from: rows by published cell, and what rows of each true cell become.

Columns of conditions have the cells of the question. A column that is grouped by has two for each row of the answer: its own value, and all others,
which is a transition of its own where one retention and uniform replacement hold. The transition of a row is the product over its columns.
"""

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from scumble.channel import Channel, Vector
from scumble.query.cells import MOST_STATES
from scumble.query.law import Tables, Tensor, Transition

if TYPE_CHECKING:
    from scumble.query.reconstruct import Reconstruction

MOST_CELLS = 64
"""Cells of a question up to which its law is computed."""


def known(part: "Reconstruction") -> bool:
    """Whether rows count 1 each and go from few cells to few cells, so that the law of a count is known."""
    question, cells = part.question, part.cells
    states = int(np.prod(cells.rest, dtype=np.int64)) * 2 ** len(cells.shape)
    return (
        not question.published.weighted
        and states <= MOST_CELLS
        and states * len(cells.groups) * cells.width <= MOST_STATES
        and all(part.channels[axis.name].uniform and part.channels[axis.name].retain > 0 for axis in question.grouped)
    )


def tables(part: "Reconstruction", ones: Vector, present: str | None) -> Tables:
    """The tables of published rows, one for each row of the answer, and their transitions."""
    cells, question = part.cells, part.question
    table = cells.dense(ones)
    for place in range(1, 1 + len(cells.shape)):
        table = np.stack([table, table.sum(axis=place, keepdims=True) - table], axis=-1)
    lines = len(cells.groups) * cells.width
    own = [_own(part.channels[axis.name]) for axis in question.grouped]
    rest = [axis.collapsed(part.channels[axis.name]) for axis in question.others]
    through = [*(channel.matrix() for channel in rest), *(np.eye(3) for _ in question.conditions.public_atoms)]
    matrix: Tensor = reduce(np.kron, [*through, *(channel.matrix() for channel in own)], np.eye(1))
    first = [channel.weights([1.0, 0.0]) for channel in own]
    kinds = []
    for members, truth in part.classes(present):
        counted = reduce(np.kron, [truth.reshape(-1), *(np.array([True, False]) for _ in own)])
        weights = reduce(np.kron, [part.rest_weights(truth.astype(float)).reshape(-1), *first])
        kinds.append((np.tile(members.reshape(-1), len(cells.groups)), Transition(matrix, weights, counted)))
    return Tables(table.reshape(lines, -1), kinds)


def _own(channel: Channel) -> Channel:
    """A uniform channel between one value and all others."""
    share = 1 / channel.size
    return Channel(channel.retain, [share, 1 - share])
