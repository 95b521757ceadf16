"""A column as a tree sees it: a few bins, how the engine names them, and the channel between them.

    numbers      bins are runs of neighbouring values, told apart by thresholds halfway between them; missing ones come last
    categories   every value is a bin

A public column has the channel that keeps everything, so that what follows never asks which is which.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from scumble.core.arrow_types import decoded, is_number
from scumble.core.channel import Channel
from scumble.core.channel_base import BaseChannel
from scumble.core.domain import Domain, code_domain
from scumble.core.errors import InputError
from scumble.engines.engine import TABLE
from scumble.learn.training_rows import TrainingRows

MOST_CATEGORIES = 1000

Vector = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Axis:
    """A column cut into `size` bins."""

    name: str
    channels: Sequence[BaseChannel]
    """From bins to published ones, one for each stratum."""
    thresholds: Vector | None
    """Numbers: bin i holds what lies between thresholds i - 1 and i."""
    values: pa.Array | None
    """Categories: the value of each bin."""
    places: Codes | None = None
    """The published bin of each code, where codes are published and not values."""

    @property
    def size(self) -> int:
        """How many bins there are."""
        return self.channels[0].size

    @property
    def shown(self) -> int:
        """How many published bins there are."""
        return self.channels[0].codes

    @property
    def ordered(self) -> bool:
        """Whether the bins are runs of numbers."""
        return self.thresholds is not None

    @property
    def expression(self) -> exp.Expression:
        """The bin of a row as SQL: its number, or the category or code itself."""
        if self.places is not None:
            return _quoted(self.name)
        return self._cut(self.thresholds) if self.thresholds is not None else _quoted(self.name)

    def decode(self, column: pa.Array) -> Codes:
        """The published bins, from what the engine gave for the expression."""
        if self.places is not None:
            return np.asarray(self.places[column.to_numpy(zero_copy_only=False).astype(np.intp)])
        if self.thresholds is not None:
            return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.intp)
        return self.bins(column)

    def bins(self, column: pa.Array) -> Codes:
        """The bins of ordinary values; -1 for a category that was never seen."""
        if self.thresholds is not None:
            return np.searchsorted(self.thresholds, self._numbers(column), side="right").astype(np.intp)
        assert self.values is not None
        plain = decoded(column)
        try:
            bins = pc.index_in(plain.cast(self.values.type), value_set=self.values)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"column {self.name!r} has values of type {plain.type}, but was learned with values of type {self.values.type}"
            ) from None
        return np.asarray(bins.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.intp)

    def cells(self, sets: Sequence[npt.NDArray[np.bool_]]) -> tuple[Codes, int]:
        """The cell of each bin: what none of the sets of bins tells apart (runs, for numbers), and has one retention."""
        signature = np.stack(sets)
        if not all(channel.constant for channel in self.channels):
            cells = np.arange(self.size)
        elif self.ordered:
            cells = np.concatenate([[0], np.cumsum(np.any(np.diff(signature, axis=1), axis=0))])
        else:
            _, cells = np.unique(signature, axis=1, return_inverse=True)
        return np.asarray(cells, dtype=np.intp), int(cells.max()) + 1

    def cell_expression(self, cells: Codes) -> exp.Expression:
        """The cell of a row as SQL, or its code."""
        if self.places is not None:
            return _quoted(self.name)
        if self.thresholds is not None:
            return self._cut(self.thresholds[np.flatnonzero(np.diff(cells))])
        assert self.values is not None
        last = int(cells.max())
        ifs = [exp.If(this=self._among(cells == cell), true=exp.Literal.number(cell)) for cell in range(last)]
        return exp.Case(ifs=ifs, default=exp.Literal.number(last)) if ifs else exp.Literal.number(0)

    def cell_places(self, numbers: Vector) -> Codes:
        """The published cells, from what the engine gave for that."""
        cells = numbers.astype(np.intp)
        return cells if self.places is None else self.places[cells]

    def _cut(self, thresholds: Vector) -> exp.Expression:
        if not len(thresholds):
            return exp.Literal.number(0)
        number = exp.cast(_quoted(self.name), "DOUBLE")
        ifs = [
            exp.If(this=exp.LT(this=number.copy(), expression=_number(float(t))), true=exp.Literal.number(i))
            for i, t in enumerate(thresholds)
        ]
        return exp.Case(ifs=ifs, default=exp.Literal.number(len(thresholds)))

    def _among(self, members: npt.NDArray[np.bool_]) -> exp.Expression:
        assert self.values is not None
        listed = self.values.filter(pa.array(members)).to_pylist()
        known = [exp.convert(value) for value in listed if value is not None]
        parts: list[exp.Expression] = [exp.In(this=_quoted(self.name), expressions=known)] if known else []
        if None in listed:
            parts.append(exp.Is(this=_quoted(self.name), expression=exp.Null()))
        return exp.or_(*parts)

    def _numbers(self, column: pa.Array) -> Vector:
        try:
            return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(f"column {self.name!r} was learned as numbers, but has type {column.type}") from None


def category_axis(source: TrainingRows, name: str) -> Axis:
    """Every value a bin, sorted; the classes of a target too."""
    domain = source.published.domains.get(name)
    values = domain.values if domain is not None else _tally(source, name).column("v").combine_chunks()
    if len(values) > MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} has {len(values):,} values, more than the {MOST_CATEGORIES:,} categories a tree works with; "
            "coarsen it, or leave it out"
        )
    values = decoded(values)
    order = pc.sort_indices(values).to_numpy()
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    channels, places = _channels(source, name, place, len(order))
    return Axis(name, channels, None, values.take(pa.array(order)), places)


def feature_axis(source: TrainingRows, name: str, most: int) -> Axis:
    """Numbers in at most `most` bins of about as many rows each, categories as they are."""
    domain = source.published.domains.get(name)
    tally = _tally(source, name)
    kind = domain.type if domain is not None else tally.schema.field("v").type
    if not is_number(kind):
        return category_axis(source, name)
    if domain is None:
        numbers, mass = _public_mass(tally)
    else:
        numbers, mass = domain.numbers, _true_mass(source, name, domain, tally)
    order = np.argsort(numbers, kind="stable")  # NaN, which stands for a missing value, comes last
    fine = domain is not None and any(channel.traits is not None for channel in source.published.channels(name))
    runs = np.arange(len(order)) if fine else _runs(mass[order], most)
    cells = np.empty(len(order), dtype=np.intp)
    cells[order] = runs
    last = np.flatnonzero(np.diff(runs))
    before, after = numbers[order][last], numbers[order][last + 1]
    with np.errstate(invalid="ignore"):
        halfway = np.where(np.isfinite(before), before + (after - before) / 2, after)
    thresholds = np.where(np.isfinite(after), halfway, np.inf)
    count = int(runs[-1]) + 1 if len(runs) else 1
    channels, places = _channels(source, name, cells, count)
    return Axis(name, channels, thresholds, None, places)


def _runs(mass: Vector, most: int) -> Codes:
    """Neighbours put together into at most `most` runs of about the same mass, from masses that may be negative."""
    if len(mass) <= most:
        return np.arange(len(mass))
    up_to = np.maximum.accumulate(np.maximum(np.cumsum(mass), 0))
    begins = np.concatenate([[0.0], up_to[:-1]])
    level = np.minimum((begins / max(float(up_to[-1]), 1e-300) * most).astype(np.intp), most - 1)
    return np.asarray(np.unique(level, return_inverse=True)[1], dtype=np.intp)


def _public_mass(tally: pa.Table) -> tuple[Vector, Vector]:
    numbers = tally.column("v").cast(pa.float64()).to_numpy()
    return numbers, tally.column("n").cast(pa.float64()).to_numpy()


def _true_mass(source: TrainingRows, name: str, domain: Domain, tally: pa.Table) -> Vector:
    """The unbiased count of each value, summed over strata."""
    channels = source.published.channels(name)
    shown = code_domain(channels[0].codes) if channels[0].recoded else domain
    codes = shown.encode(tally.column("v").combine_chunks(), name)
    rows = tally.column("n").cast(pa.float64()).to_numpy()
    strata = tally.column("z").to_numpy() if "z" in tally.column_names else np.zeros(len(codes))
    total = np.zeros(domain.size)
    for i, channel in enumerate(channels):
        here = strata == i
        total += channel.solve(np.bincount(codes[here], weights=rows[here], minlength=channel.codes))
    return total


def _channels(source: TrainingRows, name: str, cells: Codes, count: int) -> tuple[list[BaseChannel], Codes | None]:
    """The channels of a column between bins, and the published bins of codes."""
    if name not in source.published.domains:
        return [Channel(1.0, size=max(1, count))] * len(source.published.strata), None
    channels = source.published.channels(name)
    places = channels[0].places(cells, count) if channels[0].recoded else None
    return [channel.collapse(cells, count) for channel in channels], places


def _tally(source: TrainingRows, name: str) -> pa.Table:
    """How many published rows have each value, in each stratum."""
    source.require(name)
    published = source.published
    rows: exp.Expression = exp.Sum(this=_quoted(published.weight)) if published.weight else exp.Count(this=exp.Star())
    keys = [_quoted(name).as_("v")]
    if published.stratum is not None and name in published.domains:
        keys.append(_quoted(published.stratum).as_("z"))
    statement = exp.select(*keys, rows.as_("n")).from_(TABLE)
    return source.engine.run(statement.group_by(*[exp.Literal.number(i + 1) for i in range(len(keys))]))


def _number(value: float) -> exp.Expression:
    return exp.convert(value) if np.isfinite(value) else exp.cast(exp.Literal.string("Infinity"), "DOUBLE")


def _quoted(name: str) -> exp.Column:
    return exp.column(name, quoted=True)
