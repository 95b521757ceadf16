"""Tables, pools of count queries, and systems at equal privacy: what reproduce/thesis.py compares."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.channel import Channel
from scumble.core.domain import Categories
from scumble.core.entropy import Entropy
from scumble.evaluate.attacker import Attacker
from scumble.evaluate.settings import Setter
from scumble.evaluate.workload import Parts
from scumble.evaluate.workload import Pool as Conditions
from scumble.mechanisms.anatomy.plan import anatomize
from scumble.mechanisms.channel_utility import expected_error, record_utility
from scumble.mechanisms.partitioned.subtables import Subtables
from scumble.mechanisms.plan import Plan, Profile
from scumble.spec.spec import ColumnSpec, Spec

PUBLIC = ["age", "sex", "education", "marital", "race", "workclass", "country"]
SHARES = [0.001, 0.005, 0.01]
REPEAT = 3

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Table:
    """Coded public columns, the codes of the sensitive one, and how many values that has."""

    public: dict[str, npt.NDArray[np.int64]]
    codes: Codes
    size: int

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        return np.bincount(self.codes, minlength=self.size)

    def sample(self, rows: int) -> "Table":
        chosen = np.random.default_rng(rows).permutation(len(self.codes))[:rows]
        return Table({name: column[chosen] for name, column in self.public.items()}, self.codes[chosen], self.size)


def census(path: Path, sensitive: str) -> Table:
    table = pq.read_table(path, columns=[*PUBLIC, "occupation"])
    coded = {name: np.unique(table.column(name).to_numpy(), return_inverse=True)[1] for name in table.column_names}
    return Table(
        {n: c for n, c in coded.items() if n != sensitive},
        coded[sensitive].astype(np.uint8),
        int(coded[sensitive].max()) + 1,
    )


def zipf(size: int, skew: float, rows: int = 300_000, least: float = 0.0) -> npt.NDArray[np.int64]:
    """Counts by Zipf's law; values rarer than `least` are left out."""
    weights = np.arange(1, size + 1, dtype=float) ** -skew
    counts = np.rint(weights / weights.sum() * rows).astype(np.int64)
    return counts[counts > least * rows]


class Pool:
    """200 random conditions on 1 to 3 public columns, each with a count query for each value; truths and answers at once."""

    def __init__(self, table: Table) -> None:
        self.table, stream = table, Entropy.seeded(17).stream("pool")
        columns = [Parts.of(name, pa.chunked_array([codes])) for name, codes in table.public.items()]
        conditions = Conditions([column for column in columns if column], [], (1, 2, 3))
        found = [conditions.condition(stream)[1] for _ in range(200)]
        self.query, self.rows = np.repeat(np.arange(200), [len(rows) for rows in found]), np.concatenate(found)
        self.truth = self.counts(table.codes, table.size)

    def counts(self, codes: npt.NDArray[Any], size: int) -> Numbers:
        place = self.query * size + codes[self.rows].astype(np.int64)
        return np.bincount(place, minlength=200 * size).reshape(200, size).astype(float)

    def errors(self, estimate: Numbers) -> list[float]:
        """The mean error at each selectivity."""
        n = len(self.table.codes)
        return [
            float(np.mean(np.abs(estimate - self.truth)[on] / self.truth[on]))
            for on in (self.truth >= s * n for s in SHARES)
        ]


SYSTEMS = {
    "uniform": "uniform",
    "partitioned": "partitioned",
    "fine-grain": "fine_grain",
    "both": "partitioned, fine_grain inside",
}


def setter(counts: npt.NDArray[np.int64], rho1: float | None = None) -> Setter:
    """Mechanisms for one column with these counts, of which values up to rho1 are protected."""
    names = [str(code) for code in range(len(counts))]
    spec = Spec(columns={"x": ColumnSpec(role="sensitive", values=names)})
    profile = Profile({"x": Categories(names, pa.string())}, counts={"x": counts})
    return Setter(spec, profile, Attacker(["x"], {"x": counts}, None, rho1))


def planned(counts: npt.NDArray[np.int64], system: str, rho2: float, rho1: float | None = None) -> Plan:
    """The plan that bounds the posterior of every value up to rho1 by rho2, under the table's own frequencies."""
    mechanisms = setter(counts, rho1)
    return mechanisms.plan(mechanisms.at(SYSTEMS[system], rho2).spec)


def equal_privacy(counts: npt.NDArray[np.int64], rho1: float, rho2: float) -> dict[str, Plan]:
    return {system: planned(counts, system, rho2, rho1) for system in SYSTEMS}


def dealt(table: Table, made: Plan, entropy: Entropy) -> dict[str, Any]:
    """The sub-table of each row and its published code."""
    way = Subtables("x", "subtable", [s["x"] for s in made.strata], made.partition.subtables, entropy)
    return way.apply(0, {"x": table.codes}, None, way.prepare(0, {"x": table.codes}))


def answers(pool: Pool, made: Plan, seed: int) -> Numbers:
    """Publishes the table once and answers the whole pool."""
    table, entropy = pool.table, Entropy.seeded(seed)
    if made.mechanism != "partitioned":
        return np.asarray(
            made.channels[0]["x"]
            .solve(pool.counts(made.coins["x"].flip(table.codes, entropy.stream("coins")), table.size).T)
            .T
        )
    out = dealt(table, made, entropy)
    m, estimate = table.size, np.zeros_like(pool.truth)
    seen = pool.counts(out["subtable"].astype(np.int64) * m + out["x"], m * len(made.strata)).reshape(200, -1, m)
    for k, stratum in enumerate(made.channels):
        estimate += stratum["x"].solve(seen[:, k].T).T
    return estimate


def anatomy(pool: Pool, diversity: int, seed: int) -> Numbers:
    found = anatomize(pool.table.codes, pool.table.size, diversity, Entropy.seeded(seed).stream("anatomy"))
    values = found.values.toarray()
    kept = np.where(found.bucket < 0, len(values), found.bucket)
    matching = pool.counts(kept, len(values) + 1)[:, :-1]
    return np.asarray(matching @ (values / values.sum(axis=1, keepdims=True)))


def errors(pool: Pool, rho1: float, level: float) -> dict[str, list[float]]:
    """The mean error of each system at each selectivity; l of Anatomy is 1/rho2."""
    plans = equal_privacy(pool.table.counts, rho1, 1 / level)
    found = {
        name: np.mean([pool.errors(answers(pool, made, seed)) for seed in range(REPEAT)], axis=0).tolist()
        for name, made in plans.items()
    }
    return found | {
        "Anatomy": np.mean([pool.errors(anatomy(pool, int(level), seed)) for seed in range(REPEAT)], axis=0).tolist()
    }


def kept(made: Plan, counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Mean retention p over the records, and the mean probability that a record's value is unchanged."""
    if made.mechanism != "partitioned":
        channel = made.channels[0]["x"]
        return float(counts @ channel.retention / counts.sum()), record_utility(channel, counts)
    rows = made.partition.subtables
    parts = [(int(row.sum()), row, s["x"]) for row, s in zip(rows, made.channels, strict=True)]
    p = sum(float(row @ c.retention) for _, row, c in parts) / rows.sum()
    return p, sum(n * record_utility(c, row) for n, row, c in parts) / float(rows.sum())


def variances(channel: Channel, counts: npt.NDArray[np.int64]) -> Numbers:
    """The variance of the estimate of each value's count, exactly: sum_x k_x ([x = v] - s_v)^2, as `utility.expected_error` does it."""
    p, r, n = channel.retention, channel.replace, counts
    if np.any(p[r > 0] == 0):
        return np.array([expected_error(channel, n, np.eye(len(n))[[v]]) for v in range(len(n))])
    k = np.where(r > 0, n * (1 - p) / p + (n @ (1 - p)) * r / p**2, 0)
    s = (r / p) / (r / p).sum()
    return np.asarray(np.where(r > 0, k * (1 - 2 * s) + s**2 * k.sum(), 0))
