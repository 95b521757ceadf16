"""Downcoding: a label that was made no coarser than it had to be tells more than it says (Cohen, "Attacks on Deidentification's Defenses", USENIX Security 2022).

Where an algorithm generalises as little as its k allows, whoever knows that can say of a class, beyond its labels:

    23-31      somebody in it is 23 and somebody is 31, else the range would be narrower
    {a, b}     somebody has a and somebody has b
    902**      not all begin with the same four digits, else one more would be shown

With the raw table it is counted how often such statements are true. The baseline is how often they are where labels were fixed beforehand: of the n people who fit a class none has a value
whose share is f, among all who fit the label, with probability (1 - f)^n. Shares that differ from class to class make that larger, so that the baseline is rather too high. For tables without a manifest;
classes whose labels are single values, or fit fewer than two people, say nothing more.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.auditing.attacks.generalized import BETWEEN, coded, members, number_of, recoded
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.parts import HitCount, worst
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.finding import Finding
from scumble.auditing.level import ERROR

NAME = "downcoding"

MOST_CLASSES = 400
"""Classes that are looked at, at most, evenly over the table."""

MOST_READ = 2_000_000
"""Values that are held against a label, at most, over all classes; where a column has very many, fewer classes are looked at."""

Flags = npt.NDArray[np.bool_]


def attack(case: Case) -> Finding | None:
    """How many statements about classes are true."""
    publication, raw = case.publication, case.raw
    if publication.manifest is not None or raw is None or not raw.num_rows:
        return None
    names = [name for name in publication.quasi if recoded(publication.table.column(name), raw.column(name))]
    if not names:
        return None
    (number,), count = together(publication.quasi, publication.table)
    one = np.zeros(count, dtype=np.int64)
    one[number] = np.arange(len(number))
    different = max(len(raw.column(name).unique()) for name in publication.quasi)
    looked_at = max(1, min(MOST_CLASSES, MOST_READ // different))
    classes = one[np.unique(np.linspace(0, count - 1, looked_at).astype(np.int64))]
    columns = {name: RawColumn(publication.table.column(name), raw.column(name), classes) for name in publication.quasi}
    chances: list[float] = []
    hits = 0
    for place in range(len(classes)):
        people = np.logical_and.reduce([column.fitting(place) for column in columns.values()])
        if people.sum() > 1:
            for name in names:
                for true, chance in columns[name].stated(place, people):
                    hits += true
                    chances.append(chance)
    if not chances:
        return None
    measured = worst(HitCount.of_chances(hits, np.array(chances)), [], ERROR)
    sentence = (
        f"{measured.success:.1%} of {measured.people:,} statements that hold where labels are as narrow as can be (both ends of a range are somebody's) are true of {len(classes):,} classes; "
        f"{measured.expected:.1%} would be by chance"
    )
    return Finding(NAME, measured.success, measured.expected, *measured.ends, sentence, "singling out")


class RawColumn:
    """A column of the raw table by its different values, and which of them the label of each class stands for."""

    def __init__(self, published: Any, raw: Any, classes: Codes) -> None:
        self._values, self._value = coded(raw)
        labels, label = coded(published.take(classes))
        self._labels, self._label = [str(label).strip() for label in labels], label
        self._members = members(self._values, labels)
        self._times = np.bincount(self._value, minlength=len(self._values))
        self._numbers = np.array([np.nan if (n := number_of(v)) is None else n for v in self._values])
        self._texts = [str(value) for value in self._values]

    def fitting(self, place: int) -> Flags:
        """The people who fit the label of a class."""
        return np.asarray(self._members[self._value, self._label[place]])

    def stated(self, place: int, people: Flags) -> Iterator[tuple[bool, float]]:
        """Statements about a class, whether each is true, and how likely it is by chance."""
        label = self._label[place]
        inside = self._members[:, label]
        if inside.sum() < 2:
            return
        share = np.where(inside, self._times, 0) / self._times[inside].sum()
        there, n = np.bincount(self._value[people], minlength=len(share)) > 0, int(people.sum())
        text = self._labels[label]
        if (ends := BETWEEN.fullmatch(text)) is not None:
            closed = [float(end) for end, out in ((ends[2], ends[1] == "("), (ends[3], ends[4] == ")")) if not out]
            for end in closed:
                yield _somebody(self._numbers == end, share, there, n)
        elif text.endswith("*") and text.strip("*"):
            yield self._further(len(text.rstrip("*")), share, there, n)
        elif text.strip("*"):
            for value in np.flatnonzero(inside).tolist():
                yield _somebody(np.arange(len(share)) == value, share, there, n)

    def _further(self, length: int, share: npt.NDArray[np.float64], there: Flags, n: int) -> tuple[bool, float]:
        """That not all have the same next letter."""
        letters, letter = np.unique([text[length : length + 1] for text in self._texts], return_inverse=True)
        weight = np.bincount(letter, weights=share, minlength=len(letters))
        return len(np.unique(letter[there])) > 1, 1 - float((weight**n).sum())


def _somebody(which: Flags, share: npt.NDArray[np.float64], there: Flags, n: int) -> tuple[bool, float]:
    return bool((which & there).any()), 1 - float(1 - share[which].sum()) ** n
