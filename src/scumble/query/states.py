"""What a count or a sum was drawn from: rows by published cell, and what rows of each true cell become.

Columns of conditions have the cells of the question. A column that is grouped by has a few for each line: its own value, and all others, together where one
retention holds and by their retentions where there are several. The transition of a row is the product over its columns. Rows of several strata go through
transitions of their own, side by side: to which stratum a row belongs is known.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from scumble.core.channel import replacement_of
from scumble.core.channel_base import BaseChannel, Vector
from scumble.query.few import MANY
from scumble.query.law import FEWER, Flags, Tables, Tensor, Transition
from scumble.query.moments import Even, Moments, Ratio, quotient
from scumble.query.stratum import Block, Stratum, first_of

if TYPE_CHECKING:
    from scumble.query.estimated import Estimated

MOST_CELLS = 64
"""Cells of a question up to which its law is computed."""
MOST_STEPS = 1 << 24
"""Lines of the answer times cells squared up to which it is: some seconds of work."""
MOST_KINDS = 256
"""Groups up to which it is, where each has a transition of its own."""
EVEN = 8.0
"""The variance of a count below which an average over it is not judged by the rows that are seen alone."""
SEEN = 30
"""How many rows, published as matching, tell enough of the numbers of those that match."""
LEAST = 6.0
"""The least variance from which on the score interval serves."""


def known(parts: "Sequence[Estimated]") -> bool:
    """Whether rows go from few cells to few cells, so that the law of an estimate is known."""
    first = parts[0].part
    if first.question.exact or any(block.channel.size < 2 for one in parts for block in one.part.listed):
        return False
    sizes = [_sizes(one.part, _needed(parts)) for one in parts]
    states, behind = (sum(size[i] for size in sizes) for i in (0, 1))
    lines = len(first.cells.groups) * first.cells.width
    listed = [block.channel for one in parts for block in one.part.listed]
    return (
        max(states, behind) <= MOST_CELLS
        and states * behind * lines <= MOST_STEPS
        and all(len(block.places) == 1 for one in parts for block in one.part.listed)
        and all(_neighbours(block.places) for one in parts for block in one.part.blocks if len(block.places) > 1)
        and not (any(c.recoded and c.against_others is None for c in listed))
        and (_alike(listed) or first.cells.width <= MOST_KINDS)
    )


def _neighbours(places: Sequence[int]) -> bool:
    return list(places) == list(range(places[0], places[0] + len(places)))


def _needed(parts: "Sequence[Estimated]") -> frozenset[int]:
    """The other columns and public conditions that a sum depends on, in some stratum."""
    return frozenset[int]().union(*(one.needed for one in parts))


def _sizes(part: Stratum, needed: frozenset[int]) -> tuple[int, int]:
    """Published and true cells of a line."""
    shapes = [[size for i, size in enumerate(shape) if i in needed] for shape in (part.cells.rest, part.true_cells)]
    states, behind = (int(np.prod(shape, dtype=np.int64)) for shape in shapes)
    own = int(np.prod([1 + block.alone.others.count for block in part.listed], dtype=np.int64))
    return states * own, behind * own


def most(part: Stratum) -> float:
    """The variance from which on the score interval serves: less where replacements follow the column, whose law, taken for known, is up to 1/p too wide."""
    if not part.question.published.whole:
        return MANY
    axes = [*part.question.grouped, *part.question.others]
    return max(LEAST, MANY * min(float(replacement_of(part.channels[axis.name]).retain) for axis in axes) ** 2)


def of_count(parts: "Sequence[Estimated]") -> Tables:
    """What counts were drawn from; of rows with weights, which count W each, as rows that count c."""
    first = parts[0]
    if first.part.question.published.weighted:
        return of_sum(parts)
    published = _by_state(parts, 0)
    one = np.ones(len(published))
    return Tables(published, published, one, one, True, _transitions(parts), most(first.part))


def of_sum(parts: "Sequence[Estimated]") -> Tables:
    """What sums of a public number were drawn from, as rows that count c each."""
    first, second, third = (
        np.sum([one.part.over(one.orders[order]) for one in parts], axis=0).reshape(-1) for order in range(3)
    )
    unit = quotient(third, second)
    pull = quotient(unit * first, second)
    scale = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit != 0)[:, None]
    squares, sums = _by_state(parts, 1), _by_state(parts, 0)
    return Tables(squares * scale**2, sums * scale, unit, pull, False, _transitions(parts), FEWER)


def of_average(parts: "Sequence[Estimated]", counts: "Sequence[Estimated]", ratio: Ratio) -> Even:
    """The variances of an average of a public number if rows match whatever it is, and where few rows decide.

    A count of which nothing is seen may still be half a row's weight, squared, away.
    """
    ranges, matching, few = _matching(counts)
    shape = ratio.numerator.value.shape
    ones, first, second = (
        np.sum([one.part.over(one.orders[order]) for one in some], axis=0).reshape(-1)
        for some, order in ((counts, 0), (parts, 0), (parts, 1))
    )
    variance = np.maximum(ratio.denominator.variance.reshape(-1), 0) + ranges**2 / 2
    error = quotient(variance, ones)
    top = Moments(ratio.numerator.value, (error * second).reshape(shape))
    bottom = Moments(ratio.denominator.value, variance.reshape(shape))
    return Even(Ratio(top, bottom, (error * first).reshape(shape)), few & (matching < SEEN))


def carrying(parts: "Sequence[Estimated]", counts: "Sequence[Estimated]") -> Tensor:
    """The published rows that carry a sum, matching ones times (sum t)^2 / (n sum t^2), where few rows decide; elsewhere they are enough."""
    ones, first, second = (
        np.sum([one.part.over(one.orders[order]) for one in some], axis=0).reshape(-1)
        for some, order in ((counts, 0), (parts, 0), (parts, 1))
    )
    _, matching, few = _matching(counts)
    return np.where(few, matching * quotient(first**2, ones * second), np.inf)


def _matching(counts: "Sequence[Estimated]") -> tuple[Tensor, Tensor, Flags]:
    """For each line how much one row can change the count of those with a number, how many are published as matching, and whether few decide."""
    tables = replace(of_count(counts), most=EVEN)
    matching = (tables.published * tables.counted).sum(axis=1)
    return tables.ranges, matching, tables.few(matching)


def _by_state(parts: "Sequence[Estimated]", order: int) -> Tensor:
    """Sums by cell, a row for each line: its own values of the grouped columns, and all others; strata side by side."""
    needed = _needed(parts)
    return np.concatenate([_of_stratum(one.part, one.orders[order], needed) for one in parts], axis=1)


def _of_stratum(part: Stratum, sums: Vector, needed: frozenset[int]) -> Tensor:
    table = part.cells.dense(sums)
    table = table.sum(axis=tuple(1 + part.ahead + i for i in range(len(part.cells.rest)) if i not in needed))
    for block in part.listed:
        table = np.stack(_own_and_others(block, table), axis=-1)
    lines, states = table.shape[: 1 + part.ahead], table.shape[1 + part.ahead :]
    return table.reshape(prod(lines), prod(states))


def _own_and_others(block: Block, table: Tensor) -> list[Tensor]:
    """Rows that look like each value of a grouped column, and those that do not, by the retentions of what they look like."""
    (place,) = block.places
    own = block.along(table, block.channel.matches, 1)
    classes = block.alone.others
    if classes.count == 1:
        return [own, table.sum(axis=place + 1, keepdims=True) - own]
    parts = [own]
    for kind in range(classes.count):
        members = classes.of == kind
        shape = [1] * own.ndim
        shape[place + 1] = -1
        all_of_kind = np.where(members.reshape(shape), table, 0).sum(axis=place + 1, keepdims=True)
        parts.append(all_of_kind - own * members.reshape(shape))
    return parts


def _transitions(parts: "Sequence[Estimated]") -> list[tuple[Flags, Transition]]:
    """Those that differ, by what is left of the table and, where values are not alike, by the values of the grouped columns."""
    first = parts[0].part
    groups, shape = len(first.cells.groups), first.cells.lines
    listed, needed = [block.channel for one in parts for block in one.part.listed], _needed(parts)
    kinds = []
    for members, tables in first.classes(*(one.chosen for one in parts)):
        for some in [members] if _alike(listed) else _by_channels(parts, members):
            values = np.unravel_index(int(np.argmax(some)), shape) if shape else ()
            of_each = [
                _transition(one.part, f, [int(v) for v in values], needed) for one, f in zip(parts, tables, strict=True)
            ]
            kinds.append((np.tile(some.reshape(-1), groups), _beside(of_each)))
    return kinds


def _transition(part: Stratum, f: Tensor, values: Sequence[int], needed: frozenset[int]) -> Transition:
    """What rows of a stratum become, for the lines of these grouped values."""
    truth = np.broadcast_to(f, part.true_cells).astype(np.float64)
    rest = _product([np.eye(1), *_matrices(part, needed)])
    own = [block.alone.against(values[block.places[0]]) for block in part.listed]
    own_value = [np.eye(channel.size)[0] for channel in own]
    tables = [first_of(table, needed).reshape(-1) for table in (truth, part.weights(truth), part.looks(truth))]
    counted, looks = [tables[0], *own_value], [tables[2], *own_value]
    weights = [tables[1], *(channel.weights(value) for channel, value in zip(own, own_value, strict=True))]
    through = _product([rest, *(channel.matrix() for channel in own)])
    return Transition(through, _product(weights), _product(counted) > 0, _product(looks) > 0)


def _matrices(part: Stratum, needed: frozenset[int]) -> list[Tensor]:
    """The transitions of the other columns, one after the other as their cells are; columns that were perturbed as one stand together."""
    blocks = sorted((b for b in part.blocks if set(b.places) <= needed), key=lambda block: block.places)
    known = [place for place in needed if place >= len(part.question.others)]
    return [*(block.channel.matrix() for block in blocks), *(np.eye(3) for _ in known)]


def _beside(transitions: Sequence[Transition]) -> Transition:
    """Transitions of rows that are known to belong to one of them each."""
    if len(transitions) == 1:
        return transitions[0]
    shapes = [t.through.shape for t in transitions]
    through, at = np.zeros([sum(shape[i] for shape in shapes) for i in (0, 1)]), [0, 0]
    for t in transitions:
        rows, columns = t.through.shape
        through[at[0] : at[0] + rows, at[1] : at[1] + columns] = t.through
        at = [at[0] + rows, at[1] + columns]
    weights, counted, looks = (
        np.concatenate([getattr(t, name) for t in transitions]) for name in ("weights", "counted", "looks")
    )
    seen, true = (np.repeat(np.arange(len(shapes)), [shape[i] for shape in shapes]) for i in (0, 1))
    return Transition(through, weights, counted, looks, seen, true)


def _alike(listed: Sequence[BaseChannel]) -> bool:
    """Whether all values of the grouped columns are treated alike."""
    return all(channel.alike for channel in listed)


def _by_channels(parts: "Sequence[Estimated]", members: Flags) -> list[Flags]:
    """Some lines, those together whose grouped values go through the same channels in every stratum."""
    kinds: dict[tuple[bytes, ...], list[int]] = {}
    for place in np.flatnonzero(members.reshape(-1)):
        values = np.unravel_index(int(place), members.shape)
        own = [b.alone.against(int(values[b.places[0]])) for one in parts for b in one.part.listed]
        key = tuple(numbers.round(12).tobytes() for c in own for numbers in (c.retention, c.replace))
        kinds.setdefault(key, []).append(int(place))
    return [np.isin(np.arange(members.size), places).reshape(members.shape) for places in kinds.values()]


def _product(parts: Sequence[Tensor]) -> Tensor:
    """The Kronecker product of one or more, vectors or matrices."""
    product = np.asarray(parts[0], dtype=np.float64)
    for part in parts[1:]:
        inner, outer = (slice(None), None) * part.ndim, (None, slice(None)) * part.ndim
        shape = [a * b for a, b in zip(product.shape, part.shape, strict=True)]
        product = (product[inner] * part[outer]).reshape(shape)
    return product
