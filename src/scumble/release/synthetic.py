"""Synthetic rows: draws from the joint of some columns, as a release lets it be estimated. They are made from the release alone; no row is a person's.

    p(z, x) = n_z / N  times  p(x | z)

z are the public columns, whose combinations are drawn as they were published. x are the sensitive ones together; p(x) is the likeliest, and p(x | z) is
log-linear with all pairs of a public column and x: of all joints that have the estimated tables of these pairs the one with the most entropy. These tables are
estimated by small_area where a public column has enough values, and are never negative. What three columns have in common beyond pairs is not in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.atomic import whole_file
from scumble.core.deferred import deferred
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError, QueryError, did_you_mean
from scumble.core.once import once
from scumble.core.stopping import look
from scumble.query.estimates import Estimates
from scumble.release.axes import COUNT, Axis, keys_of
from scumble.release.fidelity import Margin, fidelity

if TYPE_CHECKING:
    from scumble.release.release import Release

Numbers = npt.NDArray[np.float64]

MOST_CELLS = 2_000_000
"""Combinations of public values times those of sensitive ones, at most."""
MOST_VALUES = 4096
"""Combinations of sensitive values, at most."""
MOST_ROWS = 20_000_000
SWEEPS = 60
"""Over all pairs of columns, until their tables agree."""
CLOSE = 1e-7
LEAST_ROWS = 10
"""Rows that a value of a public column has on average, where its pair with x is estimated."""
HALF = 0.5
"""A row that every public value has of what all rows have: where coins leave 0 for what differs between columns, no combination is lost."""
KINDS = (".parquet", ".csv")

fidelity_page = deferred("scumble.reporting.fidelity", "page")


@dataclass(frozen=True)
class Synthetic:
    """Rows that are no person's, and what they were made from."""

    release: "Release"
    rows: pa.Table
    """The columns that were asked for."""
    apart: Sequence[str]
    """Public columns with so many values that what they have to do with sensitive ones could not be estimated."""

    @property
    def mark(self) -> str:
        """What the rows are."""
        parts = self.release.parts or [self.release]
        return f"synthetic, made from {self.release.title} {', '.join(part.manifest.digest for part in parts)}"

    def to_arrow(self) -> pa.Table:
        """The rows, with a column before all others that says what they are."""
        name = "synthetic"
        while name in self.rows.column_names:
            name += "_"
        said = pa.array([self.mark]).dictionary_encode()
        column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(self.rows), dtype=np.int32)), said.dictionary)
        return self.rows.add_column(0, name, column).replace_schema_metadata({"scumble": f"{self.mark}; not data"})

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return self.to_arrow().to_pandas()

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @once
    def fidelity(self) -> list[Margin]:
        """Which tables of one and two columns agree with the release's own estimates."""
        return fidelity(self.release, self.rows)

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """A Parquet or CSV file of them."""
        path = Path(path)
        demand_kind(path)
        with whole_file(path, overwrite=overwrite) as aside:
            if path.suffix.lower() == ".csv":
                from pyarrow import csv

                csv.write_csv(self.to_arrow(), aside)
            else:
                import pyarrow.parquet as pq

                pq.write_table(self.to_arrow(), aside)
        return path

    def page(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """A page about how well they agree with the release (needs scumble[report])."""
        path = Path(path)
        text = str(fidelity_page(self))
        with whole_file(path, overwrite=overwrite) as aside:
            aside.write_text(text, encoding="utf-8")
        return path


def demand_kind(path: Path) -> None:
    """Refuses a file of another kind."""
    if path.suffix.lower() not in KINDS:
        raise ParameterError(
            f"synthetic rows are written to a file that ends in {' or '.join(KINDS)}, not to {str(path)!r}"
        )


def synthesize(release: "Release", count: int | None, columns: Sequence[str] | None, seed: int | None) -> Synthetic:
    """So many draws from the joint of some columns, all of them where none are named."""
    if not release.manifest.view.row_by_row:
        raise ParameterError(
            f"synthetic rows are drawn from releases whose rows are persons' with coins of their own, which {release.title} is not; ask it for counts instead"
        )
    count = release.manifest.rows if count is None else count
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= MOST_ROWS:
        raise ParameterError(f"how many rows to draw is a whole number from 1 to {MOST_ROWS:,}, not {count!r}")
    joint = EstimatedJoint.of(release, _chosen(release, columns))
    entropy = Entropy.system() if seed is None else Entropy.seeded(seed)
    return joint.drawn(count, entropy)


def _chosen(release: "Release", columns: Sequence[str] | None) -> list[str]:
    known = [c.name for c in release.manifest.columns if c.role in ("public", "sensitive")]
    names = known if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if name not in known:
            raise ParameterError(f"column {name!r} is not in the release{did_you_mean(name, known)}")
    if not names or len(set(names)) < len(names):
        raise ParameterError("name one column or more, each once")
    return [name for name in known if name in names]


@dataclass(frozen=True)
class EstimatedJoint:
    """The joint of some columns: combinations of public values by combinations of sensitive ones."""

    release: "Release"
    names: Sequence[str]
    public: pa.Table
    sensitive: pa.Table
    weights: Numbers
    apart: Sequence[str]

    @classmethod
    def of(cls, release: "Release", names: Sequence[str]) -> "EstimatedJoint":
        """As the release lets it be estimated."""
        hidden = [name for name in names if name in release.manifest.sensitive]
        open_ = [name for name in names if name not in hidden]
        _demand_values(release, hidden)
        cells, rows = _counted(release, [Axis(name, False) for name in open_], open_)
        values, shares = _counted(release, [Axis(name, True) for name in hidden], hidden)
        if len(rows) * len(shares) > MOST_CELLS:
            raise QueryError(
                f"the joint of these columns has {len(rows):,} combinations of public values times {len(shares):,} of sensitive ones, "
                f"and {MOST_CELLS:,} can be estimated; name fewer columns, or leave out those with many values"
            )
        weights = np.outer(rows, shares / shares.sum())
        pairs: list[Pair] = []
        apart: list[str] = []
        for name in open_ if hidden else ():
            axis = Axis.of(name, pc.unique(cells.column(name)))
            found = _pair(release, axis, cells, values, shares)
            if found is None:
                apart.append(name)
            else:
                pairs.append(found)
        return cls(release, names, cells, values, _fitted(weights, rows, pairs), apart)

    def drawn(self, count: int, entropy: Entropy) -> Synthetic:
        """Independent draws."""
        ends = np.cumsum(self.weights.reshape(-1))
        points = entropy.stream("synthetic").integers(count, 64).astype(np.float64) / 2.0**64 * ends[-1]
        places = np.minimum(np.searchsorted(ends, points, side="right"), len(ends) - 1)
        public, sensitive = np.divmod(places, self.weights.shape[1])
        columns = {n: self.public.column(n).take(pa.array(public)) for n in self.public.column_names}
        columns |= {n: self.sensitive.column(n).take(pa.array(sensitive)) for n in self.sensitive.column_names}
        return Synthetic(self.release, pa.table({name: columns[name] for name in self.names}), self.apart)


def _demand_values(release: "Release", hidden: Sequence[str]) -> None:
    sizes = {name: release.manifest.domains[name].size for name in hidden}
    if (product := float(np.prod(list(sizes.values()) or [1]))) > MOST_VALUES:
        raise QueryError(
            f"{' and '.join(hidden)} have {product:,.0f} combinations of values, and the joint of {MOST_VALUES:,} can be estimated; name fewer of them"
        )


def _likeliest(axis: Axis, release: "Release", others: Sequence[Axis]) -> Estimates:
    """Counts by the best method that answers them."""
    for method in ("small_area", "likelihood"):
        try:
            return axis.counts(release, others, method)
        except QueryError:
            look()
    return axis.counts(release, others, "unbiased")


def _counted(release: "Release", axes: Sequence[Axis], names: Sequence[str]) -> tuple[pa.Table, Numbers]:
    """Combinations of values, and how many rows have them."""
    if not axes:
        return pa.table({}), np.ones(1)
    answer = _likeliest(axes[0], release, axes[1:])
    rows = np.maximum(np.nan_to_num(answer[COUNT].value), 0)
    kept = np.flatnonzero(rows > 0)
    if not len(kept):
        raise QueryError(
            "coins leave nothing to draw from: no combination of these columns has an estimate above 0; name fewer columns"
        )
    return answer.groups.take(pa.array(kept)).rename_columns(list(names)), rows[kept]


Pair = tuple[npt.NDArray[np.intp], Numbers]
"""The place of each combination of public values on an axis, and the table of that axis by sensitive combinations."""


def _pair(release: "Release", axis: Axis, cells: pa.Table, values: pa.Table, shares: Numbers) -> Pair | None:
    """The estimated table of a public column by all sensitive ones; None where it has too many values."""
    keys = axis.keys(cells.column(axis.name))
    known = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    if len(known) * LEAST_ROWS > release.manifest.rows:
        return None
    answer = _likeliest(axis, release, [Axis(name, True) for name in values.column_names])
    combined = {key: place for place, key in enumerate(zip(*(c.to_pylist() for c in values.columns), strict=True))}
    table = np.tile(HALF * shares / shares.sum(), (len(known), 1))
    for (own, *others), number in zip(keys_of(answer), answer[COUNT].value, strict=True):
        if own in known and tuple(others) in combined:
            table[known[own], combined[tuple(others)]] += max(number, 0.0)
    return np.array([known[key] for key in keys], dtype=np.intp), table


def _fitted(weights: Numbers, rows: Numbers, pairs: Sequence[Pair]) -> Numbers:
    """Weights whose tables of pairs are the estimated ones, with the rows of each public combination."""
    total = weights.sum(axis=0)
    targets = []
    for places, table in pairs:
        of_value = np.bincount(places, weights=rows, minlength=len(table)).astype(np.float64)
        for _ in range(SWEEPS):
            table = table * _ratio(of_value, table.sum(axis=1))[:, None]
            table = table * _ratio(total, table.sum(axis=0))
        targets.append((places, table))
    for _ in range(SWEEPS):
        look()
        before = weights
        for places, table in targets:
            own = np.zeros_like(table)
            np.add.at(own, places, weights)
            weights = weights * _ratio(table, own)[places]
        weights = weights * _ratio(rows, weights.sum(axis=1))[:, None]
        if np.abs(weights - before).max() <= CLOSE * rows.max():
            break
    return weights


def _ratio(wanted: Numbers, found: Numbers) -> Numbers:
    return np.asarray(np.divide(wanted, found, out=np.zeros_like(found), where=found > 0))
