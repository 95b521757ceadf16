"""Tables as personal groups: generalised, counted, perturbed and asked, for reconstruction_privacy.py.

Everything an experiment needs is linear in the published counts of a group. With s sampled rows, weight W = n/s and b = (1-p)/m,

    estimate of the records of a group with value y:    W (O_y - s b) / p

so that a query is a sum over groups, and 5,000 of them one product of matrices.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.draws import below, perturb
from scumble.core.entropy import Entropy, Stream
from scumble.core.errors import ParameterError
from scumble.evaluate.workload import Parts
from scumble.evaluate.workload import Pool as Conditions
from scumble.mechanisms.sps.generalize import merge
from scumble.mechanisms.sps.sampling import rounded_split
from scumble.mechanisms.sps.settings import Settings
from scumble.mechanisms.sps.sizes import sampling_of

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Data:
    """Codes of the public attributes and of the sensitive one, record by record."""

    name: str
    public: dict[str, Counts]
    sensitive: Counts
    values: int

    @property
    def domains(self) -> list[int]:
        return [len(np.unique(codes)) for codes in self.public.values()]

    def groups(self) -> tuple[Counts, Counts]:
        """The public codes of each group (a column each), and its counts by sensitive value."""
        keys, place = np.unique(np.stack(list(self.public.values()), axis=1), axis=0, return_inverse=True)
        cells = place.reshape(-1) * self.values + self.sensitive
        return keys, np.bincount(cells, minlength=len(keys) * self.values).reshape(len(keys), self.values)

    def generalized(self, freedom: int | None = None, ordered: tuple[str, ...] = ()) -> "Data":
        """Values that the sensitive attribute does not tell apart are one."""
        merged = {}
        for name, codes in self.public.items():
            size = int(codes.max()) + 1
            counts = np.bincount(codes * self.values + self.sensitive, minlength=size * self.values)
            labels = merge(counts.reshape(size, self.values), ordered=name in ordered, freedom=freedom)
            merged[name] = labels[codes]
        return Data(self.name, merged, self.sensitive, self.values)

    def take(self, rows: Counts) -> "Data":
        public = {name: np.unique(codes[rows], return_inverse=True)[1] for name, codes in self.public.items()}
        return Data(self.name, public, self.sensitive[rows], self.values)


def read(name: str, path: str, public: list[str], sensitive: str) -> Data:
    table = pq.read_table(path)
    if name == "ADULT":
        whole = [pa.compute.not_equal(table.column(c), "?") for c in ("workclass", "occupation", "native_country")]
        table = table.filter(pa.compute.and_(pa.compute.and_(whole[0], whole[1]), whole[2]))
    codes = {
        c: np.unique(table.column(c).to_numpy(zero_copy_only=False), return_inverse=True)[1]
        for c in [*public, sensitive]
    }
    return Data(name, {c: codes[c] for c in public}, codes[sensitive], int(codes[sensitive].max()) + 1)


@dataclass(frozen=True, eq=False)
class Pool:
    """Count queries: which groups each takes (a row each), which value, and the answer."""

    groups: npt.NDArray[np.float32]
    value: Counts
    answer: npt.NDArray[np.float64]

    def error(self, estimates: npt.NDArray[np.float64]) -> float:
        """The mean relative error, from estimated counts of groups by values."""
        found = (self.groups @ estimates.astype(np.float32))[np.arange(len(self.value)), self.value]
        return float(np.mean(np.abs(found - self.answer) / self.answer))


def pool(original: Data, merged: Data, queries: int, seed: int) -> Pool:
    """Queries as the paper makes them: 1 to 3 attributes, original values at random, at least 0.1% of the records."""
    stream = Entropy.seeded(seed).stream("pool")
    keys, counts = merged.groups()
    names = list(original.public)
    to_merged = {n: dict(zip(original.public[n].tolist(), merged.public[n].tolist(), strict=True)) for n in names}
    raw_keys, raw_counts = original.groups()
    columns = [Parts.of(name, pa.chunked_array([raw_keys[:, i]])) for i, name in enumerate(names)]
    conditions = Conditions([column for column in columns if column], [], (1, 2, 3))
    rows: list[npt.NDArray[np.bool_]] = []
    values: list[int] = []
    while len(rows) < queries:
        chosen, raw = conditions.condition(stream)
        value, inside = int(below(stream, np.array([merged.values]))[0]), np.ones(len(keys), bool)
        for column, part in chosen:
            inside &= keys[:, names.index(column.name)] == to_merged[column.name][column.values[part]]
        if raw_counts[raw, value].sum() >= 0.001 * len(original.sensitive):
            rows.append(inside)
            values.append(value)
    mask, value_of = np.array(rows, dtype=np.float32), np.array(values)
    answer = (mask.astype(np.float64) @ counts)[np.arange(queries), value_of]
    return Pool(mask, value_of, answer)


def sizes(counts: Counts, p: float, how: dict[str, object] | None) -> Counts | None:
    """The sample size of each group: whole groups without settings; None where nothing may be published."""
    total = counts.sum(axis=1)
    if how is None:
        return total
    try:
        return sampling_of(Settings.model_validate(how), p, counts.shape[1]).of(total, counts.max(axis=1))
    except ParameterError:
        return None


def published(stream: Stream, counts: Counts, p: float, size: Counts) -> npt.NDArray[np.float64]:
    """One publication, as estimates of the counts of every group and value."""
    drawn = perturb(stream, rounded_split(stream, counts, size), p)
    weight = counts.sum(axis=1) / size
    return weight[:, np.newaxis] * (drawn - size[:, np.newaxis] * (1 - p) / counts.shape[1]) / p
