"""The rows of one stratum, and what a table over their cells makes of them.

A row's weight w is a product over independent blocks of columns, so over a tensor of cells it is found block by block. With f a table, P_r the channel of
block r between its cells, and B_r = P_r^-1,

    W = (B_1^T x ... x B_k^T) f                    the weight of a published row, by its cells
    S = sum u W,   V = sum u^2 (W^2 - W')          the estimate and its variance, W' the weight of f^2

A perturbed column d that is grouped by as it is multiplies the weight by B[d, y]; so the rows are first summed over all other columns,

    L = sum u W,   Q = sum u^2 W^2,   M = sum u^2 W'          for each published value y of the grouped columns
    S_d = sum_y B[d, y] L_y,   V_d = sum_y B[d, y]^2 Q_y - sum_y B[d, y] M_y

and the last two are O(m) by the structure of the channel. A block is one column, or several that were perturbed as one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.channel import Channel, IndistinguishableValues, replacement_of
from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.once import once
from scumble.query.alone import Alone
from scumble.query.cells import Cells
from scumble.query.compile import Question
from scumble.query.normalize import Perturbed

Tensor = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Block:
    """Columns that go through one channel, by their places among the grouped or among the others."""

    places: tuple[int, ...]
    channel: BaseChannel

    @once
    def alone(self) -> Alone:
        """Of one grouped column, each value against the others."""
        return Alone(self.channel)

    def along(self, tensor: Tensor, step: Callable[[Tensor], Tensor], offset: int = 0) -> Tensor:
        """What the channel makes of a tensor along these columns."""
        places = [place + offset for place in self.places]
        front = np.moveaxis(tensor, places, range(len(places)))
        shape = front.shape[: len(places)]
        changed = step(front.reshape(prod(shape), *front.shape[len(places) :]))
        if len(places) > 1:
            changed = changed.reshape(*shape, *changed.shape[1:])
        return np.moveaxis(changed, range(len(places)), places)


def blocks_of(axes: Sequence[Perturbed], channels: Mapping[str, BaseChannel], joint: Sequence[str]) -> list[Block]:
    """A block for each column, and one for those of them that were perturbed as one."""
    together = [i for i, axis in enumerate(axes) if axis.name in joint]
    alone = [i for i in range(len(axes)) if len(together) < 2 or i not in together]
    blocks = [Block((i,), axes[i].collapsed(channels[axes[i].name])) for i in alone]
    if len(together) < 2:
        return blocks
    parts = [replacement_of(axes[i].collapsed(channels[axes[i].name])) for i in together]
    drawn: Tensor = np.ones(1)
    for part in parts:
        drawn = np.kron(drawn, part.replace).astype(np.float64)
    return [*blocks, Block(tuple(together), Channel(parts[0].retain, drawn))]


def first_of(table: Tensor, kept: frozenset[int]) -> Tensor:
    """A table by some of its dimensions, which it depends on alone."""
    return table[tuple(slice(None) if i in kept else 0 for i in range(table.ndim))]


class Stratum:
    """The cells of a question in one stratum, with its channels."""

    def __init__(self, question: Question, cells: Cells, channels: Mapping[str, BaseChannel]) -> None:
        self.question = question
        self.cells = cells
        self.channels = channels
        self.ahead = len(question.grouped)
        self.blocks = blocks_of(question.others, channels, question.published.joint)
        """Of the other columns."""
        self.listed = blocks_of(question.grouped, channels, question.published.joint)
        """Of the grouped ones."""
        self._tables: dict[tuple[str, int, bool], Tensor] = {}

    @once
    def true_cells(self) -> tuple[int, ...]:
        """The shape of the true cells of the other columns and of public conditions; that of the published ones is another where codes are published."""
        return (*(axis.count for axis in self.question.others), *(3,) * len(self.question.conditions.public_atoms))

    def classes(self, *tables: Tensor) -> list[tuple[Flags, list[Tensor]]]:
        """The grouped values that leave the same tables on the other columns, with these; tables may have more dimensions behind."""
        lines, ahead = self.cells.lines, self.ahead
        if all(table.shape[:ahead] == (1,) * ahead for table in tables):
            return [(np.ones(lines, dtype=np.bool_), [table.reshape(table.shape[ahead:]) for table in tables])]
        whole = [np.broadcast_to(table, (*lines, *table.shape[ahead:])) for table in tables]
        rows = np.concatenate([table.reshape(self.cells.width, -1) for table in whole], axis=1)
        kinds, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        slices = [table.reshape(self.cells.width, *table.shape[ahead:]) for table in whole]
        return [
            ((which.reshape(-1) == i).reshape(lines), [table[first[i]] for table in slices])
            for i in range(len(kinds))
            if np.any(kinds[i])
        ]

    def weights(self, f: Tensor, skip: int | None = None) -> Tensor:
        """(B_1^T x ... x B_k^T) f over the other columns; f is broadcast to the true cells, and may have more dimensions behind."""
        f = np.broadcast_to(f, (*self.true_cells, *f.shape[len(self.true_cells) :]))
        try:
            for block in self.blocks:
                if block.channel.size > 1 and block.places != (skip,):
                    f = block.along(f, block.channel.weights)
        except IndistinguishableValues as error:
            raise IndistinguishableValues(error.values, self.lost()) from None
        return f

    def expectation(self, g: Tensor) -> Tensor:
        """The mean of g(published cells) for each true cell, over the other columns."""
        for block in self.blocks:
            if block.channel.size > 1:
                g = block.along(g, block.channel.expect)
        return g

    def solve(self, tensor: Tensor, over: frozenset[int] = frozenset(), *, squares: bool = False) -> Tensor:
        """S_d, or V_d's first part, of sums by published value of the grouped columns; summed over those of `over`, which all lines share then."""
        try:
            for block in self.listed:
                if set(block.places) <= over:
                    tensor = self.summed(tensor, block)
                else:
                    step = block.channel.solve_squares if squares else block.channel.solve
                    tensor = block.along(tensor, step, 1)
        except IndistinguishableValues as error:
            raise IndistinguishableValues(error.values, self.lost()) from None
        return tensor

    def summed(self, tensor: Tensor, block: Block) -> Tensor:
        """The sum over published values, as often as there are true ones."""
        for place in block.places:
            tensor = np.repeat(tensor.sum(axis=place + 1, keepdims=True), self.cells.lines[place], axis=place + 1)
        return tensor

    def matched(self, tensor: Tensor) -> Tensor:
        """Published counts by value of the grouped columns as how many rows look like each value."""
        for block in self.listed:
            tensor = block.along(tensor, block.channel.matches, 1)
        return tensor

    def looks(self, f: Tensor) -> Tensor:
        """Which published cells look as if a condition held: those of its values, or codes that weigh more than half for it."""
        f = np.broadcast_to(f, (*self.true_cells, *f.shape[len(self.true_cells) :]))
        for block in self.blocks:
            if block.channel.recoded and block.channel.size > 1:
                f = block.along(f, lambda h, own=block.channel: (own.weights(h) > 0.5).astype(np.float64))  # type: ignore[misc]
        return f

    def dense(self, name: str, order: int, *, sampled: bool = False) -> Tensor:
        """Sums by cell as a table, of all rows or of sampled ones; made once."""
        key = (name, order, sampled)
        if key not in self._tables:
            sums = self.cells.numbers(name, order)
            some = self.cells.sampled if sampled and self.cells.sampled is not None else 1.0
            self._tables[key] = self.cells.dense(sums * some)
        return self._tables[key]

    def gather(self, weights: Tensor, name: str, order: int = 1, *, sampled: bool = False) -> Tensor:
        """Sums over rows, each times the weight of its cells: public groups, published values of grouped columns, and keys."""
        if weights.shape[-1] == 1:
            sums = self.cells.numbers(name, order)
            some = self.cells.sampled if sampled and self.cells.sampled is not None else 1.0
            return self.cells.gather(weights[..., 0], sums * some)[..., None]
        table, flat = self.dense(name, order, sampled=sampled), weights.reshape(-1, weights.shape[-1])
        seen = table.shape[: 1 + self.ahead]
        return np.asarray(table.reshape(-1, len(flat)) @ flat).reshape(*seen, flat.shape[1])

    def over(self, sums: Vector) -> Tensor:
        """Sums over all rows of a public group, for each line of it that has no key."""
        total = self.cells.by_condition(sums).sum(axis=1)
        return np.broadcast_to(total.reshape(-1, *(1,) * self.ahead), (len(total), *self.cells.lines))

    def blank(self) -> Tensor:
        """A number for each line without a key, 0 as yet."""
        return np.zeros((len(self.cells.groups), *self.cells.lines))

    def lost(self) -> list[str]:
        """The values that cannot be told apart, where it is known of which column they are."""
        axes = [*self.question.grouped, *self.question.others]
        lost = next((axis for axis in axes if len(self.channels[axis.name].never_retained) > 1), None)
        if lost is None:
            return []
        values = lost.domain.values.take(pa.array(self.channels[lost.name].never_retained))
        return [repr(value) for value in values.to_pylist()]
