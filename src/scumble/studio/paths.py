"""Paths as people type them, in a form and in a command."""

from pathlib import Path

from scumble.core.errors import ParameterError


def place_of(folder: Path, given: str) -> Path:
    """What a form names, seen from a folder."""
    try:
        place = (folder / Path(given.strip()).expanduser()).resolve()
        place.exists()  # a name that is too long is refused by the system itself
    except (OSError, RuntimeError, ValueError):
        raise ParameterError(f"{given[:80]!r} cannot be a path; give one that there is on this machine") from None
    return place


def typed(path: str) -> str:
    """A path as a command takes it: one that begins with a dash would be an option."""
    return f"./{path}" if path.startswith("-") else path
