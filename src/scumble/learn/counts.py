"""What a level of a tree needs to know, from one statement for each feature; rows are never partitioned.

A node is a box: a set of bins for some of the features. The rows of the box, by the published bin y of a feature and the
published class t, come out of ONE scan for all nodes of a level, grouped by the cells of the other features:

    L[y, t] = sum over rows of  W g,    Q[y, t] = sum over rows of  W^2 g^2,      g = prod_r phi_r(published cell of feature r)

where phi_r = the debias weights of the box in feature r, W = the weight of a row (1, unless the release says otherwise). Both are
kept apart by stratum. An unbiased figure for any h(bin) k(class) in the box is phi_h^T L phi_k, and sum W^2 g^2 phi_h^2 phi_k^2 is the
variance of a sum over rows that are drawn from a population and then perturbed: both kinds of chance are in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.engines.engine import TABLE
from scumble.learn.axis import Axis, Codes
from scumble.learn.training_rows import TrainingRows

Tensor = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(eq=False)
class Box:
    """A set of bins for each feature that is restricted, by its place among the features."""

    sets: dict[int, Mask] = field(default_factory=dict)

    def within(self, place: int, members: Mask) -> "Box":
        """The part of the box that has the feature in the given bins."""
        return Box({**self.sets, place: members})


@dataclass(frozen=True)
class NodeSums:
    """L and Q of one box and one feature: stratum x published bin x published class."""

    first: Tensor
    second: Tensor


def sums(source: TrainingRows, axes: Sequence[Axis], target: Axis, boxes: Sequence[Box], place: int) -> list[NodeSums]:
    """L and Q of one feature for all boxes."""
    used = sorted({i for box in boxes for i in box.sets} - {place})
    cut = {i: axes[i].cells([box.sets[i] for box in boxes if i in box.sets]) for i in used}
    lines = source.engine.run(_statement(source, axes, target, cut, place))
    codes = {i: axes[i].cell_places(_numbers(lines, f"c{i}")) for i in used}
    strata = _numbers(lines, "z").astype(np.intp) if "z" in lines.column_names else np.zeros(len(lines), dtype=np.intp)
    shape = (len(source.published.strata), axes[place].shown, target.shown)
    bins, classes = (
        axis.decode(lines.column(name).combine_chunks()) for axis, name in ((axes[place], "b"), (target, "t"))
    )
    where = np.ravel_multi_index((strata, bins, classes), shape)
    n, n2 = _numbers(lines, "n"), _numbers(lines, "n2" if "n2" in lines.column_names else "n")

    def gathered(box: Box) -> NodeSums:
        g = np.ones(len(lines))
        for i in used:
            if i in box.sets:
                g *= _weights(axes[i], box.sets[i], *cut[i])[strata, codes[i]]
        first, second = (np.bincount(where, weights=w, minlength=int(np.prod(shape))) for w in (n * g, n2 * g * g))
        return NodeSums(first.astype(np.float64).reshape(shape), second.astype(np.float64).reshape(shape))

    return [gathered(box) for box in boxes]


def _weights(axis: Axis, members: Mask, cells: Codes, count: int) -> Tensor:
    """phi of the set, by stratum and published cell."""
    inside = np.zeros(count)
    inside[cells] = members
    return np.stack([channel.collapse(cells, count).weights(inside) for channel in axis.channels])


def _statement(
    source: TrainingRows, axes: Sequence[Axis], target: Axis, cut: dict[int, tuple[Codes, int]], place: int
) -> exp.Select:
    published = source.published
    keys = [(f"c{i}", axes[i].cell_expression(cells)) for i, (cells, _) in cut.items()]
    keys += [("b", axes[place].expression), ("t", target.expression)]
    if published.stratum is not None:
        keys.append(("z", exp.column(published.stratum, quoted=True)))
    totals: list[tuple[str, exp.Expression]] = [("n", exp.Count(this=exp.Star()))]
    if published.weight is not None:
        weight = exp.column(published.weight, quoted=True)
        square = exp.Mul(this=weight.copy(), expression=weight.copy())
        totals = [("n", exp.Sum(this=weight)), ("n2", exp.Sum(this=square))]
    select = exp.select(*[e.copy().as_(name) for name, e in [*keys, *totals]]).from_(TABLE)
    return select.group_by(*[exp.Literal.number(i + 1) for i in range(len(keys))])


def _numbers(lines: pa.Table, name: str) -> Tensor:
    return np.asarray(lines.column(name).cast(pa.float64()).to_numpy(), dtype=np.float64)
