"""Publishing tuples that occur often, by noisy counts."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.forms.records import DomainRecord
from scumble.forms.tuples.record import Full, Practical, TuplesRecord
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.mechanisms.noisy_counts.plan import CountsPlan
from scumble.publishing.copies import written_tuples
from scumble.publishing.row_pipeline import Job, Written
from scumble.publishing.tuples import Recoder, counted, demand_total, shown_of

Counts = npt.NDArray[np.int64]


def publish(job: Job) -> Written:
    """Tuples as often as their noisy counts say."""
    plan = job.plan_as(CountsPlan)
    matrix, names = plan.matrix, job.spec.published
    recoder = Recoder(job)
    demand_total(job, plan.total)
    if isinstance(matrix, ClampedCounts):
        return _press_full(job, recoder, matrix)
    tuples, counts = counted(job, recoder, names, matrix.k)
    drawn = matrix.draw(job.coin_source.entropy.stream("counts"), counts)
    record = TuplesRecord(
        counting=Practical(k=matrix.k, epsilon=matrix.epsilon, delta=matrix.delta),
        total=plan.total,
        declared=recoder.declared(names),
    )
    kept = drawn > 0
    return written_tuples(job, recoder.records(names), tuples.filter(pa.array(kept)), drawn[kept], record)


def _press_full(job: Job, recoder: Recoder, matrix: ClampedCounts) -> Written:
    """Every tuple of the domain has a noisy count, in the order of its codes."""
    names, domains = job.spec.published, job.profile.domains
    shape = tuple(domains[name].size for name in names)
    true = np.zeros(shape, np.int64)
    tuples, counts = counted(job, recoder, names, 1)
    true[tuple(domains[n].encode(tuples.column(n).combine_chunks(), n) for n in names)] = counts
    drawn = matrix.draw(job.coin_source.entropy.stream("counts"), true.ravel())
    table, shown = shown_of(drawn, {name: domains[name] for name in names})
    every = {name: DomainRecord.of(domains[name], False) for name in names}
    record = TuplesRecord(counting=Full(epsilon=matrix.rate, domains=every), total=job.plan_as(CountsPlan).total)
    return written_tuples(job, recoder.records(names), table, shown, record)
