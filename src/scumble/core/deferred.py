"""Functions of modules that are loaded when they are first called: a declaration is read without what it declares."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def deferred(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that is loaded when it is first called."""

    def call(*words: Any, **named: Any) -> Any:
        return getattr(import_module(module), name)(*words, **named)

    call.__name__, call.__qualname__, call.__module__ = name, name, module
    return call
