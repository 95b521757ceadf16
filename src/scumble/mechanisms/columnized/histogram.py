"""How many columns kept tuples had, counted with noise for each column of the schema (mechanisms/kept_columns.py says what for)."""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from scumble.core.entropy import Stream
from scumble.mechanisms.kept_columns import histogram_noise, rungs

Counts = npt.NDArray[np.int64]


def kept_by_columns(stream: Stream, had: Counts, kept: sparse.csr_array, c_star: int) -> Counts:
    """For each column of the schema the tuples that stayed in it, by the rung that their number of columns was rounded to.

    had   the columns that each tuple has a value in
    """
    ladder = np.asarray(rungs(c_star, kept.shape[1]))
    rung = _rounded(stream, had, ladder)
    entries = kept.tocoo()
    places = entries.col.astype(np.int64) * len(ladder) + rung[entries.row]
    return np.bincount(places, minlength=kept.shape[1] * len(ladder)).reshape(kept.shape[1], len(ladder))


def noisy_histogram(stream: Stream, counts: Counts, c_star: int, epsilon: float) -> list[list[int]]:
    """The counts with noise on each, zeros too: one tuple changes c* of them by 1 at most."""
    drawn = histogram_noise(epsilon, c_star).draw(stream, counts.ravel())
    return [[int(n) for n in line] for line in drawn.reshape(counts.shape)]


def _rounded(stream: Stream, had: Counts, ladder: Counts) -> Counts:
    """The place of the rung below or above, at random so that the mean is kept: up with probability (h - below) / (above - below)."""
    below = np.clip(np.searchsorted(ladder, had, side="right") - 1, 0, len(ladder) - 1)
    above = np.minimum(below + 1, len(ladder) - 1)
    gap = np.maximum(ladder[above] - ladder[below], 1)
    over = np.maximum(had - ladder[below], 0)
    threshold = (over.astype(np.float64) / gap * 2.0**53).astype(np.uint64)
    return np.where(stream.integers(len(had), 64) >> np.uint64(11) < threshold, above, below)
