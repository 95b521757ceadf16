"""Publishing by identity perturbation: values that are not retained become those of random rows."""

from scumble.publishing.perturb_own import OwnDistribution
from scumble.publishing.row_pipeline import Job, Press, Printed


def publish(job: Job) -> Printed:
    """Every row, its values kept or drawn anew from the column."""
    return Press(job, OwnDistribution(job.plan.coins, job.profile.counts, job.coinage.entropy)).run()
