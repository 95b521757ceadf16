"""The boxes of a release by perturbed generalization: which people of the raw table lie in each, and what the value of a box tells of them.

A box is a range of each number or date and a set of each text, so that whoever has values in all of them lies in it; boxes do not overlap. Every box publishes one value: that of one of
its n people, drawn at random, after its coins. For a person of the box (p the retention, r the replacement, pi the shares of the table)

    Pr[y | x] = (P(y|x) + S) / n        S = sum of P(y|.) over the n - 1 others
    others unknown:  S = (n - 1) (p pi_y + (1 - p) r_y)        others known:  S = p (how many of them have y) + (n - 1) (1 - p) r_y

and the guess is y, or the most frequent other value, whichever has the larger pi_x Pr[y | x].
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.evidence.column_law import ColumnLaw, Numbers
from scumble.auditing.evidence.parts import Judged, Summands, worst
from scumble.auditing.evidence.publication import Codes, Publication, together

AT_ONCE = 1 << 22
"""Boxes by values that are held at a time."""


def box_of(publication: Publication, raw: pa.Table) -> Codes:
    """The box of each person, -1 for whoever lies in none."""
    assert publication.manifest is not None
    sides: list[Side] = []
    for record in publication.manifest.columns:
        if record.role == "low":
            high = next(c.name for c in publication.manifest.columns if c.role == "high" and c.of == record.of)
            sides.append(
                _range(publication.table.column(record.name), publication.table.column(high), raw.column(record.of))
            )
        elif record.role == "set":
            sides.append(_set(publication.table.column(record.name), raw.column(record.name)))
    boxes = np.full(raw.num_rows, -1, dtype=np.int64)
    fewest = np.argmin([side.candidates for side in sides], axis=0)
    for box, place in enumerate(fewest.tolist()):
        people = sides[place].people(box)
        for side in sides[:place] + sides[place + 1 :]:
            people = people[side.holds(box, people)]
        boxes[people] = box
    return boxes


@dataclass(frozen=True, eq=False)
class Side:
    """One public column: the values of the people as codes, and the codes that each box has, in spans from one up to before another."""

    value: Codes
    order: Codes
    start: Codes
    """Where the people of each code begin in the order of the codes."""
    low: Codes
    high: Codes
    first: Codes
    """Where the spans of each box begin."""

    @property
    def candidates(self) -> Numbers:
        """How many people fit each box by this column alone."""
        total = np.concatenate([[0], np.cumsum(self.start[self.high] - self.start[self.low])])
        return np.asarray(total[self.first[1:]] - total[self.first[:-1]], dtype=np.float64)

    def _spans(self, box: int) -> list[tuple[int, int]]:
        spans = slice(self.first[box], self.first[box + 1])
        return list(zip(self.low[spans].tolist(), self.high[spans].tolist(), strict=True))

    def people(self, box: int) -> Codes:
        """Those who fit a box by this column."""
        return np.concatenate([self.order[self.start[a] : self.start[b]] for a, b in self._spans(box)])

    def holds(self, box: int, people: Codes) -> npt.NDArray[np.bool_]:
        """Which of some people fit a box by this column."""
        value = self.value[people]
        return np.asarray(np.logical_or.reduce([(value >= a) & (value < b) for a, b in self._spans(box)]))


def _side(value: Codes, count: int, low: Codes, high: Codes, first: Codes) -> Side:
    order = np.argsort(value, kind="stable")
    return Side(value, order, np.searchsorted(value[order], np.arange(count + 1)), low, high, first)


def _range(low: pa.ChunkedArray, high: pa.ChunkedArray, raw: pa.ChunkedArray) -> Side:
    (a, b, value), count = together(["x"], *(pa.table({"x": column}) for column in (low, high, raw)))
    return _side(value, count, a, b + 1, np.arange(len(a) + 1))


def _set(published: pa.ChunkedArray, raw: pa.ChunkedArray) -> Side:
    whole = published.combine_chunks()
    (member, value), count = together(["x"], pa.table({"x": whole.flatten()}), pa.table({"x": raw}))
    ends = np.cumsum(whole.value_lengths().to_numpy(zero_copy_only=False))
    return _side(value, count, member, member + 1, np.concatenate([[0], ends]).astype(np.int64))


def guessed(box: Codes, truth: Codes, seen: Codes, law: ColumnLaw, error: float, *, known: bool) -> Judged:
    """How many people of the boxes are guessed right, and how many the channel lets be; with the values of all others known, or not."""
    inside, size = box >= 0, len(law.prior)
    hits, expected, variance, people = (np.zeros(len(seen)) for _ in range(4))
    step = max(1, AT_ONCE // size)
    for start in range(0, len(seen), step):
        here = inside & (box >= start) & (box < start + step)
        rows = slice(start, start + step)
        count = len(seen[rows])
        cells = (box[here] - start) * size + truth[here]
        counts = np.bincount(cells, minlength=count * size).reshape(count, size)
        right, chance = _right(counts, law, known)
        hits[rows] = right[np.arange(count), seen[rows]]
        expected[rows] = (chance * right).sum(axis=1)
        variance[rows] = np.maximum((chance * right**2).sum(axis=1) - expected[rows] ** 2, 0)
        people[rows] = counts.sum(axis=1)
    return worst(Summands(hits, expected, variance, people, float(people.max(initial=1))).whole(), [], error)


def _right(counts: Codes, law: ColumnLaw, known: bool) -> tuple[Numbers, Numbers]:
    """For each box and each value that it might publish: how many of its people would be guessed right, and the chance that it does."""
    (p,), (r,), prior = law.keep, law.draw, law.prior
    n = counts.sum(axis=1, keepdims=True)
    redrawn = ((1 - p) * counts).sum(axis=1, keepdims=True) * r
    chance = (p * counts + redrawn) / np.maximum(n, 1)
    falling = np.argsort(-prior, kind="stable")
    top = np.where(np.arange(len(prior)) == falling[0], falling[min(1, len(prior) - 1)], falling[0])
    false = (1 - p) * r  # how often a value becomes y by chance, for the one retention that there is

    def chosen(others: Numbers) -> npt.NDArray[np.bool_]:
        return np.asarray(prior * (p + false + others) >= prior[top] * (false + others))

    if known:
        with_own, without = (p * np.maximum(counts - own, 0) + (n - 1) * false for own in (1, 0))
        right = counts * chosen(with_own) + counts[:, top] * ~chosen(without)
    else:
        face = chosen((n - 1) * (p * prior + false))
        right = np.where(face, counts, counts[:, top])
    return right.astype(np.float64), np.where(n > 0, chance, r)
