"""Publishing by identity perturbation: values that are not retained become those of random rows."""

from scumble.publishing.perturb_own import OwnDistribution
from scumble.publishing.row_pipeline import Job, RowPipeline, Written


def publish(job: Job) -> Written:
    """Every row, its values kept or drawn anew from the column."""
    return RowPipeline(job, OwnDistribution(job.plan.replacing, job.profile.counts, job.coin_source.entropy)).run()
