"""Optional dependencies: imported where they are used, and missing ones named with the line that installs them."""

import importlib
from types import ModuleType

from scumble.core.errors import InputError


def need(module: str, extra: str | None = None) -> ModuleType:
    """The module, or an error that says how to get it: by its own name, or by the extra of scumble that brings it.

    >>> need("no_such_module")
    Traceback (most recent call last):
    ...
    scumble.core.errors.InputError: this needs no_such_module, which is not installed: pip install no_such_module
    >>> need("no_such_module", "learn")
    Traceback (most recent call last):
    ...
    scumble.core.errors.InputError: this needs no_such_module, which is not installed: pip install 'scumble[learn]'
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        line = f"'scumble[{extra}]'" if extra else module
        raise InputError(f"this needs {module}, which is not installed: pip install {line}") from None
