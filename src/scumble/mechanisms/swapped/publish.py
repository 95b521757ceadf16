"""Publishing by swapping: values that are not retained are permuted among themselves."""

from scumble.publishing.perturb_own import Swapped
from scumble.publishing.row_pipeline import Job, Press, Printed


def publish(job: Job) -> Printed:
    """Every row, its values kept or exchanged."""
    return Press(job, Swapped(job.plan.coins, job.profile.counts, job.coinage.entropy)).run()
