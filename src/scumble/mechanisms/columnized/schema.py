"""Columns of correlated attributes: how alike two attributes are, which go together, and which of them a tuple stays in.

A table of many attributes is split into columns, each a set of attributes, that are published apart. Attributes that are
strongly correlated belong together, so that what is lost is what was hardly there. Correlations lie in [0, 1]:

    phi^2(A, B) = (sum_ab n_ab^2 / (n_a n_b) - 1) / (min(d_A, d_B) - 1)          mean-square contingency, n_ab rows have (a, b)
    Sim(A, B)   = #{users who gave A and B the same value} / #{users who gave A or B a value}      ratings

The columns are the clusters of k-medoids under the distance 1 - correlation. Ratings are (user, item, value) triples and stay so:
no matrix of users and items is made, only one of items and items.

Correlations and the schema made of them are computed from the data WITHOUT noise: a schema that is published discloses them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError
from scumble.core.extras import need

Matrix = npt.NDArray[np.float32]
Codes = npt.NDArray[np.integer[Any]]
Schema = list[list[int]]
"""For each column the attributes it holds; overlapping ones share attributes."""

LARGEST_CORRELATION = 16_384
"""Attributes whose pairwise correlations are held: 1 GiB of them."""

_BLOCK = 1024


def mean_square_contingency(one: Codes, other: Codes) -> float:
    """phi^2 of two attributes given as codes, from 0 (independent) to 1 (one tells the other); 0 where one has one value.

    >>> mean_square_contingency(np.array([0, 0, 1, 1]), np.array([2, 2, 5, 5]))
    1.0
    >>> mean_square_contingency(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    0.0
    """
    first, second = (np.unique(codes, return_inverse=True)[1] for codes in (one, other))
    table = sparse.coo_array((np.ones(len(first)), (first, second))).tocsr()  # pairs that occur, not all d_A x d_B
    smaller = min(table.shape)
    if smaller < 2:
        return 0.0
    rows, columns, pairs = table.sum(axis=1), table.sum(axis=0), table.tocoo()
    squares = pairs.data**2 / (rows[pairs.row] * columns[pairs.col])
    return float(np.clip((squares.sum() - 1) / (smaller - 1), 0, 1))


def contingency_correlations(attributes: Sequence[Codes]) -> Matrix:
    """phi^2 of each pair of attributes.

    >>> contingency_correlations([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    correlations = _square(len(attributes))
    if len({len(codes) for codes in attributes}) > 1:
        raise ParameterError("the attributes of a table must have equally many rows")
    for a, one in enumerate(attributes):
        for b in range(a):
            correlations[a, b] = correlations[b, a] = mean_square_contingency(one, attributes[b])
    return correlations


def ratings_similarity(users: Codes, items: Codes, values: Codes) -> Matrix:
    """Sim of each pair of items 0, 1, ... from rating triples; a user rates an item once.

    Users who agree on two items are entries of R^T R, where R has a row for each (user, value) and a column for each item.

    >>> ratings_similarity(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([5, 5, 4, 1])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    user, item = np.asarray(users), np.asarray(items)
    size = int(item.max()) + 1 if len(item) else 0
    similarity = _square(size)
    rated = _incidence(user, item, size)
    _demand_once(rated, user)
    kinds, kind = np.unique(values, return_inverse=True)
    compact = np.unique(user, return_inverse=True)[1]  # a user's number may be so large that its product would overflow
    agreeing = _incidence(compact * len(kinds) + kind, item, size)
    products = [(m.T.tocsr(), m) for m in (agreeing, rated)]
    support = np.bincount(item, minlength=size)
    for start in range(0, size, _BLOCK):
        block = slice(start, start + _BLOCK)
        alike, both = ((by_item[block] @ m).toarray() for by_item, m in products)
        either = support[block, None] + support - both
        similarity[block] = np.divide(alike, either, out=np.zeros(either.shape), where=either > 0)
    np.fill_diagonal(similarity, 1)
    return similarity


def group(correlation: npt.NDArray[np.floating[Any]], columns: int | Sequence[int]) -> Schema:
    """The columns of a schema: k-medoids under 1 - correlation, once for each number of columns.

    Several numbers give an overlapping schema; a column that comes out twice is in it twice, is published twice, and is
    counted twice. The result does not depend on chance: medoids start from the greedy choice and swap in a fixed order.

    >>> alike = np.array([[1, 0.9, 0, 0], [0.9, 1, 0, 0], [0, 0, 1, 0.8], [0, 0, 0.8, 1]])
    >>> group(alike, 2), len(group(alike, [1, 2]))
    ([[0, 1], [2, 3]], 3)
    """
    distance = _distance(correlation)
    numbers = [columns] if isinstance(columns, int) else list(columns)
    wrong = [c for c in numbers if not 1 <= c <= len(distance)]
    if wrong or not numbers:
        raise ParameterError(
            f"the number of columns must lie between 1 and the {len(distance)} attributes, not {columns}"
        )
    return [members for count in numbers for members in _clusters(distance, count)]


def covered(users: Codes, items: Codes, schema: Schema, size: int) -> sparse.csr_array:
    """Which of the schema's columns each of `size` users has a value in: users x columns, sparse.

    >>> covered(np.array([0, 0, 1]), np.array([0, 2, 2]), [[0, 1], [2]], 2).toarray().astype(int).tolist()
    [[1, 1], [0, 1]]
    """
    attributes = np.concatenate([np.asarray(members, np.int64) for members in schema])
    column = np.repeat(np.arange(len(schema)), [len(members) for members in schema])
    width = int(max(attributes.max(), items.max(initial=0))) + 1
    belongs = sparse.csr_array((np.ones(len(column), np.int32), (attributes, column)), shape=(width, len(schema)))
    rated = sparse.csr_array((np.ones(len(users), np.int32), (users, items)), shape=(size, width))
    return (rated @ belongs).astype(np.bool_)


def choose_columns(stream: Stream, memberships: sparse.csr_array, c_star: int) -> sparse.csr_array:
    """The memberships with at most c_star columns for each tuple, a uniformly random choice where it has more.

    >>> from scumble.core.entropy import Entropy
    >>> kept = choose_columns(Entropy.seeded(1).stream("doc"), sparse.csr_array(np.ones((3, 5), bool)), 2)
    >>> kept.sum(axis=1).tolist()
    [2, 2, 2]
    """
    if c_star < 1:
        raise ParameterError(f"c* is how many columns a tuple may stay in and must be at least 1, not {c_star}")
    given = sparse.csr_array(memberships)
    given.sum_duplicates()
    given.eliminate_zeros()
    lengths = np.diff(given.indptr)
    tuples = np.repeat(np.arange(given.shape[0]), lengths)
    order = _random_order(stream, tuples)
    rank = np.arange(given.nnz) - np.repeat(given.indptr[:-1], lengths)
    kept = order[rank < c_star]
    ones = np.ones(len(kept), np.bool_)
    return sparse.csr_array((ones, (tuples[kept], given.indices[kept])), shape=given.shape)


def _random_order(stream: Stream, tuples: Codes) -> npt.NDArray[np.intp]:
    """The entries tuple by tuple, in a uniformly random order within each: drawn again if two of one tuple tie."""
    while True:
        keys = stream.integers(len(tuples), 64)
        order = np.lexsort((keys, tuples))
        ties = (keys[order][1:] == keys[order][:-1]) & (tuples[order][1:] == tuples[order][:-1])
        if not ties.any():
            return order


def _clusters(distance: npt.NDArray[np.floating[Any]], count: int) -> Schema:
    if count == 1:
        return [list(range(len(distance)))]
    clusters = need("kmedoids", "columnize").fasterpam(distance, count, init="build", random_state=0, n_cpu=1)
    return [np.flatnonzero(clusters.labels == label).tolist() for label in range(count)]


def _distance(correlation: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    given = np.asarray(correlation)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not np.all((given >= 0) & (given <= 1)):
        raise ParameterError("correlations must be a square table of numbers in [0, 1]")
    return 1 - given


def _square(size: int) -> Matrix:
    if size > LARGEST_CORRELATION:
        raise ParameterError(
            f"the correlations of {size:,} attributes do not fit, at most {LARGEST_CORRELATION:,} do; "
            "leave out rare ones, or give the schema yourself"
        )
    return np.eye(size, dtype=np.float32)


def _incidence(rows: Codes, items: Codes, size: int) -> sparse.csr_array:
    """A 1 for each pair, in 32-bit integers; rows are numbered anew, so that their numbers may be any."""
    compact = np.unique(rows, return_inverse=True)[1]
    return sparse.coo_array(
        (np.ones(len(items), np.int32), (compact, items)), shape=(len(np.unique(rows)), size)
    ).tocsr()


def _demand_once(rated: sparse.csr_array, users: Codes) -> None:
    twice = np.flatnonzero(rated.data > 1)
    if len(twice):
        row = int(np.searchsorted(rated.indptr, twice[0], side="right")) - 1
        raise ParameterError(
            f"user {np.unique(users)[row]} rates item {rated.indices[twice[0]]} more than once; keep one value for each"
        )
