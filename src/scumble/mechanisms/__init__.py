"""Algorithms that turn a profile of a table and a privacy target into a plan."""

from collections.abc import Callable

from scumble.errors import ParameterError, did_you_mean
from scumble.mechanisms import swapped, uniform
from scumble.mechanisms.plan import Plan, Profile
from scumble.schema import Spec

COUNTING: set[str] = {"identity", "swapped"}
"""Mechanisms that plan with the counts of the sensitive columns, which one scan gives them."""

PLANNERS: dict[str, Callable[[Profile, Spec], Plan]] = {
    "uniform": uniform.plan,
    "identity": swapped.plan_identity,
    "swapped": swapped.plan_swapped,
}


def plan(profile: Profile, spec: Spec) -> Plan:
    """The plan of the mechanism that the spec names."""
    if spec.mechanism not in PLANNERS:
        raise ParameterError(f"there is no mechanism {spec.mechanism!r}{did_you_mean(spec.mechanism, PLANNERS)}")
    return PLANNERS[spec.mechanism](profile, spec)


__all__ = ["COUNTING", "PLANNERS", "Plan", "Profile", "plan"]
