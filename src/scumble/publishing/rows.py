"""Publishing row by row, every value through the coins of its column."""

from scumble.publishing.perturb import Independent
from scumble.publishing.row_pipeline import Job, Press, Printed


def publish_rows(job: Job) -> Printed:
    """Every row through the coins of its columns, fresh ones or those of a key."""
    coinage = job.coinage
    return Press(job, Independent(job.plan.coins, job.profile.domains, coinage.entropy, coinage.key)).run()
