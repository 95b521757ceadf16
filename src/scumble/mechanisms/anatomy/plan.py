"""Anatomy (Xiao and Tao, VLDB 2006): rows and values in two tables, joined by buckets of l different values.

    eligible        f_max <= |T| / l
    estimate        sum over buckets g of  c(g, public condition) * c(g, values) / |g|

A bucket takes one record of each of its l most frequent values that are left; the few records left over join a bucket that lacks their value.
A table that is not eligible has records of its most frequent values suppressed until it is (the thesis, 4.4.3).

Whoever knows which bucket a person is in believes each value with at most about 1/l. That is all: who knows the others of the bucket
knows the last one's value (corruption), and nothing is said of other beliefs.
"""

import heapq
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from scumble.core.domain import Codes
from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError, SchemaError
from scumble.mechanisms.anatomy.settings import Settings
from scumble.mechanisms.anatomy.terms import l_guarantee, terms_of
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.guarantee import Guarantee
from scumble.spec.spec import Spec

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.bool_]

BUCKET, COUNT = "bucket", "count"
"""The columns that the published tables have beyond the table's own."""


def suppressed(counts: Counts, diversity: int) -> Counts:
    """How many records of each value have to go before the table is eligible: the most frequent ones first.

    >>> suppressed(np.array([70, 20, 10]), 2).tolist()
    [40, 0, 0]
    """
    if diversity < 2:
        raise ParameterError(f"l is a number of different values, 2 or more, not {diversity}")
    if np.count_nonzero(counts) < diversity:
        raise ParameterError(
            f"{np.count_nonzero(counts)} values occur, so no bucket can have {diversity} different ones; take l at most that"
        )
    low, high = 0, int(counts.max())  # the largest cap on a value's count that leaves the table eligible
    while low < high:
        cap = (low + high + 1) // 2
        if cap * diversity <= int(np.minimum(counts, cap).sum()):
            low = cap
        else:
            high = cap - 1
    return np.asarray(counts - np.minimum(counts, low))


def buckets(counts: Counts, diversity: int) -> tuple[list[list[int]], list[int]]:
    """The values of each bucket of an eligible table, and the values that are left over, one record each.

    >>> buckets(np.array([3, 2, 1]), 2)
    ([[0, 1], [0, 1], [0, 2]], [])
    """
    heap = [(-int(count), value) for value, count in enumerate(counts) if count]
    heapq.heapify(heap)
    made = []
    while len(heap) >= diversity:
        most = [heapq.heappop(heap) for _ in range(diversity)]
        made.append([value for _, value in most])
        for count, value in most:
            if count < -1:
                heapq.heappush(heap, (count + 1, value))
    return made, [value for count, value in heap for _ in range(-count)]


@dataclass(frozen=True, repr=False)
class BucketPlan(Plan):
    """How many different values a bucket has."""

    diversity: int = field(kw_only=True)

    @property
    def parameters(self) -> str:
        """The l of l-diversity."""
        return f"l = {self.diversity}"

    @property
    def certain_belief(self) -> float:
        """A value is one of l of its bucket."""
        return 1 / self.diversity


def plan(profile: Profile, spec: Spec) -> BucketPlan:
    """Which l, and whether the table's counts allow it; rows are dealt when they are published."""
    diversity = spec.settings_as(Settings).diversity
    name = _demand_one_column(spec)
    gone = int(suppressed(profile.counts[name], diversity).sum())
    terms = terms_of(name, diversity, profile.from_data, gone > 0)
    return BucketPlan(
        "anatomy",
        [{}],
        terms.guarantees,
        terms.depends_on_data,
        not_covered=terms.not_covered,
        warnings=[f"{gone:,} rows will not be published, so that l = {diversity} can hold"] if gone else [],
        diversity=diversity,
    )


def _demand_one_column(spec: Spec) -> str:
    if spec.privacy.given or any(column.privacy is not None for column in spec.columns.values()):
        raise ParameterError("anatomy is given by l in its settings; it has no epsilon, gamma, rho or retention")
    if len(spec.sensitive) != 1:
        raise SchemaError(
            f"anatomy is for one sensitive column, not for {len(spec.sensitive)}; drop or publish the others"
        )
    for name in spec.published:
        if name.lower() in (BUCKET, COUNT):
            raise SchemaError(f"column {name!r} has the name of a column that anatomy adds; rename or drop it")
    return spec.sensitive[0]


@dataclass(frozen=True)
class Anatomy:
    """A release: the bucket of each row (-1: suppressed), and how often each value is in each bucket."""

    diversity: int
    bucket: Counts
    values: sparse.csr_array
    """Bucket by value: few of the values are in a bucket, so the others take no room."""

    @property
    def guarantee(self) -> Guarantee:
        """What holds, and under what."""
        return l_guarantee([], self.diversity, self.posterior)

    @property
    def posterior(self) -> float:
        """The largest share of a value in a bucket."""
        return float((self.values.max(axis=1).toarray() / self.values.sum(axis=1)).max())

    def tables(self, public: pa.Table, name: str, domain: pa.Array) -> tuple[pa.Table, pa.Table]:
        """What is published: the public columns with their bucket, and how often each value is in each bucket."""
        kept = pa.array(self.bucket >= 0)
        rows = public.filter(kept).append_column(BUCKET, pa.array(self.bucket).filter(kept))
        return rows, self.held(name, domain)

    def held(self, name: str, domain: pa.Array) -> pa.Table:
        """How often each value is in each bucket."""
        cells = self.values.tocoo()
        bucket, value = (place.astype(np.int64) for place in cells.coords)
        return pa.table({BUCKET: bucket, name: domain.take(pa.array(value)), COUNT: cells.data})

    def count(self, condition: Rows, values: npt.NDArray[np.bool_]) -> tuple[float, float]:
        """The estimate of how many rows satisfy the public condition and have one of the values, with its standard error.

        The error is that of values dealt at random within each bucket, which is the estimator's model and not how the table came
        about: it is no interval that holds.
        """
        matching = np.bincount(self.bucket[condition & (self.bucket >= 0)], minlength=self.values.shape[0])
        held, size = self.values @ values.astype(np.int64), self.values.sum(axis=1)
        spread = matching * held * (size - matching) * (size - held) / (size**2 * np.maximum(size - 1, 1))
        return float((matching * held / size).sum()), float(np.sqrt(spread.sum()))


def anatomize(codes: Codes, size: int, diversity: int, stream: Stream) -> Anatomy:
    """The release of a column of true codes: which record of a value is in which bucket is drawn at random."""
    counts = np.bincount(codes, minlength=size)
    gone = suppressed(counts, diversity)
    made, left = buckets(counts - gone, diversity)
    first = np.array(made, dtype=np.int64)
    bucket, value = np.repeat(np.arange(len(first)), diversity), first.ravel()
    for odd in left:
        free = np.setdiff1d(np.arange(len(first)), bucket[value == odd])
        if not len(free):
            raise ParameterError(f"no bucket lacks value {odd}; take a smaller l")
        bucket, value = np.append(bucket, free[stream.permutation(len(free))[0]]), np.append(value, odd)
    table = sparse.csr_array((np.ones_like(bucket), (bucket, value)), shape=(len(first), size))
    return Anatomy(diversity, _dealt(codes, table, gone, stream), table)


def _dealt(codes: Codes, table: sparse.csr_array, gone: Counts, stream: Stream) -> Counts:
    """The bucket of each record: those of a value, in random order, go to its buckets one after the other."""
    order = stream.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    by_value = table.tocsc()
    buckets_of = np.split(by_value.indices, by_value.indptr[1:-1])
    labels = [part for value, own in enumerate(buckets_of) for part in (np.full(gone[value], -1), own)]
    bucket = np.empty(len(codes), dtype=np.int64)
    bucket[order] = np.concatenate(labels)
    return bucket
