"""Publishing by sub-tables: every row is dealt into one, and goes through its coins."""

from scumble.mechanisms.partitioned.plan import SUBTABLE, PartitionPlan
from scumble.mechanisms.partitioned.subtables import Subtables
from scumble.publishing.row_pipeline import Job, RowPipeline, Written


def publish(job: Job) -> Written:
    """Every row into a sub-table, in exact counts."""
    (name,), plan = job.profile.domains, job.plan_as(PartitionPlan)
    coins = [stratum[name] for stratum in plan.replacing_strata]
    way = Subtables(name, SUBTABLE, coins, plan.partition.subtables, job.coin_source.entropy)
    written = RowPipeline(job, way).run()
    way.demand_spent()
    return written
