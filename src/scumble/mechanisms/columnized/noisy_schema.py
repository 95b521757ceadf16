"""A schema computed under a part of the budget: correlations from noisy counts, columns from the correlations.

Noise is two-sided geometric with r = e^(-epsilon / S), S the most that one tuple changes all counts together (their L1 sensitivity), so the noisy
counts are epsilon-differentially private, and so is everything that is computed from them alone, the schema included.

    attributes   n_ab of each pair of d attributes, for ALL pairs of declared values: a row is in one cell of each pair, S = d (d - 1) / 2
    ratings      s_A = users who rated A, g_AB = users who gave A and B the same value, of at most m ratings of each user, chosen at
                 random, for ALL declared items:  S = m + m (m - 1) / 2

The ratings' similarity is g_AB / sqrt(s_A s_B). With one user's choice given, another user's counts do not change, so S holds for each choice, and
the mixture over choices keeps the ratio. Proof: docs/proofs/columnized.md.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError
from scumble.mechanisms.columnized.schema import Codes, Matrix, choose_columns
from scumble.mechanisms.noisy_count_matrix import ClampedCounts

LARGEST_CELLS = 20_000_000
"""Noisy counts that a schema may be computed from."""

Floats = npt.NDArray[np.float64]


def pair_sensitivity(attributes: int) -> int:
    """The most that one row changes the contingency counts of all pairs together: one cell of each.

    >>> pair_sensitivity(4)
    6
    """
    return attributes * (attributes - 1) // 2


def rating_sensitivity(ratings: int) -> int:
    """The most that one user with that many ratings changes supports and agreements together.

    >>> rating_sensitivity(5)
    15
    """
    return ratings + ratings * (ratings - 1) // 2


def noisy(stream: Stream, counts: Any, epsilon: float, sensitivity: int) -> Floats:
    """max(0, n + Z) for each count, Z two-sided geometric with r = e^(-epsilon / sensitivity)."""
    flat = np.asarray(counts, np.int64).ravel()
    drawn = ClampedCounts(0, epsilon / sensitivity).draw(stream, flat)
    return drawn.astype(np.float64).reshape(np.shape(counts))


def noisy_contingency(stream: Stream, tables: Sequence[Any], size: int, epsilon: float) -> Matrix:
    """phi^2 of each pair of attributes from noisy contingency tables, given for the pairs (0,1), (0,2), ..., (1,2), ...

    >>> from scumble.core.entropy import Entropy
    >>> alike = noisy_contingency(Entropy.seeded(1).stream("doc"), [np.diag([5000, 5000])], 2, 1.0)
    >>> bool(alike[0, 1] > 0.99)
    True
    """
    correlations = np.eye(size, dtype=np.float32)
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    demand_cells(sum(np.size(table) for table in tables))
    for (a, b), table in zip(pairs, tables, strict=True):
        correlations[a, b] = correlations[b, a] = _phi_squared(noisy(stream, table, epsilon, pair_sensitivity(size)))
    return correlations


def _phi_squared(table: Floats) -> float:
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    kept = table[np.ix_(rows > 0, columns > 0)]
    if min(kept.shape) < 2:
        return 0.0
    squares = kept**2 / (rows[rows > 0][:, None] * columns[columns > 0])
    return float(np.clip((squares.sum() - 1) / (min(kept.shape) - 1), 0, 1))


def noisy_similarity(
    stream: Stream, users: Codes, items: Codes, values: Codes, size: int, most: int, epsilon: float
) -> Matrix:
    """g_AB / sqrt(s_A s_B) of each pair of `size` items, from noisy counts of at most `most` ratings of each user.

    >>> from scumble.core.entropy import Entropy
    >>> user = np.repeat(np.arange(5000), 2); item = np.tile([0, 1], 5000)
    >>> alike = noisy_similarity(Entropy.seeded(1).stream("doc"), user, item, np.ones(10_000, int), 3, 2, 1.0)
    >>> bool(alike[0, 1] > 0.9), bool(alike[0, 2] < 0.1)
    (True, True)
    """
    if most < 1:
        raise ParameterError(f"schema_ratings is how many ratings of a user are counted, at least 1, not {most}")
    demand_cells(size * (size + 1) // 2)
    chosen = _chosen(stream, users, items, values, size, most)
    sensitivity = rating_sensitivity(most)
    support = noisy(stream, np.bincount(chosen.indices % size, minlength=size), epsilon, sensitivity)
    upper = np.triu_indices(size, 1)
    alike = np.zeros((size, size))
    alike[upper] = noisy(stream, _agreements(chosen, size)[upper], epsilon, sensitivity)
    scale = np.sqrt(np.maximum(support, 1))
    similarity = np.clip((alike + alike.T) / scale / scale[:, None], 0, 1).astype(np.float32)
    np.fill_diagonal(similarity, 1)
    return similarity


def _chosen(stream: Stream, users: Codes, items: Codes, values: Codes, size: int, most: int) -> sparse.csr_array:
    """Users x (value, item), at most `most` entries a user, chosen at random."""
    kinds = int(np.max(values, initial=0)) + 1
    people = int(np.max(users, initial=0)) + 1
    places = np.asarray(values, np.int64) * size + np.asarray(items, np.int64)
    given = sparse.csr_array((np.ones(len(places), np.bool_), (users, places)), shape=(people, kinds * size))
    return choose_columns(stream, given, most)


def _agreements(chosen: sparse.csr_array, size: int) -> npt.NDArray[np.int64]:
    total = np.zeros((size, size), np.int64)
    by_value = chosen.astype(np.int32).tocsc()
    for start in range(0, chosen.shape[1], size):
        part = by_value[:, start : start + size]
        total += (part.T @ part).toarray()
    return total


def demand_cells(cells: int) -> None:
    """Counts that can all be given noise."""
    if cells > LARGEST_CELLS:
        raise ParameterError(
            f"a schema under a budget needs noise on {cells:,} counts, at most {LARGEST_CELLS:,}; "
            "declare fewer or coarser values or items, or give the schema yourself"
        )
