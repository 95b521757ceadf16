"""Publishing noisy marginals: one table for each, every combination of declared values with noise on its count."""

import numpy as np
import numpy.typing as npt

from scumble.core.arrow_types import decoded
from scumble.forms.records import DomainRecord, TableRecord
from scumble.forms.tuples.record import Marginals, SchemaRecord, TuplesRecord
from scumble.mechanisms.marginals.plan import MarginalsPlan
from scumble.publishing.copies import write_copies
from scumble.publishing.row_pipeline import Job, Written
from scumble.publishing.tuples import Recoder, shown_of
from scumble.release.records import FileRecord

Counts = npt.NDArray[np.int64]


def publish(job: Job) -> Written:
    """One table for each marginal."""
    plan = job.plan_as(MarginalsPlan)
    tables: list[TableRecord] = []
    files: list[FileRecord] = []
    for place, (marginal, true) in enumerate(zip(plan.marginals, true_counts(job, plan), strict=True)):
        drawn = marginal.noise.draw(job.coin_source.entropy.stream("counts", place), true)
        tuples, counts = shown_of(drawn, {name: plan.domains[name] for name in marginal.columns})
        name = f"marginal-{place + 1:02d}"
        written = write_copies(tuples, counts, job.folder, name)
        rows, paths = sum(file.rows or 0 for file in written), [file.path for file in written]
        tables.append(TableRecord(name=name, attributes=list(marginal.columns), rows=rows, files=paths))
        files += written
    columns = Recoder(job).records(job.spec.published)
    return Written(files, columns, sum(table.rows for table in tables), _record(plan, tables))


def _record(plan: MarginalsPlan, tables: list[TableRecord]) -> TuplesRecord:
    domains = {name: DomainRecord.of(domain, False) for name, domain in plan.domains.items()}
    counting = Marginals(epsilons=[marginal.noise.rate for marginal in plan.marginals], domains=domains)
    return TuplesRecord(
        counting=counting, total=None, schema=SchemaRecord(tables=tables, schema_from="given", c_star=len(tables))
    )


def true_counts(job: Job, plan: MarginalsPlan) -> list[Counts]:
    """The rows of each marginal's cells, in the order of its codes, in one scan of the table."""
    counts = [np.zeros(marginal.cells, np.int64) for marginal in plan.marginals]
    done = 0
    for batch in job.table.batches(list(plan.domains)):
        codes = {name: domain.encode(decoded(batch.column(name)), name) for name, domain in plan.domains.items()}
        for marginal, own in zip(plan.marginals, counts, strict=True):
            shape = [plan.domains[name].size for name in marginal.columns]
            cells = np.ravel_multi_index([codes[name].astype(np.int64) for name in marginal.columns], shape)
            np.add.at(own, cells, 1)
        done += batch.num_rows
        job.progress(done, job.table.rows)
    return counts
