"""Truth values that an engine has given before: the conditions of a page or of a server come again with every question."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.engine import Predicates

MOST = 512
"""Conditions that are kept; then all are forgotten."""
LONGEST = 4096
"""Characters of a condition, and values of its column, that are worth keeping."""

Truths: TypeAlias = npt.NDArray[np.int8]


class KnownTruths:
    """Conditions by their text and column, each with the values that it was asked of. Without a lock, which the child of a fork could find closed."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[pa.Array, Truths]] = {}

    def of(self, asked: Predicates, ask: Callable[[Predicates], list[Truths]]) -> list[Truths]:
        """The truth values of predicates; those that are not known are asked for, all at once."""
        keys = [(predicate.sql(), name) for predicate, name, _ in asked]
        truths = [self._kept(key, values) for key, (_, _, values) in zip(keys, asked, strict=True)]
        missing = [place for place, truth in enumerate(truths) if truth is None]
        given = ask([asked[place] for place in missing]) if missing else []
        for place, truth in zip(missing, given, strict=True):
            truths[place] = self._keep(keys[place], asked[place][2], truth)
        return [truth for truth in truths if truth is not None]

    def _kept(self, key: tuple[str, str], values: pa.Array) -> Truths | None:
        known = self._known.get(key)
        return known[1] if known is not None and known[0].equals(values) else None

    def _keep(self, key: tuple[str, str], values: pa.Array, truth: Truths) -> Truths:
        if len(key[0]) <= LONGEST and len(values) <= LONGEST:
            if len(self._known) >= MOST:
                self._known.clear()
            truth = truth.copy()  # one of several that were given together
            truth.flags.writeable = False
            self._known[key] = values, truth
        return truth
