"""scumble: publish a table so that no row gives its person away, and the statistics still come back, with intervals.

release = scumble.publish("patients.csv", "flu.release", sensitive=["disease"], public=["age", "sex"], drop=["name"],
                          rho1="1/13", rho2="1/6", domain_from_data=True)
release.query("SELECT sex, disease, COUNT(*) AS patients FROM release GROUP BY sex, disease")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from scumble.api import init, ledger, open, plan, publish, verify
    from scumble.auditing import audit
    from scumble.collect.answers import perturb
    from scumble.collect.client import Client
    from scumble.core.channel import Channel
    from scumble.core.design import Design
    from scumble.core.errors import ScumbleError
    from scumble.evaluate import advise, compare
    from scumble.query.estimates import Estimates
    from scumble.release.explore import explore
    from scumble.release.release import Release
    from scumble.release.signing import sign
    from scumble.reporting import report

_HOMES = {
    "Channel": "scumble.core.channel",
    "Client": "scumble.collect",
    "Design": "scumble.core.design",
    "Estimates": "scumble.query.estimates",
    "Release": "scumble.release.release",
    "ScumbleError": "scumble.core.errors",
    "advise": "scumble.evaluate",
    "audit": "scumble.auditing",
    "compare": "scumble.evaluate",
    "explore": "scumble.release.explore",
    "init": "scumble.api",
    "ledger": "scumble.api",
    "open": "scumble.api",
    "perturb": "scumble.collect",
    "plan": "scumble.api",
    "publish": "scumble.api",
    "report": "scumble.reporting",
    "sign": "scumble.release.signing",
    "verify": "scumble.api",
}
_ROOMS = {
    room: f"scumble.{room}"
    for room in ("auditing", "collect", "errors", "evaluate", "learn", "mechanisms", "privacy", "reporting")
}

__all__ = [
    "Channel",
    "Client",
    "Design",
    "Estimates",
    "Release",
    "ScumbleError",
    "advise",
    "audit",
    "compare",
    "explore",
    "init",
    "ledger",
    "open",
    "perturb",
    "plan",
    "publish",
    "report",
    "sign",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Names are loaded when they are first used, so that `import scumble` is fast."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    raise AttributeError(f"module 'scumble' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS, "__version__"]
