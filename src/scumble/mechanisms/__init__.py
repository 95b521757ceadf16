"""Algorithms that turn a profile of a table and a privacy target into a plan.

Each is loaded when it is named: some of them need SciPy, which takes a while.
"""

from importlib import import_module
from typing import Any

from scumble.core.errors import ParameterError, did_you_mean
from scumble.mechanisms.plan import Plan, Profile
from scumble.spec.spec import Spec

COUNTING: set[str] = {"identity", "swapped", "fine_grain", "partitioned", "anatomy"}
"""Mechanisms that plan with the counts of the sensitive columns, which one scan gives them."""

PLANNERS = {
    "uniform": ("uniform.plan", "plan"),
    "identity": ("own_values", "plan_identity"),
    "swapped": ("own_values", "plan_swapped"),
    "fine_grain": ("fine_grained.plan", "plan"),
    "partitioned": ("partitioned.plan", "plan"),
    "sps": ("sps.plan", "plan"),
    "k_dgs": ("k_dgs.plan", "plan"),
    "noisy_counts": ("noisy_counts.plan", "plan"),
    "columnized": ("columnized.plan", "plan"),
    "anatomy": ("anatomy.plan", "plan"),
    "frapp": ("frapp.plan", "plan"),
    "alpha_beta": ("alpha_beta.plan", "plan"),
    "perturbed_generalization": ("perturbed_generalization.plan", "plan"),
}
"""The module and the function that plan each mechanism."""

PURE = {"fine_grain": "fine_grain_channel", "partition": "partitioned.partitioning", "suppression": "suppression_odds"}
"""Planning as functions of counts, apart from tables and files, and the modules that have them."""

__all__ = ["COUNTING", "PLANNERS", "Plan", "Profile", "plan", *PURE]


def plan(profile: Profile, spec: Spec) -> Plan:
    """The plan of the mechanism that the spec names."""
    if spec.mechanism not in PLANNERS:
        raise ParameterError(f"there is no mechanism {spec.mechanism!r}{did_you_mean(spec.mechanism, PLANNERS)}")
    module, function = PLANNERS[spec.mechanism]
    made: Plan = getattr(import_module(f"scumble.mechanisms.{module}"), function)(profile, spec)
    return made


def __getattr__(name: str) -> Any:
    if name not in PURE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"scumble.mechanisms.{PURE[name]}"), name)
