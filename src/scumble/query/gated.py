"""A question behind its gate: DuckDB has read the text, and whatever happens is an answer or one sentence."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from scumble.core.errors import QueryError
from scumble.engines.duckdb.gate import Types, demand_one_select
from scumble.query.cells import beyond
from scumble.query.estimates import Estimates

Answered = TypeVar("Answered")


def gated(sql: str, tables: Mapping[str, Types], answer: Callable[[], Answered]) -> Answered:
    """The answer to a question over tables of these columns; what DuckDB would refuse has none.

    Where both refuse, the reason is that of whoever knows the release: it says what was meant.
    """
    refused = demand_one_select(sql, tables)
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            result = answer()
    except RecursionError:
        raise QueryError("the question is nested too deeply; ask a simpler one") from None
    if refused is not None:
        raise refused
    if isinstance(result, Estimates):
        _demand_finite(result)
    return result


def _demand_finite(answer: Estimates) -> None:
    """Refuses a number that is none: what is infinite has no standard error, and what overflows has a wrong one."""
    for estimate in answer.estimates:
        if np.isinf(estimate.value).any() or np.isinf(estimate.se).any():
            raise beyond(estimate.name)
