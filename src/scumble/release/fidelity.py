"""How well synthetic rows agree with the release that they were made from: tables of one and two columns, beside the release's own estimates."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.stopping import look
from scumble.release.axes import COUNT, Axis, keys_of

if TYPE_CHECKING:
    from scumble.release.release import Release

MOST_CELLS = 2000
"""Of a table that is compared."""
MOST_MARGINS = 100
Z = 1.96


@dataclass(frozen=True)
class Margin:
    """A table of counts by one or two columns, as the release estimates it and as synthetic rows have it."""

    names: tuple[str, ...]
    cells: int
    inside: int
    """Cells in which the synthetic rows, as many as the table has, lie in the release's interval, as far as drawing them lets be."""
    farthest: float
    """The largest distance of shares."""
    half: float
    """Half of a typical interval of the release, as a share."""
    exact: bool
    """Whether the release knows it without coins."""


def fidelity(release: "Release", rows: pa.Table) -> list[Margin]:
    """All tables of one and two columns that have few enough cells."""
    hidden = set(release.manifest.sensitive)
    axes = [Axis.of(n, None if n in hidden else pc.unique(rows.column(n))) for n in rows.column_names]
    places = {axis.name: axis.keys(rows.column(axis.name)) for axis in axes}
    sizes = {
        axis.name: release.manifest.domains[axis.name].size if axis.sensitive else len(set(places[axis.name]))
        for axis in axes
    }
    margins = []
    for some in [*((axis,) for axis in axes), *combinations(axes, 2)][:MOST_MARGINS]:
        look()
        if np.prod([sizes[axis.name] for axis in some]) <= MOST_CELLS:
            drawn = Counter(zip(*(places[axis.name] for axis in some), strict=True))
            margins.append(_margin(release, some, drawn, rows.num_rows))
    return margins


def _margin(release: "Release", axes: tuple[Axis, ...], drawn: Counter[tuple[object, ...]], count: int) -> Margin:
    answer = axes[0].counts(release, axes[1:], "unbiased")
    e = answer[COUNT]
    whole = float(np.nansum(e.value))  # of the table, which sampled releases have not all rows of
    share = np.array([drawn[key] for key in keys_of(answer)], dtype=np.float64) / count
    noise = Z * np.sqrt(np.maximum(share * (1 - share), 1 / count) / count) + 1 / count
    low, high, value = (np.nan_to_num(numbers) / whole for numbers in (e.low, e.high, e.value))
    inside = (low - noise <= share) & (share <= high + noise)
    names = tuple(axis.name for axis in axes)
    far, half = np.abs(share - np.clip(value, 0, 1)), (high - low) / 2
    return Margin(names, len(share), int(inside.sum()), float(far.max(initial=0)), float(np.median(half)), e.exact)
