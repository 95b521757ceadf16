"""Mechanisms: the ways to publish, one folder each, and the registry that names them.

Each is loaded when it is named: publishing by one imports no other. Other packages register theirs as an entry point of the group `scumble.mechanisms`
whose name is the mechanism's and whose value is the module that has its `MECHANISM`.
"""

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from scumble.core.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from scumble.mechanisms.mechanism import Mechanism

REGISTRY: dict[str, str] = {
    "uniform": "scumble.mechanisms.uniform",
    "design": "scumble.mechanisms.design",
    "mixture": "scumble.mechanisms.mixture",
    "shaped": "scumble.mechanisms.shaped",
    "fine_grain": "scumble.mechanisms.fine_grained",
    "partitioned": "scumble.mechanisms.partitioned",
    "identity": "scumble.mechanisms.identity",
    "swapped": "scumble.mechanisms.swapped",
    "frapp": "scumble.mechanisms.frapp",
    "anatomy": "scumble.mechanisms.anatomy",
    "perturbed_generalization": "scumble.mechanisms.perturbed_generalization",
    "sps": "scumble.mechanisms.sps",
    "k_dgs": "scumble.mechanisms.k_dgs",
    "noisy_counts": "scumble.mechanisms.noisy_counts",
    "columnized": "scumble.mechanisms.columnized",
    "marginals": "scumble.mechanisms.marginals",
    "alpha_beta": "scumble.mechanisms.alpha_beta",
}
"""The module of each mechanism, in the order in which they are compared."""

PURE = {
    "fine_grain": "scumble.mechanisms.fine_grain_channel",
    "partition": "scumble.mechanisms.partitioned.partitioning",
    "shape": "scumble.mechanisms.shaped_channel",
    "suppression": "scumble.mechanisms.suppression_odds",
}
"""Planning as functions of counts, apart from tables and files, and the modules that have them."""

__all__ = ["REGISTRY", "find_mechanism", "is_known", "names", *PURE]


def names() -> list[str]:
    """Every mechanism that is registered, here or by another package."""
    return list(dict.fromkeys([*REGISTRY, *_elsewhere()]))


def is_known(name: object) -> bool:
    """Whether a mechanism of this name is registered; other packages are looked through only for one that is not ours."""
    return isinstance(name, str) and (name in REGISTRY or name in _elsewhere())


def find_mechanism(name: str) -> "Mechanism[Any]":
    """The mechanism of a name."""
    module = REGISTRY.get(name) or _elsewhere().get(name)
    if module is None:
        raise ParameterError(f"there is no mechanism {name!r}{did_you_mean(name, names())}")
    mechanism: Mechanism[Any] = import_module(module).MECHANISM
    return mechanism


def _elsewhere() -> dict[str, str]:
    return _installed(tuple(sys.path))


@cache
def _installed(path: tuple[str, ...]) -> dict[str, str]:
    """What packages on a path register. It takes a look into all of them, a hundredth of a second, and a search asks thousands of times."""
    return {point.name: point.value for point in entry_points(group="scumble.mechanisms")}


def __getattr__(name: str) -> Any:
    if name not in PURE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(PURE[name]), name)
