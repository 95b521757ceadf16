"""The rows of one stratum, and what a condition makes of their cells.

A row's weight w is a product over independent columns, so over a tensor of cells it is found axis by axis. With f the truth table
of the condition, P_r the channel of axis r between its cells, and B_r = P_r^-1,

    W = (B_1^T x ... x B_k^T) f                    the weight of a published row, by its cells
    S = sum v W,   V = sum v^2 (W^2 - W)           the estimate and its variance (f^2 = f, so the weights of f^2 are W)

A perturbed column d that is grouped by multiplies the weight by B[d, y]; so the rows are first summed over all other axes,

    L = sum v W,   Q = sum v^2 W^2,   M = sum v^2 W          for each published value y of the grouped columns
    S_d = sum_y B[d, y] L_y,   V_d = sum_y B[d, y]^2 Q_y - sum_y B[d, y] M_y

and the last two are O(m) by the structure of the channel.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.channel import IndistinguishableValues
from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.domain import Grid
from scumble.query.cells import Cells
from scumble.query.compile import Question, null_states
from scumble.query.moments import Moments
from scumble.query.normalize import truth_table
from scumble.query.sampled import over_values

Tensor = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

Gathered = tuple[Tensor, Tensor, Tensor]
"""L, Q and M of the docstring above."""


class Stratum:
    """The cells of a question in one stratum, with its channels."""

    def __init__(self, question: Question, cells: Cells, channels: Mapping[str, BaseChannel]) -> None:
        self.question = question
        self.cells = cells
        self.channels = channels
        self._collapsed = {axis.name: axis.collapsed(channels[axis.name]) for axis in question.others}
        self.truth = truth_table(question.conditions, [*question.grouped, *question.others])
        self._tables: dict[tuple[str, int, bool], Tensor] = {}

    def dense(self, name: str, order: int, *, sampled: bool) -> Tensor:
        """Sums by cell as a table, of all rows or of sampled ones; made once."""
        key = (name, order, sampled)
        if key not in self._tables:
            sums = self.cells.numbers(name, order)
            some = self.cells.sampled if sampled and self.cells.sampled is not None else 1.0
            self._tables[key] = self.cells.dense(sums * some)
        return self._tables[key]

    def over(self, sums: Vector) -> Tensor:
        """Sums over all rows of a public group, for each row of the answer."""
        return over_values(self.cells, sums)

    def line(self, weights: Sequence[Tensor], sums: Sequence[Vector]) -> Tensor:
        """Several sums, each times its weight by cell, together."""
        parts = [self.cells.gather(np.broadcast_to(w, self.cells.rest), s) for w, s in zip(weights, sums, strict=True)]
        return np.asarray(np.sum(parts, axis=0))

    def blank(self) -> Tensor:
        """A number for each row of the answer, 0 as yet."""
        return np.zeros((len(self.cells.groups), *self.cells.lines))

    def moments(self, gather: Callable[[Tensor], Gathered], present: str | None = None) -> Moments:
        """The same of the weights of a condition."""
        return self.moments_of_truth(lambda f: gather(self.rest_weights(f)), present)

    def moments_of_truth(self, gather: Callable[[Tensor], Gathered], present: str | None = None) -> Moments:
        """Runs `gather` for each distinct residual condition, and keeps the answer's rows that have it."""
        value, variance = self.blank(), self.blank()
        for members, truth in self.classes(present):
            try:
                linear, squares, own = gather(truth.astype(float))
                value[:, members] = self._solve(linear)[:, members]
                variance[:, members] = (self._solve_squares(squares) - self._solve(own))[:, members]
            except IndistinguishableValues as error:
                raise IndistinguishableValues(error.values, self.lost()) from None
        return Moments(value, variance)

    def classes(self, present: str | None) -> list[tuple[Flags, Flags]]:
        """The grouped values that leave the same condition on the other axes, with that condition."""
        truth = self.truth & self.present(present)
        truth = np.broadcast_to(truth, np.broadcast_shapes(truth.shape, self.truth.shape))
        rows, rest = truth.reshape(self.cells.width, -1), truth.shape[len(self.cells.lines) :]
        if not self.cells.lines:
            return [(np.ones((), dtype=np.bool_), rows.reshape(rest))] if rows.any() else []
        kinds, which = np.unique(rows, axis=0, return_inverse=True)
        classes = [
            ((which.reshape(-1) == i).reshape(self.cells.lines), kind.reshape(rest))
            for i, kind in enumerate(kinds)
            if kind.any()
        ]
        return classes

    def present(self, column: str | None) -> Flags:
        """Where a perturbed column is not missing, over all axes."""
        axes = [*self.question.grouped, *self.question.others]
        if column is None:
            return np.ones((1,) * self.truth.ndim, dtype=np.bool_)
        place = next(i for i, axis in enumerate(axes) if axis.name == column)
        shape = [1] * self.truth.ndim
        shape[place] = -1
        states = np.ones(axes[place].count, dtype=np.bool_)
        if not isinstance(axes[place].domain, Grid):
            states[axes[place].cells] = null_states(axes[place].domain).astype(np.bool_)
        return states.reshape(shape)

    def rest_weights(self, f: Tensor, skip: int | None = None) -> Tensor:
        """(B_1^T x ... x B_k^T) f over the axes that are not grouped."""
        for place, axis in enumerate(self.question.others):
            if place != skip and axis.count > 1:
                f = np.moveaxis(self._collapsed[axis.name].weights(np.moveaxis(f, place, 0)), 0, place)
        return f

    def rest_expectation(self, g: Tensor) -> Tensor:
        """The mean of g(published cells) for each true cell, over the axes that are not grouped."""
        for place, axis in enumerate(self.question.others):
            if axis.count > 1:
                g = np.moveaxis(self._collapsed[axis.name].expect(np.moveaxis(g, place, 0)), 0, place)
        return g

    def solved(
        self,
        weigh: Callable[[Tensor], Tensor],
        sums: Vector,
        present: str | None = None,
        *,
        but: int | None = None,
        over: bool = False,
    ) -> Tensor:
        """Sums over rows, times a weight that comes from the residual condition and those of the grouped columns.

        but    the grouped column whose weight is left out
        over   whether the sums are taken over all its published values
        """
        counts = self.blank()
        for members, truth in self.classes(present):
            linear = self.cells.gather(weigh(truth.astype(float)), sums)
            if over and but is not None:
                linear = np.broadcast_to(linear.sum(axis=1 + but, keepdims=True), linear.shape)
            counts[:, members] = self._solve(linear, but)[:, members]
        return counts

    def _solve(self, tensor: Tensor, but: int | None = None) -> Tensor:
        for place, axis in enumerate(self.question.grouped):
            if place == but:
                continue
            tensor = np.moveaxis(self.channels[axis.name].solve(np.moveaxis(tensor, place + 1, 0)), 0, place + 1)
        return tensor

    def _solve_squares(self, tensor: Tensor) -> Tensor:
        for place, axis in enumerate(self.question.grouped):
            tensor = np.moveaxis(
                self.channels[axis.name].solve_squares(np.moveaxis(tensor, place + 1, 0)), 0, place + 1
            )
        return tensor

    def matched(self, tensor: Tensor) -> Tensor:
        """Published counts by value of the grouped columns as how many rows look like each value."""
        for place, axis in enumerate(self.question.grouped):
            tensor = np.moveaxis(self.channels[axis.name].matches(np.moveaxis(tensor, place + 1, 0)), 0, place + 1)
        return tensor

    def looks(self, f: Tensor) -> Tensor:
        """Which published cells look as if a condition held: those of its values, or codes that weigh more than half for it."""
        for place, axis in enumerate(self.question.others):
            if axis.codes is not None and axis.count > 1:
                weights = self._collapsed[axis.name].weights(np.moveaxis(f, place, 0))
                f = np.moveaxis((weights > 0.5).astype(np.float64), 0, place)
        return f

    def lost(self) -> list[str]:
        """The values that cannot be told apart, where it is known of which column they are."""
        axes = [*self.question.grouped, *self.question.others]
        lost = next((axis for axis in axes if len(self.channels[axis.name].never_retained) > 1), None)
        if lost is None:
            return []
        values = lost.domain.values.take(pa.array(self.channels[lost.name].never_retained))
        return [repr(value) for value in values.to_pylist()]
