"""What attackers come to believe of people's sensitive values, by their public values and by the published rows that have these.

A person's own row is one of the s published rows with the same public values, of n people who have them. Whoever believes Pr[x | z] by the public values z, and sees the rows, believes

    b(x) = (1 - s/n) Pr[x | z] + 1/n sum over the s rows of  Pr[x | z] L(x) / sum_x' Pr[x' | z] L(x')

with L(x) the likelihood of what the row shows: the channel's, or of buckets how often a value is in the bucket, against its share of the table. Pr[x | z] is learnt (`learner`) from the other half of the people: by who has the release
alone, from their published rows; by who knows the true values of all others, from these. Both halves are told by the other one, so that nobody's own value has a part in what is believed of him beforehand.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.evidence.buckets import AnatomyBuckets
from scumble.auditing.evidence.case import Case, Crowds
from scumble.auditing.evidence.column_law import Numbers, column_law
from scumble.auditing.evidence.learner import Axis, LearntModel, axes_of, fit
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.evidence.rows_alike import KnownRows, RowsAlike, ShownRows
from scumble.auditing.evidence.value_counts import ValueCounts
from scumble.core.entropy import Entropy
from scumble.core.once import once

LEVELS = (0.5, 0.8, 0.95)
"""AttackerBeliefs above which people are counted."""
CELLS = 2_000_000
"""Rows by values that are held at a time."""
MOST_VALUES = 5000
"""Values of a domain beyond which nothing is learnt."""


@dataclass(frozen=True, eq=False)
class Believed:
    """Of each group of people alike: the value that is believed most and how strongly, how many people it has, and how many of these have that value (expected, without the raw table)."""

    guess: Codes
    belief: Numbers
    people: Numbers
    right: Numbers

    @property
    def accuracy(self) -> float:
        """The share of people of whom the guess is right."""
        return float(self.right.sum() / max(1.0, self.people.sum()))

    def above(self, level: float, prior: Numbers, alone: bool = False) -> tuple[int, float]:
        """How many people are believed above a level, of a value that is not believed so without any release; and of how many of them rightly, as a share."""
        chosen = (self.belief > level) & (prior[self.guess] <= level)
        chosen &= (self.people == 1) if alone else True
        people = float(self.people[chosen].sum())
        return round(people), float(self.right[chosen].sum()) / max(1.0, people)

    def to_dict(self, prior: Numbers) -> dict[str, float | dict[str, float]]:
        """For programs."""
        counted = {f"{level:g}": self.above(level, prior) for level in LEVELS}
        return {
            "accuracy": self.accuracy,
            "believed": float(self.belief @ self.people / max(1.0, self.people.sum())),
            "people_above": {level: float(people) for level, (people, _) in counted.items()},
            "right_above": {level: right for level, (_, right) in counted.items()},
        }


class AttackerBeliefs:
    """The attackers on one column."""

    def __init__(self, case: Case, name: str, without: str | None = None) -> None:
        self._case, self._name = case, name
        self._quasi = [q for q in case.publication.quasi if q != without and q not in case.altered]
        self.truth = _truth(case, name)
        self._rows = _Rows.of(case, name, self.truth)
        self.prior = self._rows.prior
        self._kept: dict[bool, tuple[list[Axis], list[Axis]]] = {}

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.prior)

    @once
    def _cap(self) -> int:
        return max(500, CELLS // self.size)

    @once
    def groups(self) -> Crowds:
        """People alike in their public values, as far as these are looked at."""
        case = self._case
        return case.groups if len(self._quasi) == len(case.publication.quasi) else case.groups_by(self._quasi)

    @once
    def half(self) -> npt.NDArray[np.bool_]:
        """The half of each group, by lot."""
        return np.asarray(Entropy.seeded(0).stream("halves").integers(self.groups.count, 8) % 2 == 0)

    @once
    def looked_at(self) -> Codes:
        """Groups that are looked at: all, or as many, by lot, as can be held."""
        there = np.flatnonzero(self.groups.rows > 0)
        if len(there) <= self._cap:
            return there
        lot = Entropy.seeded(1).stream("groups").integers(self.groups.count, 32)
        return np.sort(there[np.argsort(lot[there], kind="stable")[: self._cap]])

    @once
    def _alone(self) -> tuple[LearntModel, LearntModel]:
        return self._models(self._case.publication.table, self.groups.published)

    def by_release(self) -> tuple[Believed, Believed]:
        """Who has the release alone: by public values, and with the rows."""
        return self._believed(*self._alone, self.groups.published)

    @once
    def _others(self) -> tuple[LearntModel, LearntModel]:
        return self._models(self._case.raw, self.groups.raw, self.truth)

    def by_others(self) -> tuple[Believed, Believed]:
        """Who knows the true values of all others: the same."""
        return self._believed(*self._others, self.groups.raw)

    def before(self, people: Codes) -> Numbers:
        """What he believes of people of the raw table before he sees a row: no coin has a part in it."""
        return self._by_other_half(*self._others, people, self.half[self.groups.raw[people]])

    def telling(self, raw: bool) -> list[str]:
        """The public columns by how far they move what is believed, the farthest first.

        raw   by who knows the true values of all others, and not by who has the release alone
        """
        moved = dict.fromkeys(self._quasi, 0.0)
        for model in self._others if raw else self._alone:
            for axis, effect in zip(model.axes, model.effects, strict=True):
                rows = np.bincount(axis.codes, minlength=axis.size)
                for name in axis.names:
                    moved[name] += float(rows @ effect.var(axis=1))
        return sorted(moved, key=moved.__getitem__, reverse=True)

    def by_shares(self) -> Believed:
        """Who knows how common each value is, and sees the rows."""
        plain = np.tile(self.prior, (len(self.looked_at), 1))
        return self._scored(self._seen(plain))

    def _models(
        self, table: pa.Table | None, group: Codes, truth: Codes | None = None
    ) -> tuple[LearntModel, LearntModel]:
        """One of each half of the people, neither too sure nor too shy of the other half."""
        assert table is not None
        axes, cap = self._axes(table, truth is not None), self._cap
        halves = [np.flatnonzero(self.half[group] == half) for half in (True, False)]
        lots = Entropy.seeded(2).stream("rows").integers(len(group), 32)
        rows = [np.sort(half[np.argsort(lots[half], kind="stable")[:cap]]) for half in halves]
        first, second = (self._fitted(axes, some, group, truth) for some in rows)
        first.calibrate(self._alike(rows[1], group, truth))
        second.calibrate(self._alike(rows[0], group, truth))
        return first, second

    def _fitted(
        self, axes: tuple[list[Axis], list[Axis]], rows: npt.NDArray[np.intp], group: Codes, truth: Codes | None
    ) -> LearntModel:
        """A model of some rows; a fifth of them tells when to stop."""
        kept = np.arange(len(rows)) % 5 > 0
        return fit(axes, self._alike(rows[kept], group, truth), self._alike(rows[~kept], group, truth), self.prior)

    def _alike(self, rows: npt.NDArray[np.intp], group: Codes, truth: Codes | None) -> RowsAlike:
        if truth is not None:
            return KnownRows.of(rows, group, truth, self.size)
        return ShownRows.of(rows, group, self._rows.kind, self._rows.kinds).told_by(self._rows.table)

    def _axes(self, table: pa.Table, raw: bool) -> tuple[list[Axis], list[Axis]]:
        if raw not in self._kept:
            self._kept[raw] = axes_of(table, self._quasi, rows=self._cap)
        return self._kept[raw]

    def _believed(self, first: LearntModel, second: LearntModel, group: Codes) -> tuple[Believed, Believed]:
        """By public values alone, and with the rows; each half by the model of the other."""
        one = np.zeros(self.groups.count, dtype=np.int64)
        one[group] = np.arange(len(group))
        plain = self._by_other_half(first, second, one[self.looked_at], self.half[self.looked_at])
        return self._scored(plain), self._scored(self._seen(plain))

    def _by_other_half(
        self, first: LearntModel, second: LearntModel, at: Codes, half: npt.NDArray[np.bool_]
    ) -> Numbers:
        plain = np.empty((len(at), self.size))
        for model, here in ((second, half), (first, ~half)):
            plain[here] = model.beliefs(at[here])
        return plain

    def _seen(self, plain: Numbers) -> Numbers:
        """AttackerBeliefs once the rows of each group are seen."""
        number = np.full(self.groups.count, -1)
        number[self.looked_at] = np.arange(len(self.looked_at))
        rows = np.flatnonzero(number[self.groups.published] >= 0)
        group, kind = number[self.groups.published[rows]], self._rows.kind[rows]
        cell, first, place = np.unique(group * self._rows.kinds + kind, return_index=True, return_inverse=True)
        weight = np.bincount(place, weights=self._rows.weight[rows])
        people = self.people[self.looked_at]
        published = np.bincount(group, weights=self._rows.weight[rows], minlength=len(plain))
        total = np.maximum(people, published)
        out = plain * (1 - published / np.maximum(total, 1))[:, np.newaxis]
        step = max(1, CELLS // self.size)
        for start in range(0, len(cell), step):
            part = slice(start, start + step)
            owner = cell[part] // self._rows.kinds
            after = plain[owner] * self._rows.likelihood(rows[first[part]])
            after *= (weight[part] / np.maximum(after.sum(axis=1), 1e-300) / total[owner])[:, np.newaxis]
            np.add.at(out, owner, after)
        return out

    @once
    def people(self) -> Numbers:
        """How many people each group has: those of the raw table, or the rows that stand for them."""
        groups = self.groups
        if self.truth is None:
            return np.asarray(np.bincount(groups.published, weights=self._rows.weight, minlength=groups.count), float)
        return groups.people.astype(np.float64)

    def _scored(self, beliefs: Numbers) -> Believed:
        guess, groups = beliefs.argmax(axis=1), self.looked_at
        belief = beliefs[np.arange(len(guess)), guess]
        people = self.people[groups]
        right = belief * people
        if self.truth is not None:
            right = ValueCounts(self.groups.raw, self.truth, self.size).at(groups, guess).astype(np.float64)
        return Believed(guess, belief, people, right)


def _truth(case: Case, name: str) -> Codes | None:
    if case.raw is None:
        return None
    if case.publication.form == "buckets":
        return AnatomyBuckets.of(case.publication).codes(case.raw.column(name))
    return case.truth(name)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Published rows by the kind of what they show: rows of one kind have one likelihood."""

    kind: Codes
    kinds: int
    weight: Numbers
    table: Numbers
    """Of each kind the likelihood of each value."""
    prior: Numbers

    def likelihood(self, rows: npt.NDArray[np.intp]) -> Numbers:
        return self.table[self.kind[rows]]

    @classmethod
    def of(cls, case: Case, name: str, truth: Codes | None) -> "_Rows":
        publication = case.publication
        if publication.form == "buckets":
            return cls._of_buckets(AnatomyBuckets.of(publication))
        law = column_law(publication, name, truth)
        codes, stratum = publication.codes(name), publication.stratum
        width = int(codes.max(initial=0)) + 1
        shown, kind = np.unique(stratum * width + codes, return_inverse=True)
        values = np.arange(len(law.prior))
        table = np.stack(
            [
                law.likelihood(np.full_like(values, k // width), np.full_like(values, k % width), values)
                for k in shown.tolist()
            ]
        )
        return cls(kind, len(shown), publication.weights, table, np.maximum(law.prior, 1e-12))

    @classmethod
    def _of_buckets(cls, buckets: AnatomyBuckets) -> "_Rows":
        total = np.maximum(buckets.counts.sum(axis=0), 1e-9)
        prior = np.append(total / total.sum(), 1e-12)
        patterns, kind = np.unique(buckets.counts, axis=0, return_inverse=True)
        share = patterns / np.maximum(patterns.sum(axis=1, keepdims=True), 1)
        table = np.hstack([share / prior[:-1], np.zeros((len(share), 1))])
        rows = len(buckets.of_row)
        return cls(kind.reshape(-1)[buckets.of_row], len(patterns), np.ones(rows), table, prior)


def all_names(case: Case) -> Iterator[str]:
    """The sensitive columns of which something can be believed."""
    publication = case.publication
    if publication.form == "buckets":
        yield AnatomyBuckets.of(publication).name
    elif publication.perturbed:
        assert publication.manifest is not None
        yield from (n for n in publication.sensitive if publication.manifest.domains[n].size <= MOST_VALUES)
