"""Transactions (user, item, value) as patterns: what a user has inside one column of the schema, and how many users have the same.

A user's pattern is the sorted list of the (item, value) pairs. Patterns are numbered as the nodes of a tree, one pair a step:

    node(u, p + 1) = number of (node(u, p), pair p of u)

A pattern is as rare as its rarest beginning at least, so users whose beginning fewer than k share are left out at once: what remains to be
numbered shrinks fast, nothing is hashed, and memory follows the transactions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.errors import ParameterError

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Patterns:
    """Frequent patterns in sorted order: how many users have each, and its pairs, one pattern after the other."""

    counts: Ints
    starts: Ints
    """Where the pairs of each begin; one more entry for the end."""
    items: Ints
    values: Ints

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, which: Any) -> "Patterns":
        """Some of them, in that order."""
        places = np.asarray(which, np.int64)
        lengths = np.diff(self.starts)[places]
        pairs = ragged(self.starts[places], lengths)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return Patterns(self.counts[places], starts, self.items[pairs], self.values[pairs])


def ragged(starts: Ints, lengths: Ints) -> Ints:
    """start, start + 1, ... for each start, as many as its length.

    >>> ragged(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    return np.asarray(np.repeat(starts, lengths) + within, np.int64)


def frequent_patterns(users: Any, items: Any, values: Any, k: int) -> Patterns:
    """The patterns that at least k users have.

    >>> found = frequent_patterns([1, 2, 2, 3, 3], [7, 8, 7, 7, 8], [0, 1, 0, 0, 1], 2)
    >>> found.counts.tolist(), found.items.tolist(), found.values.tolist()
    ([2], [7, 8], [0, 1])
    """
    user, item, value = (np.asarray(a, np.int64) for a in (users, items, values))
    if len(user) == 0:
        return Patterns(*(np.zeros(n, np.int64) for n in (0, 1, 0, 0)))
    radix = int(value.max()) + 1
    pair = item * radix + value
    order = np.lexsort((pair, user))
    user, pair = user[order], pair[order]
    _demand_once(user, pair // radix)
    first = np.flatnonzero(np.concatenate([[True], user[1:] != user[:-1]]))
    lengths = np.diff(np.concatenate([first, [len(user)]]))
    example, counts = _grow(first, lengths, pair, k)
    return _sorted(example, counts, first, lengths, pair, radix)


def _grow(first: Ints, lengths: Ints, pair: Ints, k: int) -> tuple[Ints, Ints]:
    """For each frequent pattern one user who has it (a place in `first`), and how many have it."""
    alive = np.arange(len(first))
    node = np.zeros(len(first), np.int64)
    examples: list[Ints] = []
    counts: list[Ints] = []
    step = 0
    while len(alive):
        whole = lengths[alive] == step
        if whole.any():
            _, places, many = np.unique(node[whole], return_index=True, return_counts=True)
            examples.append(alive[whole][places[many >= k]])
            counts.append(many[many >= k])
        alive, node = alive[~whole], node[~whole]
        edges, node = np.unique(np.stack([node, pair[first[alive] + step]]), axis=1, return_inverse=True)
        shared = np.bincount(node, minlength=edges.shape[1])[node] >= k
        alive, node = alive[shared], node[shared]
        step += 1
    return np.concatenate([*examples, np.zeros(0, np.int64)]), np.concatenate([*counts, np.zeros(0, np.int64)])


def _sorted(example: Ints, counts: Ints, first: Ints, lengths: Ints, pair: Ints, radix: int) -> Patterns:
    """By their pairs, so that the order tells nothing of the users' order."""
    keys = [tuple(pair[first[u] : first[u] + lengths[u]].tolist()) for u in example.tolist()]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    example, counts = example[order], counts[order]
    pairs = pair[ragged(first[example], lengths[example])]
    return Patterns(counts, np.concatenate([[0], np.cumsum(lengths[example])]), pairs // radix, pairs % radix)


def _demand_once(user: Ints, item: Ints) -> None:
    twice = np.flatnonzero((user[1:] == user[:-1]) & (item[1:] == item[:-1]))
    if len(twice):
        raise ParameterError("a user has one item more than once; keep one value for each user and item")
