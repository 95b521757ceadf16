"""Algorithms that turn a profile of a table and a privacy target into a plan."""

from collections.abc import Callable

from scumble.errors import ParameterError, did_you_mean
from scumble.mechanisms import columnized, fine_grained, k_dgs, noisy_counts, partitioned, sps, swapped, uniform
from scumble.mechanisms.fine_grain import fine_grain
from scumble.mechanisms.partition import partition
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.suppression import suppression
from scumble.schema import Spec

COUNTING: set[str] = {"identity", "swapped", "fine_grain", "partitioned"}
"""Mechanisms that plan with the counts of the sensitive columns, which one scan gives them."""

PLANNERS: dict[str, Callable[[Profile, Spec], Plan]] = {
    "uniform": uniform.plan,
    "sps": sps.plan,
    "identity": swapped.plan_identity,
    "swapped": swapped.plan_swapped,
    "fine_grain": fine_grained.plan,
    "partitioned": partitioned.plan,
    "k_dgs": k_dgs.plan,
    "noisy_counts": noisy_counts.plan,
    "columnized": columnized.plan,
}


def plan(profile: Profile, spec: Spec) -> Plan:
    """The plan of the mechanism that the spec names."""
    if spec.mechanism not in PLANNERS:
        raise ParameterError(f"there is no mechanism {spec.mechanism!r}{did_you_mean(spec.mechanism, PLANNERS)}")
    return PLANNERS[spec.mechanism](profile, spec)


__all__ = ["COUNTING", "PLANNERS", "Plan", "Profile", "fine_grain", "partition", "plan", "suppression"]
