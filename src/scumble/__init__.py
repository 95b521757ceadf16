"""scumble: publish a table so that no row gives its person away, and the statistics still come back, with intervals.

release = scumble.publish("patients.csv", "flu.release", sensitive=["disease"], drop=["name"],
                          rho1="1/13", rho2="1/6", domain_from_data=True)
release.query("SELECT sex, disease, COUNT(*) AS patients FROM release GROUP BY sex, disease")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from scumble.api import open, plan, publish
    from scumble.channel import Channel
    from scumble.errors import ScumbleError
    from scumble.estimate import Estimates
    from scumble.release.release import Release

_HOMES = {
    "Channel": "scumble.channel",
    "Estimates": "scumble.estimate",
    "Release": "scumble.release.release",
    "ScumbleError": "scumble.errors",
    "open": "scumble.api",
    "plan": "scumble.api",
    "publish": "scumble.api",
}

__all__ = ["Channel", "Estimates", "Release", "ScumbleError", "open", "plan", "publish"]


def __getattr__(name: str) -> Any:
    """Names are loaded when they are first used, so that `import scumble` is fast."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in ("audit", "errors", "evaluate", "learn", "mechanisms", "privacy", "report"):
        return import_module(f"scumble.{name}")
    raise AttributeError(f"module 'scumble' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "audit", "errors", "evaluate", "learn", "mechanisms", "privacy", "report", "__version__"]
