"""Publishing row by row, every value through the coins of its column."""

from scumble.publishing.perturb import Independent
from scumble.publishing.row_pipeline import Job, RowPipeline, Written


def publish_rows(job: Job) -> Written:
    """Every row through the coins of its columns, fresh ones or those of a key."""
    coin_source = job.coin_source
    return RowPipeline(
        job, Independent(job.plan.coins, job.profile.domains, coin_source.entropy, coin_source.key)
    ).run()
