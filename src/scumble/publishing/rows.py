"""Publishing row by row, every value through the coins of its column."""

from scumble.publishing.keyed import KeyedCoins
from scumble.publishing.perturb import Independent
from scumble.publishing.row_pipeline import Job, RowPipeline, Written


def publish_rows(job: Job) -> Written:
    """Every row through the coins of its columns, fresh ones or those of a key."""
    return RowPipeline(job, Independent(job.plan.coins, job.coin_source.entropy, keyed_coins(job))).run()


def keyed_coins(job: Job) -> dict[str, KeyedCoins]:
    """The coins of each sensitive column by the key, where there is one."""
    source, domains = job.coin_source, job.profile.domains
    if source.key is None:
        return {}
    return {
        name: KeyedCoins(
            source.key, job.spec.columns[name].attribute or name, domains[name], coins, source.occurrence is not None
        )
        for name, coins in job.plan.coins.items()
    }
