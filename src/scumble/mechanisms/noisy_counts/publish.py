"""Publishing tuples that occur often: exactly (k-DGS), as boxes, or by noisy counts."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.domain import Domain, Grid
from scumble.core.errors import ParameterError, TableError
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.publishing.copies import write_copies
from scumble.publishing.row_pipeline import Job, Printed
from scumble.publishing.tuples import Recoder, counted, demand_total
from scumble.release.records import ColumnRecord, CountedRecord, DomainRecord
from scumble.spec.recoding import Range, fixed_midpoints

Counts = npt.NDArray[np.int64]


def press_frequent(job: Job) -> Printed:
    """k-DGS: tuples that occur k times or more, as often as they occur; or boxes."""
    demand_fresh_coins(job)
    details = job.plan.details
    if details["method"] == "midpoints":
        return _press_boxes(job, details["k"])
    recoder = Recoder(job)
    demand_total(job, details["total"])
    tuples, counts = counted(job, recoder, job.spec.published, details["k"])
    declared = recoder.declared(job.spec.published)
    record = CountedRecord(matrix="exact", k=details["k"], total=details["total"], declared=declared)
    return _printed(job, recoder.records(job.spec.published), tuples, counts, record)


def press_noisy(job: Job) -> Printed:
    """Tuples as often as their noisy counts say."""
    demand_fresh_coins(job)
    details = job.plan.details
    matrix, names = details["matrix"], job.spec.published
    recoder = Recoder(job)
    demand_total(job, details["total"])
    if isinstance(matrix, ClampedCounts):
        return _press_full(job, recoder, matrix)
    tuples, counts = counted(job, recoder, names, matrix.k)
    drawn = matrix.draw(job.coinage.entropy.stream("counts"), counts)
    record = CountedRecord(
        matrix="practical",
        k=matrix.k,
        epsilon=matrix.epsilon,
        delta=matrix.delta,
        total=details["total"],
        declared=recoder.declared(names),
    )
    kept = drawn > 0
    return _printed(job, recoder.records(names), tuples.filter(pa.array(kept)), drawn[kept], record)


def _press_full(job: Job, recoder: Recoder, matrix: ClampedCounts) -> Printed:
    """Every tuple of the domain has a noisy count, in the order of its codes."""
    names, domains = job.spec.published, job.profile.domains
    shape = tuple(domains[name].size for name in names)
    true = np.zeros(shape, np.int64)
    tuples, counts = counted(job, recoder, names, 1)
    true[tuple(domains[n].encode(tuples.column(n).combine_chunks(), n) for n in names)] = counts
    drawn = matrix.draw(job.coinage.entropy.stream("counts"), true.ravel())
    kept = np.flatnonzero(drawn)
    codes = np.unravel_index(kept, shape)
    found = pa.table({n: domains[n].values.take(pa.array(c)) for n, c in zip(names, codes, strict=True)})
    record = CountedRecord(
        matrix="full",
        epsilon=matrix.rate,
        total=job.plan.details["total"],
        domains={name: DomainRecord.of(domains[name], False) for name in names},
    )
    return _printed(job, recoder.records(names), found, drawn[kept], record)


def _press_boxes(job: Job, k: int) -> Printed:
    """Every row as its box: places in the declared domains, halved at fixed midpoints; a side is published as text."""
    names, domains = job.spec.published, job.profile.domains
    parts = [
        np.stack([domains[n].encode(batch.column(n), n) for n in names], axis=1).astype(np.float64)
        for batch in job.table.batches(names)
    ]
    points = np.concatenate(parts) if parts else np.zeros((0, len(names)))
    if not len(points):
        raise TableError("the table has no rows, so there is nothing to publish")
    boxes = fixed_midpoints(points, [(-0.5, domains[n].size - 0.5) for n in names], k, whole=True)
    counts = np.bincount(boxes.cells[boxes.cells >= 0], minlength=len(boxes.sides))
    labels = {n: [_side(domains[n], box[i]) for box in boxes.sides] for i, n in enumerate(names)}
    record = CountedRecord(matrix="boxes", k=k, total=len(points) if boxes.sides else None)
    columns = [ColumnRecord(name=name, role="counted", type="string") for name in names]
    found = pa.table({n: pa.array(texts, pa.string()) for n, texts in labels.items()})
    return _printed(job, columns, found, counts.astype(np.int64), record)


def _side(domain: Domain, side: Range) -> str:
    """The values between two places, in words.

    >>> _side(Grid("0", "99", "1", pa.int64()), (-0.5, 49.5))
    '0..49'
    """
    first, last = int(np.ceil(side[0])), int(np.ceil(side[1])) - 1
    if isinstance(domain, Grid):
        low, high = (f"{domain.numbers[place]:.15g}" for place in (first, last))
        return low if first == last else f"{low}..{high}"
    return " | ".join("(missing)" if v is None else str(v) for v in domain.values[first : last + 1].to_pylist())


def _printed(job: Job, columns: list[ColumnRecord], tuples: pa.Table, counts: Counts, record: CountedRecord) -> Printed:
    files = write_copies(tuples, counts, job.folder, "data")
    return Printed(files, columns, int(counts.sum()), record)


def demand_fresh_coins(job: Job) -> None:
    """A keyed coin belongs to a row; these belong to a tuple, and a table that changes changes them all."""
    key: Any = job.coinage.key
    if key is not None:
        raise ParameterError(
            f'coins by key are for mechanism = "uniform"; {job.plan.mechanism} counts tuples, not rows'
        )
