"""Quotas are handed out as if from one random order of all records, whatever the batches and however they are halved."""

import numpy as np
import pytest
from scipy import stats

from scumble.core.entropy import Entropy
from scumble.core.errors import TableError
from scumble.mechanisms.partitioned import quotas
from scumble.mechanisms.partitioned.quotas import Quotas

TRIALS = 3000
COUNTS = np.array([[3, 2, 1], [0, 2, 0]])
BATCHES = ([2, 0], [1, 1], [3, 1])


@pytest.mark.parametrize("records", [1, 1 << 14])
@pytest.mark.slow
def test_every_order_of_the_records_is_equally_likely(monkeypatch: pytest.MonkeyPatch, records: int) -> None:
    """Batches of 2, 1 and 3 of six records: what the first two get follows the multivariate hypergeometric law, halved to the last record or not.

    Chi-square of 3,000 publications, false-alarm rate 1e-6; the law with replacement is rejected.
    """
    monkeypatch.setattr(quotas, "RECORDS", records)
    seen: dict[tuple[int, ...], int] = {}
    for seed in range(TRIALS):
        stream = Entropy.seeded(seed).stream("q")
        left = Quotas(COUNTS, stream)
        given = [left.take(np.array(batch), stream) for batch in BATCHES]
        assert np.array_equal(sum(given), COUNTS)
        assert left.spent
        key = (*given[0][0].tolist(), *given[1][0].tolist())
        seen[key] = seen.get(key, 0) + 1
    keys = np.array(list(seen))
    first, second = keys[:, :3], keys[:, 3:]
    law = stats.multivariate_hypergeom
    exact = law.pmf(first, COUNTS[0], 2) * law.pmf(second, COUNTS[0] - first, 1)
    assert exact.sum() == pytest.approx(1)  # every outcome was seen
    assert surprise(seen, exact) > 1e-6
    loose = stats.multinomial.pmf(first, 2, COUNTS[0] / 6) * stats.multinomial.pmf(second, 1, COUNTS[0] / 6)
    assert surprise(seen, loose / loose.sum()) < 1e-6


def surprise(seen: dict[tuple[int, ...], int], law: np.ndarray) -> float:
    return float(stats.chisquare(list(seen.values()), law * TRIALS).pvalue)


def test_a_batch_may_span_many_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen segments and batches of any size: counts are exact after each, and the last batch gets what is left."""
    monkeypatch.setattr(quotas, "RECORDS", 64)
    counts = np.array([[500, 0, 24], [0, 300, 200]])
    stream = Entropy.seeded(3).stream("q")
    left = Quotas(counts, stream)
    given = np.zeros_like(counts)
    for batch in ([0, 0], [1, 499], [400, 0], [123, 1]):
        taken = left.take(np.array(batch), stream)
        assert taken.sum(axis=1).tolist() == batch
        assert (taken >= 0).all()
        given += taken
    assert np.array_equal(given, counts)
    assert left.spent


def test_more_records_than_were_counted_are_refused() -> None:
    stream = Entropy.seeded(3).stream("q")
    left = Quotas(COUNTS, stream)
    left.take(np.array([6, 0]), stream)
    assert not left.spent
    with pytest.raises(TableError, match="changed between counting"):
        left.take(np.array([1, 0]), stream)
