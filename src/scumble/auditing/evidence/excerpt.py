"""An excerpt of large tables: all rows of some public values, which are chosen by lot.

Whether a row is in it is decided by a digest of its public values and of a salt, so that all rows and all people who are alike in these come together, in every table in which they are: who is alone in the excerpt is alone in the table, and what is
known of groups and coins holds in it as in the whole. No coin of a release has a part in the choice. The salt
is drawn afresh by each audit: who publishes cannot know beforehand which rows will be looked at, and spare these. A seed repeats a choice.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import decoded, is_number
from scumble.core.entropy import Entropy

MOST_ROWS = 1_000_000
"""Rows up to which a table is looked at whole."""

Digests = npt.NDArray[np.uint64]


@dataclass
class Excerpt:
    """One in 2^bits of the groups of rows that are alike in some columns."""

    names: list[str]
    bits: int = 0
    salt: int = field(default_factory=lambda: salt_of(None))

    @classmethod
    def of(cls, names: Sequence[str], rows: int, salt: int | None = None) -> "Excerpt":
        """Of a table of so many rows; 0 where that is not known yet.

        >>> [Excerpt.of(["age"], rows).bits for rows in (10_000_000, 1_000_000, 0)], Excerpt.of([], 10**9).bits
        ([4, 0, 0], 0)
        """
        bits = max(0, -(-rows // MOST_ROWS) - 1).bit_length() if names else 0
        return cls(list(names), bits, salt_of(None) if salt is None else salt)

    def by(self, names: Sequence[str]) -> "Excerpt":
        """The same choice by some of the columns."""
        return Excerpt([name for name in self.names if name in names], self.bits, self.salt)

    @property
    def whole(self) -> bool:
        """Whether all rows are in it."""
        return self.bits == 0

    def rows(self, table: pa.Table) -> npt.NDArray[np.intp]:
        """The places of its rows in a table."""
        if self.whole:
            return np.arange(table.num_rows)
        return np.flatnonzero(self._digests(table) >> np.uint64(64 - self.bits) == 0)

    def _digests(self, table: pa.Table) -> Digests:
        total = np.full(table.num_rows, self.salt, dtype=np.uint64)
        for name in self.names:
            total = _mixed(total ^ _digest(table.column(name)))
        return total

    def taken(self, parts: Iterable[pa.Table]) -> tuple[pa.Table | None, npt.NDArray[np.int64], int]:
        """The rows of some parts of a table that are in it, their places, and how many rows there were. Where they are too many, it becomes smaller."""
        kept: list[tuple[pa.Table, npt.NDArray[np.int64]]] = []
        start = held = 0
        for part in parts:
            rows = self.rows(part)
            kept.append((part.take(pa.array(rows)) if len(rows) < part.num_rows else part, rows + start))
            start, held = start + part.num_rows, held + len(rows)
            while held > 2 * MOST_ROWS and self.names:
                self.bits += 1
                kept = [self.thinner(*each) for each in kept]
                held = sum(table.num_rows for table, _ in kept)
        if not kept:
            return None, np.zeros(0, dtype=np.int64), start
        table = pa.concat_tables([table for table, _ in kept], promote_options="permissive")
        return table, np.concatenate([places for _, places in kept]), start

    def thinner(self, table: pa.Table, places: npt.NDArray[np.int64]) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        """What is left of rows, and of their places, that a larger excerpt had."""
        rows = self.rows(table)
        return table.take(pa.array(rows)), places[rows]


def salt_of(seed: int | None) -> int:
    """A number that nobody knows beforehand; with a seed the same each time."""
    entropy = Entropy.system() if seed is None else Entropy.seeded(seed)
    return int(entropy.stream("excerpt").integers(1, 64)[0])


def _digest(column: pa.ChunkedArray) -> Digests:
    """A number for each value: of numbers their own, whatever type they have; of words a digest of the text."""
    if is_number(column.type) and not pa.types.is_decimal(column.type):
        numbers = column.cast(pa.float64(), safe=False).to_numpy() + 0.0  # one zero
        bits = np.where(np.isnan(numbers), np.inf, numbers).view(np.uint64)
        return _mixed(bits + np.uint64(1))
    parts = [_of_words(decoded(chunk)) for chunk in column.chunks]
    return np.concatenate([*parts, np.zeros(0, dtype=np.uint64)])


def _of_words(chunk: pa.Array) -> Digests:
    coded = chunk.dictionary_encode(null_encoding="encode")
    return np.asarray(np.array([*_numbers(coded.dictionary.to_pylist())], dtype=np.uint64)[coded.indices.to_numpy()])


def _numbers(words: Iterable[object]) -> Iterator[int]:
    for word in words:
        text = b"" if word is None else b"=" + str(word).encode()
        yield int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _mixed(numbers: Digests) -> Digests:
    """Each number with its bits thrown together (splitmix64)."""
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))
