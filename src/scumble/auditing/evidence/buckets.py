"""The buckets of an Anatomy release: which rows, and which values, are in each."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.auditing.evidence.publication import Codes, Publication
from scumble.forms.buckets.record import BucketsRecord

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AnatomyBuckets:
    """Both tables of the release, by number of bucket."""

    name: str
    """The sensitive column."""
    diversity: int
    of_row: Codes
    counts: Codes
    """Bucket by value."""
    values: pa.Array

    @classmethod
    def of(cls, publication: Publication) -> "AnatomyBuckets":
        """The buckets of a publication."""
        release, rows = publication.release, publication.table
        assert release is not None
        record = release.manifest.form
        assert isinstance(record, BucketsRecord)
        manifest, held = release.manifest, release.table("values")
        name = str(manifest.role("apart"))
        coded = held.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
        bucket = held.column("bucket").to_numpy()
        of_row = rows.column("bucket").to_numpy()
        counts = np.zeros((int(max(bucket.max(), of_row.max())) + 1, len(coded.dictionary)), dtype=np.int64)
        counts[bucket, coded.indices.to_numpy()] = held.column("count").to_numpy()
        return cls(name, record.diversity, of_row, counts, coded.dictionary)

    def codes(self, column: pa.ChunkedArray) -> Codes:
        """Places of a raw column's values; one that no bucket has gets the place after the last."""
        plain = column.cast(self.values.type)
        places = pc.index_in(plain, value_set=self.values).fill_null(self.counts.shape[1])
        return np.asarray(places.combine_chunks().to_numpy().astype(np.int64))

    def published(self, codes: Codes) -> Numbers:
        """The share of the people of each value whose rows were published; the others were left out because too many have it."""
        there = np.append(self.counts.sum(axis=0), 0)
        return np.asarray(there / np.maximum(np.bincount(codes, minlength=len(there)), 1))

    def largest_share(self) -> float:
        """The mean, over rows, of the share of the most frequent value in the row's bucket."""
        size = np.maximum(self.counts.sum(axis=1), 1)
        return float((self.counts.max(axis=1) / size)[self.of_row].mean())
