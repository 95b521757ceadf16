"""Several answers as one, below each other: the groupings of CUBE and ROLLUP, and the parts of UNION ALL."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.query.estimates import Estimate, Estimates
from scumble.query.model import HIDDEN, Group, Query


def groupings(query: Query) -> list[Query]:
    """A question for each of its groupings."""
    if query.sets is None:
        return [query]
    return [_grouping(query, [query.groups[place] for place in sorted(places)]) for places in query.sets]


def _grouping(query: Query, groups: Sequence[Group]) -> Query:
    """The question by some of its groups; what the others are is not shown."""
    kept, every = {group.expression for group in groups}, {group.name for group in query.groups}
    outputs = [o for o in query.outputs if not isinstance(o, Group) or o.expression in kept]
    derived = query.derived
    if derived is not None:
        names = every - {group.name for group in groups}
        columns = [c for c in derived.columns if not (isinstance(c.expression, exp.Var) and c.expression.name in names)]
        if any(part.name in names for c in columns for part in c.expression.find_all(exp.Var)):
            raise QueryError(
                "a column of groups and aggregates cannot be answered with several groupings; ask for each grouping apart"
            )
        windows = [replace(window, by=window.by - names) for window in derived.windows]
        derived = replace(derived, columns=columns, windows=windows)
    return replace(query, outputs=outputs, groups=groups, sets=None, derived=derived)


def stacked(answers: Sequence[Estimates], query: Query) -> Estimates:
    """Their lines below each other, under the names of the first question; a group that a part does not have is missing in its lines."""
    shown = dict(query.shown)
    named = [*shown, *(name for name in answers[0].columns if name.startswith(HIDDEN))]
    titled = [_titled(answer, named) for answer in answers]
    columns, estimates = dict[str, pa.Array](), list[Estimate]()
    for name in named:
        if shown.get(name):
            columns[name] = _column([_group(answer, name) for answer in titled])
        else:
            estimates.append(_estimate([answer[name] for answer in titled]))
    notes = list(dict.fromkeys(note for answer in answers for note in answer.notes))
    return Estimates(named, pa.table(columns), estimates, answers[0].level, notes)


def _titled(answer: Estimates, names: Sequence[str]) -> Estimates:
    """An answer with the names of another, where it has as many columns."""
    if len(answer.columns) != len(names) or answer.columns == list(names):
        return answer
    became = dict(zip(answer.columns, names, strict=True))
    groups = answer.groups.rename_columns([became[name] for name in answer.groups.column_names])
    return Estimates(
        names, groups, [replace(e, name=became[e.name]) for e in answer.estimates], answer.level, answer.notes
    )


def _group(answer: Estimates, name: str) -> pa.Array:
    if name in answer.groups.schema.names:
        column = answer.groups.column(name)
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if any(e.name == name for e in answer.estimates):
        raise QueryError(
            f"column {name!r} of UNION ALL is a group in one part and an estimate in another; give each its own column"
        )
    return pa.nulls(len(answer))


def _column(parts: Sequence[pa.Array]) -> pa.Array:
    """Parts of one type; what is missing has any."""
    kinds = [part.type for part in parts if not pa.types.is_null(part.type)]
    kind = kinds[0] if kinds else pa.null()
    try:
        return pa.concat_arrays([part.cast(kind) for part in parts])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.concat_arrays([part.cast(pa.string()) for part in parts])


def _estimate(parts: Sequence[Estimate]) -> Estimate:
    value, se, low, high = (
        np.concatenate([getattr(e, name) for e in parts]) for name in ("value", "se", "low", "high")
    )
    methods = list(dict.fromkeys(e.method for e in parts if not e.exact)) or ["exact"]
    bound, least = (
        _ends([getattr(e, name) for e in parts], [len(e.value) for e in parts]) for name in ("bound", "least")
    )
    return Estimate(parts[0].name, value, se, low, high, methods[0], bound, least, any(e.spread for e in parts))


def _ends(
    parts: Sequence[np.ndarray[tuple[int], np.dtype[np.float64]] | None], lengths: Sequence[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [np.full(n, np.nan) if part is None else part for part, n in zip(parts, lengths, strict=True)]
    )
