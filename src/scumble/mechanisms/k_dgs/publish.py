"""Publishing tuples that occur often, exactly (k-DGS), or every row as its box."""

import numpy as np
import pyarrow as pa

from scumble.core.domain import Domain, Grid
from scumble.forms.tuples.record import Exact, Midpoints, TuplesRecord
from scumble.mechanisms.k_dgs.plan import CrowdPlan
from scumble.publishing.copies import written_tuples
from scumble.publishing.row_pipeline import Job, Written
from scumble.publishing.tuples import Recoder, counted, demand_total
from scumble.release.records import ColumnRecord
from scumble.spec.recoding import Range, fixed_midpoints


def publish(job: Job) -> Written:
    """k-DGS: tuples that occur k times or more, as often as they occur; or boxes."""
    plan = job.plan_as(CrowdPlan)
    if plan.method == "midpoints":
        return _publish_boxes(job, plan.k)
    recoder = Recoder(job)
    demand_total(job, plan.total)
    tuples, counts = counted(job, recoder, job.spec.published, plan.k)
    declared = recoder.declared(job.spec.published)
    record = TuplesRecord(counting=Exact(k=plan.k), total=plan.total, declared=declared)
    return written_tuples(job, recoder.records(job.spec.published), tuples, counts, record)


def _publish_boxes(job: Job, k: int) -> Written:
    """Every row as its box: places in the declared domains, halved at fixed midpoints; a side is published as text."""
    names, domains = job.spec.published, job.profile.domains
    parts = [
        np.stack([domains[n].encode(batch.column(n), n) for n in names], axis=1).astype(np.float64)
        for batch in job.table.batches(names)
    ]
    points = np.concatenate(parts) if parts else np.zeros((0, len(names)))
    boxes = fixed_midpoints(points, [(-0.5, domains[n].size - 0.5) for n in names], k, whole=True)
    counts = np.bincount(boxes.cells[boxes.cells >= 0], minlength=len(boxes.sides))
    labels = {n: [_side(domains[n], box[i]) for box in boxes.sides] for i, n in enumerate(names)}
    record = TuplesRecord(counting=Midpoints(k=k), total=len(points) if boxes.sides else None)
    columns = [ColumnRecord(name=name, role="counted", type="string") for name in names]
    table = pa.table({n: pa.array(texts, pa.string()) for n, texts in labels.items()})
    return written_tuples(job, columns, table, counts.astype(np.int64), record)


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
