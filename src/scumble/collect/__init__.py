"""Collecting: people perturb their own answers, and a server integrates what they send.

    survey     what is asked, through which channels, by whom and until when: public, signed, named by its digest
    perturb    one record -> one message, on the respondent's side
    Client     one person: the same coins for the same answer, a queue, and retries
    serve      a server that keeps perturbed answers, and gives estimates while they come in
    close      an ordinary release

The raw answer is on the respondent's device and nowhere else.
"""

from importlib import import_module
from typing import Any

from scumble.core.extras import need

_HOMES = {
    "Client": "scumble.collect.client",
    "Survey": "scumble.collect.survey",
    "open_survey": "scumble.collect.reading",
    "perturb": "scumble.collect.answers",
}

__all__ = ["Client", "Survey", "open_survey", "perturb"]


def __getattr__(name: str) -> Any:
    """Names are loaded when they are first used; messages need an extra, and its absence is told in a line."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not name.lower().endswith("survey"):
        need("msgspec", "collect")
    return getattr(import_module(_HOMES[name]), name)
