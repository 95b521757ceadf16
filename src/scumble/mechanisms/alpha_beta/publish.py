"""Publishing by the (alpha, beta) algorithm: a set of tuples, some of the table's and some that nobody has, in the order of their values."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import published_type
from scumble.core.errors import TableError
from scumble.forms.records import DomainRecord
from scumble.forms.tuple_set.record import TupleSetRecord
from scumble.mechanisms.alpha_beta.plan import AlphaBeta, TupleSetPlan
from scumble.publishing.copies import write_copies
from scumble.publishing.row_pipeline import Job, Written
from scumble.release.records import ColumnRecord


def publish(job: Job) -> Written:
    """The set that is published."""
    made = job.plan_as(TupleSetPlan).alpha_beta
    domains = {name: job.profile.domains[name] for name in job.spec.published}
    drawn = made.publish(_tuples(job, made), job.coin_source.entropy.stream("tuples"))
    codes = zip(domains.items(), np.unravel_index(drawn, made.sizes), strict=True)
    table = pa.table({name: domain.values.take(pa.array(code)) for (name, domain), code in codes})
    files = write_copies(table, np.ones(len(drawn), np.int64), job.folder, "data")
    columns = [ColumnRecord(name=n, role="tuple", type=str(published_type(d.type))) for n, d in domains.items()]
    listed = {name: DomainRecord.of(domain, False) for name, domain in domains.items()}
    record = TupleSetRecord(alpha=made.alpha, beta=made.beta, domains=listed)
    return Written(files, columns, len(drawn), record)


def _tuples(job: Job, made: AlphaBeta) -> npt.NDArray[np.int64]:
    """Every row as a mixed-radix number."""
    names, parts, rows = job.spec.published, [], 0
    for batch in job.table.batches(names):
        codes = [job.profile.domains[n].encode(batch.column(n), n).astype(np.int64) for n in names]
        parts.append(np.ravel_multi_index(codes, made.sizes))
        rows += batch.num_rows
        job.progress(rows, job.table.rows)
    if not rows:
        raise TableError("the table has no rows, so there is nothing to publish")
    return np.concatenate(parts)
