"""MIN, MAX, COUNT(DISTINCT x) and quantiles of public columns, where nothing perturbed chooses the rows: the published table says them exactly."""

import numpy as np
import pyarrow as pa

from scumble.core.arrow_types import is_number
from scumble.core.errors import QueryError
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import count, select
from scumble.query.aggregates.aggregation import LINEAR
from scumble.query.cells import Cells, public_groups
from scumble.query.model import Aggregate, written
from scumble.query.on_domains import hidden
from scumble.query.plain import value_of
from scumble.query.terms import Tensor
from scumble.query.totals import Totals

DRAWN = "cannot be answered: rows of persons were drawn, and those that were not may have other values"


def exact_orders(totals: Totals, cells: Cells, engine: Engine) -> dict[str, Tensor]:
    """Each of them, for the lines of the answer; what a perturbed column decides is refused, but for quantiles of such columns."""
    question = totals.question
    asked = [a for a in question.query.aggregates if a.kind not in LINEAR and not _estimated(a, totals)]
    if not asked:
        return {}
    for aggregate in asked:
        _demand_exact(aggregate, totals)
    keys = {f"g{i}": group.expression for i, group in enumerate(question.publics)}
    wanted = {f"o{i}": value_of(aggregate) for i, aggregate in enumerate(asked)}
    table = engine.run(select({**keys, **wanted, "n": count()}, TABLE, question.conditions.filter, len(keys)))
    _, places = public_groups(table, len(keys))
    return {a.name: _numbers(table.column(f"o{i}"), places, a) for i, a in enumerate(asked)}


def _estimated(aggregate: Aggregate, totals: Totals) -> bool:
    """Whether it is a quantile of perturbed numbers."""
    assert aggregate.value is not None
    return aggregate.kind == "quantile" and bool(hidden(aggregate.value, totals.question.published.domains))


def _demand_exact(aggregate: Aggregate, totals: Totals) -> None:
    domains, query = totals.question.published.domains, totals.question.query
    assert aggregate.value is not None
    assert aggregate.function is not None
    asked = written(aggregate.function)
    if names := hidden(aggregate.value, domains):
        raise QueryError(
            f"{asked} cannot be answered: single rows decide it, and {names[0]!r} is perturbed; its possible values are public. "
            f"Ask for QUANTILE_CONT({names[0]}, 0.01) or 0.99, or for COUNT(*) by {names[0]}"
        )
    parts = [g.expression for g in query.groups] + ([query.where] if query.where is not None else [])
    chosen = [name for part in parts for name in hidden(part, domains)]
    if chosen:
        raise QueryError(
            f"{asked} cannot be answered: which rows it is taken over depends on {chosen[0]!r}, which is perturbed, and single rows decide it. "
            "Ask for AVG, SUM or STDDEV, or for COUNT(*) in ranges"
        )
    if totals.question.published.drawn is not None:
        raise QueryError(f"{asked} {DRAWN}; ask for AVG, SUM or STDDEV, or for COUNT(*) in ranges")
    if totals.question.published.weighted and aggregate.kind == "quantile":
        raise QueryError(
            f"{asked} cannot be answered: published rows are a sample that stands for others; ask for AVG or STDDEV"
        )


def _numbers(
    column: pa.ChunkedArray, places: np.ndarray[tuple[int], np.dtype[np.intp]], aggregate: Aggregate
) -> Tensor:
    kind = column.type
    if not is_number(kind) and not pa.types.is_boolean(kind):
        raise QueryError(
            f"{aggregate.name!r} is no number but {kind}, and an answer has numbers; ask for its values by SELECT DISTINCT"
        )
    whole = column.combine_chunks()
    plain = whole.cast(pa.int8()) if pa.types.is_boolean(kind) else whole
    numbers = np.full(len(places), np.nan)
    numbers[places] = plain.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers
