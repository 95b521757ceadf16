"""Publishing row by row, every value through the coins of its column."""

from scumble.core.staged_coins import memoised
from scumble.mechanisms.plan import Plan, Profile
from scumble.publishing.keyed import KeyedCoins
from scumble.publishing.perturb import Independent
from scumble.publishing.row_pipeline import CoinSource, Job, RowPipeline, Written
from scumble.spec.spec import Spec


def publish_rows(job: Job) -> Written:
    """Every row through the coins of its columns, fresh ones or those of a key."""
    keyed = keyed_coins(job.plan, job.profile, job.spec, job.coin_source)
    return RowPipeline(job, Independent(job.plan.coins, job.coin_source.entropy, keyed)).run()


def keyed_coins(plan: Plan, profile: Profile, spec: Spec, source: CoinSource) -> dict[str, KeyedCoins]:
    """The coins of each sensitive column by the key, where they come from one."""
    if source.key is None or not source.by_key:
        return {}
    several = source.occurrence is not None
    return {
        name: KeyedCoins(
            source.key, spec.columns[name].attribute or name, profile.domains[name], memoised(coins), several
        )
        for name, coins in plan.coins.items()
    }
