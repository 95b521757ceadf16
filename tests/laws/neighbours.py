"""Whole outputs of neighbouring tables, compared in distribution.

A promise (epsilon, delta) says of every set S of outputs

    Pr[S | one table] <= e^epsilon Pr[S | its neighbour] + delta,        and the other way round

An output is all that leaves the command: every file of a release byte by byte, what is printed, and the exit code. Tables are tiny, so that outputs repeat.
Sets are single outputs and the likeliest set, chosen by a quarter of the runs and tried by the others. Probabilities have Clopper-Pearson bounds, all of
which hold together but for an error that is named:

    proved     ln of the largest ratio that the bounds leave no doubt of: above the promised epsilon the promise is refuted
    at most    ln of the largest ratio that they leave room for, of single outputs that are frequent: how far these can be from the promise

    python tests/laws/neighbours.py 2000 [PROMISE ...]       lines of the table of docs/audit.md, with so many runs of each table
"""

import hashlib
import io
import math
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import stats

import scumble
from scumble.cli import run
from scumble.spec.spec import Spec
from scumble.spec.toml import spec_toml

ERROR = 1e-6
"""The probability that any of the bounds of one comparison fails."""

FREQUENT = 0.01
"""The share of the runs that a frequent output has at least, by those that are not tried."""

OUT = "release"

Table: TypeAlias = "pa.Table | str"
"""Rows, or the text of a CSV file."""


@dataclass(frozen=True)
class Pair:
    """Two tables that a promise makes alike, and how they are published."""

    one: Table
    other: Table
    how: Mapping[str, Any]
    epsilon: float
    delta: float = 0.0
    neighbours: str = ""
    """What the other table has that the one has not."""


def output(table: Table, how: Mapping[str, Any], seed: int) -> str:
    """A digest of all that leaves `scumble publish`."""
    with tempfile.TemporaryDirectory() as place, chdir(place):
        name = _written(table)
        Path("spec.toml").write_text(spec_toml(Spec(table=name, **how), Path(place)), encoding="utf-8")
        printed, code = _run(["publish", "spec.toml", "-o", OUT, "--insecure-seed", str(seed)])
        seen = hashlib.sha256(f"{code} {printed}".encode())
        for file in sorted(path for path in Path(OUT).rglob("*") if path.is_file()):
            seen.update(f"{file} {file.stat().st_size} ".encode() + file.read_bytes())
        return seen.hexdigest()


def _written(table: Table) -> str:
    if isinstance(table, str):
        Path("table.csv").write_text(table, encoding="utf-8")
        return "table.csv"
    pq.write_table(table, "table.parquet")
    return "table.parquet"


def _run(arguments: list[str]) -> tuple[str, int]:
    """What a command prints, and its exit code."""
    printed = io.StringIO()
    argued = patch.object(sys, "argv", ["scumble", *arguments])
    with argued, warnings.catch_warnings(), redirect_stdout(printed), redirect_stderr(printed):
        warnings.simplefilter("always")
        code = run()
    return printed.getvalue(), code


def outputs(pair: Pair, runs: int) -> tuple[list[str], list[str]]:
    """The outputs of both tables, with coins that have nothing to do with each other."""
    return [output(pair.one, pair.how, 2 * i) for i in range(runs)], [
        output(pair.other, pair.how, 2 * i + 1) for i in range(runs)
    ]


@dataclass(frozen=True)
class Compared:
    """What the outputs of two tables tell of the largest ratio of probabilities, as ln, but for ERROR."""

    proved: float
    """Minus infinity: nothing."""
    at_most: float
    """Of frequent outputs; minus infinity where there are none."""
    frequent: float
    """The share of the runs that has them."""
    outputs: int


def compared(ones: Sequence[Any], others: Sequence[Any], delta: float = 0.0) -> Compared:
    """Both ways."""
    ways = [_one_way(a, b, delta) for a, b in ((ones, others), (others, ones))]
    return Compared(
        max(way.proved for way in ways),
        max(way.at_most for way in ways),
        min(way.frequent for way in ways),
        len({*ones, *others}),
    )


def refuted(pair: Pair, ones: Sequence[Any], others: Sequence[Any]) -> float:
    """The epsilon that the outputs prove; above the promised one it is refuted."""
    return compared(ones, others, pair.delta).proved


def _one_way(ones: Sequence[Any], others: Sequence[Any], delta: float) -> Compared:
    parts = [(outcomes[: len(outcomes) // 4], outcomes[len(outcomes) // 4 :]) for outcomes in (ones, others)]
    first, second = (Counter(part[0]) for part in parts)
    # the set that tells the tables apart best, by the runs that are not tried
    chosen = {outcome for outcome in first if first[outcome] > second[outcome]}
    many = [outcome for outcome, times in first.items() if times >= max(1, FREQUENT * len(parts[0][0]))]
    error = ERROR / (4 * (1 + len(many)))
    tried = (Counter(parts[0][1]), Counter(parts[1][1]))
    proved = [_bound(tried, outcomes, delta, error) for outcomes in (chosen, *({outcome} for outcome in many))]
    most = [_room(tried, outcome, delta, error) for outcome in many]
    share = sum(tried[0][outcome] for outcome in many) / max(1, sum(tried[0].values()))
    return Compared(max(proved), max(most, default=-math.inf), share, 0)


def _bound(tried: tuple[Counter[Any], Counter[Any]], outcomes: set[Any], delta: float, error: float) -> float:
    """ln((lower bound of the one - delta) / upper bound of the other)."""
    (low, _), (_, high) = (_probability(counts, outcomes, error) for counts in tried)
    return math.log((low - delta) / high) if low > delta else -math.inf


def _room(tried: tuple[Counter[Any], Counter[Any]], outcome: Any, delta: float, error: float) -> float:
    """ln((upper bound of the one - delta) / lower bound of the other)."""
    (_, high), (low, _) = (_probability(counts, {outcome}, error) for counts in tried)
    return -math.inf if high <= delta else math.log((high - delta) / low) if low > 0 else math.inf


def _probability(counts: Counter[Any], outcomes: set[Any], error: float) -> tuple[float, float]:
    return clopper_pearson(sum(counts[outcome] for outcome in outcomes), sum(counts.values()), error)


def clopper_pearson(hits: int, runs: int, error: float) -> tuple[float, float]:
    """Bounds on a probability, each of which fails with at most that error."""
    low = stats.beta.ppf(error, hits, runs - hits + 1) if hits else 0.0
    high = stats.beta.isf(error, hits + 1, runs - hits) if hits < runs else 1.0
    return float(low), float(high)


def rows(*counts: tuple[Any, Any, int]) -> pa.Table:
    """Rows of two columns, each as often as it says."""
    listed = [(a, b) for a, b, times in counts for _ in range(times)]
    return pa.table({"a": [a for a, _ in listed], "b": [b for _, b in listed]})


def lines(*rows: str) -> str:
    """A CSV file of two columns."""
    return "\n".join(["a,b", *rows]) + "\n"


PUBLIC: dict[str, Any] = {"columns": {"a": {"role": "public"}, "b": {"role": "public"}}}
LISTED: dict[str, Any] = {
    "columns": {"a": {"role": "sensitive", "values": ["x", "y"]}, "b": {"role": "sensitive", "values": ["u", "v"]}}
}
ONE: dict[str, Any] = {"columns": {"a": {"role": "sensitive", "values": ["x", "y", "z"]}, "b": {"role": "public"}}}
NUMBERS: dict[str, Any] = {
    "columns": {"a": {"role": "public", "type": "integer"}, "b": {"role": "public", "type": "text"}}
}
ALONE: dict[str, Any] = {"persons": "one row each"}
EPSILON: dict[str, Any] = {"privacy": {"epsilon": 1}}
PRACTICAL: dict[str, Any] = {"mechanism": "noisy_counts", "settings": {"k": 3, "delta": 0.05}, **EPSILON, **ALONE}
FULL: dict[str, Any] = {"mechanism": "noisy_counts", "settings": {"matrix": "full"}, **LISTED, **EPSILON, **ALONE}
MARGINALS: dict[str, Any] = {
    "mechanism": "marginals",
    "settings": {"marginals": [["a"], ["a", "b"]]},
    **LISTED,
    **EPSILON,
    **ALONE,
}
SCHEMA: dict[str, Any] = {"k": 2, "delta": 0.05, "schema": [["a"], ["b"]], "c_star": 1}
COLUMNIZED: dict[str, Any] = {"mechanism": "columnized", "settings": SCHEMA, **EPSILON, **ALONE}
UNIFORM: dict[str, Any] = {**ONE, **EPSILON, **ALONE}
DESIGN: dict[str, Any] = {"mechanism": "design", **ONE, "privacy": {"epsilon": 0.5}, **ALONE}
FRAPP: dict[str, Any] = {"mechanism": "frapp", **LISTED, **EPSILON, **ALONE}
RHO: dict[str, Any] = {"x": ["1/10", "1/4"], "y": ["1/10", "1/5"], "z": ["1/5", "1/3"]}
FINE: dict[str, Any] = {
    "mechanism": "fine_grain",
    **ONE,
    "settings": {"weights": "alike", "breaches": "both", "rho": RHO},
    **ALONE,
}

FEW, MORE = (rows(("x", "u", times), ("y", "v", 1)) for times in (7, 8))
"""Counts at which a tuple is published in some runs and suppressed in others."""
HALVED, AND_ONE = (rows(("x", "u", times), ("y", "v", 1)) for times in (12, 13))
"""The same where a row stays in one of two columns."""
TWO, CHANGED = rows(("x", "u", 1), ("y", "v", 1)), rows(("y", "u", 1), ("y", "v", 1))
WHOLE = ["1,u"] * 7
NAN = float(np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0])
"""A NaN with bits of its own."""


def largest_factor() -> float:
    """What fine_grain promises of anything, by its own release."""
    how: dict[str, Any] = {"mechanism": "fine_grain", "settings": FINE["settings"], "persons": "one row each"}
    release = scumble.publish(TWO, sensitive="a", public="b", domains={"a": ["x", "y", "z"]}, **how)
    (promise,) = [g for g in release.terms.guarantees if g.kind == "amplification"]
    return promise.parameters["epsilon"]


ADDED = "a row more of a frequent tuple"
VALUE = "one sensitive value"


def pairs() -> dict[str, Pair]:
    """Every promise that is about neighbours: one row added or removed, or one sensitive value changed."""
    return {
        "noisy_counts, practical": Pair(FEW, MORE, PRACTICAL | PUBLIC, 1, 0.05, ADDED),
        "noisy_counts, full": Pair(FEW, MORE, FULL, 1, 0, ADDED),
        "marginals": Pair(FEW, MORE, MARGINALS, 1, 0, ADDED),
        "columnized": Pair(HALVED, AND_ONE, COLUMNIZED | PUBLIC, 1, 0.05, ADDED),
        "uniform": Pair(TWO, CHANGED, UNIFORM, 1, 0, VALUE),
        "design": Pair(TWO, CHANGED, DESIGN, 0.5, 0, VALUE),
        "frapp": Pair(TWO, CHANGED, FRAPP, 1, 0, VALUE),
        "fine_grain, declared pairs": Pair(TWO, CHANGED, FINE, largest_factor(), 0, VALUE),
    }


def _rows_that_show() -> Iterator[tuple[str, Table, Table, dict[str, Any]]]:
    """What one row may do to types, refusals and bits: the row, both tables, and what is declared of them."""
    whole = lines(*WHOLE)
    for what, line in (
        ("a fraction", "1.5,v"),
        ("a word", "x,v"),
        ("nothing", ",v"),
        ("an empty text", '1,""'),
        ("too few fields", "7"),
        ("too many", "7,v,w"),
    ):
        yield f"{what} among whole numbers of a file", whole, lines(*WHOLE, line), NUMBERS
    seven = ("x", "u", 7), ("y", "v", 1)
    yield "a value outside of the domain", rows(*seven), rows(*seven, ("z", "u", 1)), LISTED
    yield "an empty text outside of the domain", rows(*seven), rows(*seven, ("", "u", 1)), LISTED
    yield "a zero with a sign", rows((0.0, "u", 7)), rows((0.0, "u", 7), (-0.0, "u", 1)), PUBLIC
    yield "a NaN with bits of its own", rows((math.nan, "u", 7)), rows((math.nan, "u", 7), (NAN, "u", 1)), PUBLIC


def odd_pairs() -> dict[str, Pair]:
    """One row more that a type, a refusal or a bit would tell, for every promise that is about all outputs."""
    promises = {"noisy_counts, practical": PRACTICAL, "columnized": COLUMNIZED}
    return {
        f"{name}: {what}": Pair(one, other, how | columns, 1, 0.05, what)
        for name, how in promises.items()
        for what, one, other, columns in _rows_that_show()
    }


@dataclass
class Lines:
    """Lines of the table of docs/audit.md."""

    runs: int
    names: list[str] = field(default_factory=list)

    def print(self) -> None:
        """Each promise as soon as its runs are done."""
        print(
            "| promise | neighbours differ in | epsilon | delta | runs of each | outputs | proved | frequent | at most |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for name, pair in {**pairs(), **odd_pairs()}.items():
            if name in self.names or not self.names:
                print(self._line(name, pair), flush=True)

    def _line(self, name: str, pair: Pair) -> str:
        seen = compared(*outputs(pair, self.runs), pair.delta)
        proved = "nothing" if seen.proved == -math.inf else f"{seen.proved:.3f}"
        room = (
            f"{seen.frequent:.1%} | {seen.at_most:.3f}" if math.isfinite(seen.at_most) else f"{seen.frequent:.1%} | -"
        )
        promised = f"{pair.epsilon:.4g} | {pair.delta:g}"
        return f"| {name.partition(':')[0]} | {pair.neighbours} | {promised} | {self.runs:,} | {seen.outputs:,} | {proved} | {room} |"


if __name__ == "__main__":
    os.environ["COLUMNS"] = "200"
    Lines(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2:]).print()
