"""What an attacker can learn, in formulas: pure functions of channels and numbers."""

from typing import Any

from scumble.privacy.rho import gamma, posterior_bound, posteriors

__all__ = ["breach_limit", "gamma", "posterior_bound", "posteriors", "sample_size"]

LATER = {"sample_size": "scumble.privacy.reconstruction", "breach_limit": "scumble.privacy.breach"}
"""Loaded when they are asked for: SciPy's distributions take a while."""


def __getattr__(name: str) -> Any:
    import importlib

    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LATER[name]), name)
