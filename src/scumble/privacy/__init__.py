"""What an attacker can learn, in formulas: pure functions of channels and numbers."""

import importlib
from typing import Any

from scumble.privacy.rho import gamma, posterior_bound, posteriors

LATER = {
    "breach_limit": "scumble.privacy.breach",
    "condition_number": "scumble.privacy.reconstructability",
    "identity_safe": "scumble.privacy.breach",
    "largest_retention": "scumble.privacy.breach",
    "product_limit": "scumble.privacy.breach",
    "product_retention": "scumble.privacy.breach",
    "rows_needed": "scumble.privacy.reconstructability",
    "sample_size": "scumble.privacy.reconstruction",
}
"""Loaded when they are asked for: SciPy takes a while."""

__all__ = ["LATER", "gamma", "posterior_bound", "posteriors", *LATER]


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LATER[name]), name)
