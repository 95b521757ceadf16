"""What groups have in common: the effects of their public columns, as orthonormal columns of a design."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.errors import QueryError, did_you_mean

Numbers = npt.NDArray[np.float64]

FREE = 5
"""Groups that there must be beyond effects: what is left tells how far groups lie from the model."""
VALUES, LINE = "values", "line"
"""How a column has an effect: each of its values by itself, or as a straight line."""


@dataclass(frozen=True)
class Effects:
    """Effects of the columns of groups."""

    effects: dict[str, str]
    """How each column has one."""
    design: Numbers

    @property
    def sentence(self) -> str:
        """The model in words."""
        names = [name for name, how in self.effects.items() if how == VALUES]
        lines = [f"a straight line over {name}" for name, how in self.effects.items() if how == LINE]
        parts = [f"main effects of {' and '.join(names)}", *lines] if names else lines
        return " and ".join(parts) or "one mean of all groups"


def model_of(groups: pa.Table, known: int, names: Sequence[str] | None) -> Effects:
    """The effects of the named columns; of all where none are named, as far as groups are left to tell how well that does.

    A column with too many values for that is taken as a straight line where it has numbers or days, and is left out where it has none.

    known   of how many groups coins leave an estimate
    """
    demand_enough(known)
    if names is not None:
        return _named(groups, known, names)
    effects = dict.fromkeys(groups.column_names, VALUES)
    while known - (design := _design(groups, effects)).shape[1] < FREE:
        widest = max(effects, key=lambda name: (effects[name] == VALUES, len(pc.unique(groups.column(name)))))
        if effects[widest] == VALUES and numbers_of(groups.column(widest)) is not None:
            effects[widest] = LINE
        else:
            del effects[widest]
    return Effects(effects, design)


def demand_enough(count: int, effects: int = 1) -> None:
    """Refuses a model that leaves too few groups to tell how well it does."""
    if count - effects < FREE:
        raise QueryError(
            f"a model of {effects} effect{'s' * (effects > 1)} takes {effects + FREE} public groups of which coins leave an estimate, "
            f"and there are {count}; {'name fewer columns' if effects > 1 else 'ask by more groups'}, or with method unbiased"
        )


def _named(groups: pa.Table, known: int, names: Sequence[str]) -> Effects:
    effects = {}
    for name in names:
        if name not in groups.column_names:
            raise QueryError(
                f"the model names the public columns of GROUP BY, and {name!r} is none{did_you_mean(name, groups.column_names)}; "
                "join a code list that has it, and group by it as well"
            )
        effects[name] = VALUES if numbers_of(groups.column(name)) is None else LINE
    design = _design(groups, effects)
    demand_enough(known, design.shape[1])
    return Effects(effects, design)


def _design(groups: pa.Table, effects: dict[str, str]) -> Numbers:
    """All columns, without what follows from others."""
    columns = [np.ones((groups.num_rows, 1))]
    for name, how in effects.items():
        column = groups.column(name)
        line = numbers_of(column) if how == LINE else None
        columns.append(_of_values(column) if line is None else line)
    vectors, sizes, _ = np.linalg.svd(np.concatenate(columns, axis=1), full_matrices=False)
    return np.asarray(vectors[:, sizes > 1e-9 * sizes[0]])


def _of_values(column: pa.ChunkedArray) -> Numbers:
    codes = pc.dictionary_encode(column, null_encoding="encode").combine_chunks().indices.to_numpy()
    return np.asarray(np.eye(int(codes.max()) + 1)[codes])


def numbers_of(column: pa.ChunkedArray) -> Numbers | None:
    """The numbers or days of a column, standardised, and where some are missing which; None where it has none."""
    kind = column.type
    if pa.types.is_temporal(kind) and not pa.types.is_time(kind):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    missing = ~np.isfinite(numbers)
    if missing.all():
        return None
    centred = np.where(missing, 0.0, numbers - numbers[~missing].mean())
    largest = np.abs(centred).max()
    line = centred[:, None] / (largest if largest > 0 else 1.0)
    return np.concatenate([line, missing[:, None].astype(np.float64)], axis=1) if missing.any() else line
