"""Values that an object works out once, also where several threads ask for them at the same time."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801  it is written as `property` is
    """A property that is kept. Threads that come at the same time all work it out, and all get what the first one kept.

    There is no lock, which the child of a fork could find closed for ever.

    >>> class Table:
    ...     @once
    ...     def rows(self) -> list[int]:
    ...         return [1, 2]
    >>> table = Table()
    >>> table.rows is table.rows
    True
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "once[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> "once[T] | T":
        if instance is None:
            return self
        kept: T = instance.__dict__.setdefault(self._name, self._make(instance))
        return kept
