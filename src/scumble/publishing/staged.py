"""A plan in two stages: what was planned is memoised by key, and a fresh response is laid over it in every release.

The privacy target is that of the first stage, and so of all releases together. One release tells less.
"""

from dataclasses import replace
from typing import Any

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.errors import ParameterError
from scumble.core.parameters import probability
from scumble.core.staged_coins import StagedCoins
from scumble.forms.rows.record import RowsRecord
from scumble.mechanisms.facts import Facts
from scumble.mechanisms.mechanism import Mechanism
from scumble.mechanisms.plan import Plan, Profile
from scumble.release.terms import under_key
from scumble.spec.spec import Spec


def planned(chosen: Mechanism[Any], profile: Profile, spec: Spec) -> Plan:
    """The plan of a mechanism, in two stages where the spec says so."""
    plan: Plan = chosen.plan(profile, spec)
    return plan if spec.fresh is None else _staged(chosen, plan, spec.fresh, profile)


def _staged(chosen: Mechanism[Any], plan: Plan, fresh: Any, profile: Profile) -> Plan:
    kept = probability(fresh, "fresh")
    if not 0 < kept < 1:
        raise ParameterError(
            f"fresh is the probability with which the memoised response is published as it is, between 0 and 1, not {fresh!r}"
        )
    if not chosen.traits.keyed_coins:
        raise ParameterError(f"{chosen.name} has no coins by key, so that it memoises nothing; leave out fresh")
    if plan.mechanism != chosen.name:
        raise ParameterError(
            f"{chosen.name} would publish this by {plan.mechanism}, and a fresh response is laid over a mechanism that is named; "
            f"leave out fresh, or name {plan.mechanism}"
        )
    if not all(isinstance(coins, Coins) for stratum in plan.strata for coins in stratum.values()):
        raise ParameterError(
            f"{chosen.name} publishes codes, over which no fresh response is laid yet; leave out fresh, or use uniform or fine_grain"
        )
    if any(coins.shaped for stratum in plan.strata for coins in stratum.values()):
        raise ParameterError(
            f"{chosen.name} replaces by given shares, over which no fresh response is laid yet; leave out fresh, or use uniform or fine_grain"
        )
    if any(guarantee.under("once_by_counts") for guarantee in plan.guarantees):
        raise ParameterError(
            f"{chosen.name} takes its retentions from the table's counts here, which change with it; a memoised response needs retentions that stay: "
            "give weights, and no theta"
        )
    strata = [{name: _product(coins, kept) for name, coins in stratum.items()} for stratum in plan.strata]
    facts = Facts(
        mechanism=plan.mechanism,
        rows=0,
        roles=dict.fromkeys(strata[0], "sensitive"),
        strata=strata,
        from_data=profile.from_data,
        merged=False,
        row_by_row=True,
        joint=None,
        sampling=None,
        form=RowsRecord(),
        claims=plan.guarantees,
        disclosed=plan.depends_on_data,
    )
    terms = under_key(chosen.derive(facts), strata)
    return replace(
        plan,
        strata=strata,
        guarantees=terms.guarantees,
        depends_on_data=terms.depends_on_data,
        not_covered=terms.not_covered,
    )


def _product(coins: Any, kept: float) -> Coins:
    return StagedCoins.product(coins, Coins.of(Channel(kept, size=coins.size)))
