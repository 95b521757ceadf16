"""Publishing by swapping: values that are not retained are permuted among themselves."""

from scumble.publishing.perturb_own import Swapped
from scumble.publishing.row_pipeline import Job, RowPipeline, Written


def publish(job: Job) -> Written:
    """Every row, its values kept or exchanged."""
    return RowPipeline(job, Swapped(job.plan.replacing, job.profile.counts, job.coin_source.entropy)).run()
