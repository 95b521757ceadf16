"""Replacement by the column's own values: identity perturbation, and swapping.

    identity   a value that is not retained is redrawn from the column's own distribution (the value of a random row)
    swapped    the values that are not retained are permuted among themselves; the column keeps its exact counts

Both have P = p I + (1 - p) r 1^T with r the column's own distribution, which whoever has the release reconstructs from it: published
and true counts have the same mean. Both look better than uniform replacement, because replacements are plausible; and both protect
less: a rare value is hardly ever drawn, so seeing it all but proves it. With r_j = 1/n and p = 0.2, a value that one person has is
true with probability near 1 where it is seen. The guarantee that holds is against (1, rho1, rho2)-breaches,

    rho1 < (rho2 - p) / (1 - p)

which conditions on "published in S" and on the column's own distribution as prior.
"""

import math

from scumble.core.coins import own_threshold
from scumble.core.errors import ParameterError
from scumble.core.parameters import number
from scumble.mechanisms.own_values_terms import own_guarantee, terms_of
from scumble.mechanisms.plan import Plan, Profile
from scumble.privacy.breach import swapping_posterior
from scumble.spec.spec import NoSettings, Spec, Target

RARE = 20
"""A value with fewer rows than this is warned of by name."""


def plan_identity(profile: Profile, spec: Spec) -> Plan:
    """Fresh draws from the column's own distribution."""
    return _plan("identity", profile, spec)


def plan_swapped(profile: Profile, spec: Spec) -> Plan:
    """The column's own values, permuted."""
    return _plan("swapped", profile, spec)


def _plan(mechanism: str, profile: Profile, spec: Spec) -> Plan:
    spec.settings_as(NoSettings)
    targets = {name: spec.columns[name].privacy or spec.privacy for name in profile.domains}
    rows = float(profile.counts[next(iter(targets))].sum()) if mechanism == "swapped" else math.inf
    coins = {
        name: own_threshold(_retention(targets[name], mechanism, rows), profile.domains[name].size) for name in targets
    }
    asked = [
        own_guarantee(name, coins[name], number(target.rho1, "rho1"), number(target.rho2, "rho2"), rows)
        for name, target in targets.items()
        if target.rho1 is not None
    ]
    terms = terms_of(mechanism, list(coins), asked, profile.from_data)
    return Plan(
        mechanism,
        [coins],
        terms.guarantees,
        terms.depends_on_data,
        terms.not_covered,
        warnings=[text for name in coins if (text := _rare(name, profile, mechanism))],
    )


def _retention(target: Target, mechanism: str, rows: float) -> float:
    if target.gamma is not None or target.epsilon is not None:
        raise ParameterError(
            f"{mechanism} perturbation has no bound on gamma or epsilon, because replacements follow the data; "
            'give retain, or rho1 and rho2, or use mechanism = "uniform"'
        )
    retain = float(target.channel(2).retain)  # says what is wrong with the target
    if target.rho1 is None or target.rho2 is None:
        return retain
    low, high = number(target.rho1, "rho1"), number(target.rho2, "rho2")
    return _largest_retention(low, high, rows)


def _largest_retention(rho1: float, rho2: float, rows: float) -> float:
    """The largest p whose posterior stays below rho2, by bisection: it grows with p."""
    least, most = 0.0, 1.0
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (middle, most) if swapping_posterior(middle, rho1, rows) < rho2 else (least, middle)
    return least * (1 - 1e-9)  # the condition is strict


def _rare(name: str, profile: Profile, mechanism: str) -> str | None:
    counts = profile.counts[name]
    rare = [
        str(v) for v, c in zip(profile.domains[name].values.to_pylist(), counts.tolist(), strict=True) if 0 < c < RARE
    ][:100]
    if not rare:
        return None
    shown = ", ".join(rare[:5]) + (", ..." if len(rare) > 5 else "")
    some = "1 value" if len(rare) == 1 else f"{len(rare)} values"
    return (
        f"{mechanism} perturbation hides rare values badly, and {some} of {name!r} {'has' if len(rare) == 1 else 'have'} fewer than {RARE} rows ({shown}); "
        'merge them, or use mechanism = "uniform"'
    )
