"""Whole outputs of neighbouring tables, compared in distribution.

A promise (epsilon, delta) says of every set S of outputs

    Pr[S | one table] <= e^epsilon Pr[S | its neighbour] + delta,        and the other way round

An output is all that leaves: every file of a release byte by byte, every warning, or the refusal. Tables are tiny, so that outputs repeat. Sets are single outputs
and the likeliest set, chosen by one half of the runs and tried by the other. Probabilities have Clopper-Pearson bounds, all of which hold together but for an
error that is named: a promise is refuted where a lower bound passes what an upper bound allows.

    python tests/laws/neighbours.py 2000        the table of docs/audit.md, with so many runs of each table
"""

import hashlib
import math
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from scipy import stats

import scumble
from scumble.core.errors import ScumbleError

ERROR = 1e-6
"""The probability that any of the bounds of one comparison fails."""


@dataclass(frozen=True)
class Pair:
    """Two tables that a promise makes alike, and how they are published."""

    one: Any
    other: Any
    how: Mapping[str, Any]
    epsilon: float
    delta: float = 0.0


def output(table: Any, how: Mapping[str, Any], seed: int) -> str:
    """A digest of all that leaves."""
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        out, seen = Path(place) / "release", hashlib.sha256()
        try:
            scumble.publish(table, out, seed=seed, **how)
        except ScumbleError as error:
            seen.update(f"{type(error).__name__} {error}".encode())
        for file in sorted(path for path in out.rglob("*") if path.is_file()):
            seen.update(f"{file.relative_to(out)} {file.stat().st_size} ".encode() + file.read_bytes())
        for warning in said:
            seen.update(str(warning.message).encode())
        return seen.hexdigest()


def outputs(pair: Pair, runs: int) -> tuple[list[str], list[str]]:
    """The outputs of both tables, with coins that have nothing to do with each other."""
    return [output(pair.one, pair.how, 2 * i) for i in range(runs)], [
        output(pair.other, pair.how, 2 * i + 1) for i in range(runs)
    ]


def refuted(pair: Pair, ones: list[Any], others: list[Any]) -> float:
    """The epsilon that the outputs prove, but for ERROR; above the promised one it is refuted. Minus infinity: they prove nothing."""
    proved = [_proved(a, b, pair.delta) for a, b in ((ones, others), (others, ones))]
    return max(proved)


def _proved(ones: list[Any], others: list[Any], delta: float) -> float:
    halves = [(outcomes[: len(outcomes) // 2], outcomes[len(outcomes) // 2 :]) for outcomes in (ones, others)]
    first, second = (Counter(half[0]) for half in halves)
    # the set that tells the tables apart best, by the halves that are not tried
    chosen = {outcome for outcome in first if first[outcome] > second[outcome]}
    singles = [outcome for outcome, _ in first.most_common(10)]
    tried = [chosen, *({outcome} for outcome in singles)]
    error = ERROR / (4 * len(tried))
    return max(_bound(halves[0][1], halves[1][1], outcomes, delta, error) for outcomes in tried)


def _bound(ones: list[Any], others: list[Any], outcomes: set[Any], delta: float, error: float) -> float:
    """ln((lower bound of the one - delta) / upper bound of the other)."""
    low = clopper_pearson(sum(o in outcomes for o in ones), len(ones), error)[0] - delta
    high = clopper_pearson(sum(o in outcomes for o in others), len(others), error)[1]
    return math.log(low / high) if low > 0 else -math.inf


def clopper_pearson(hits: int, runs: int, error: float) -> tuple[float, float]:
    """Bounds on a probability, each of which fails with at most that error."""
    low = stats.beta.ppf(error, hits, runs - hits + 1) if hits else 0.0
    high = stats.beta.isf(error, hits + 1, runs - hits) if hits < runs else 1.0
    return float(low), float(high)


def rows(*counts: tuple[str, str, int]) -> pa.Table:
    """Rows of two columns, each as often as it says."""
    listed = [(a, b) for a, b, times in counts for _ in range(times)]
    return pa.table({"a": [a for a, _ in listed], "b": [b for _, b in listed]})


ONE_EACH: dict[str, Any] = {"persons": "one row each"}
PRACTICAL: dict[str, Any] = {
    "mechanism": "noisy_counts",
    "public": ["a", "b"],
    "epsilon": 1,
    "settings": {"k": 3, "delta": 0.05},
}
FULL: dict[str, Any] = {
    "mechanism": "noisy_counts",
    "sensitive": ["a", "b"],
    "epsilon": 1,
    "settings": {"matrix": "full"},
}
COLUMNS: dict[str, Any] = {"k": 2, "delta": 0.05, "schema": [["a"], ["b"]], "c_star": 1}
COLUMNIZED: dict[str, Any] = {"mechanism": "columnized", "public": ["a", "b"], "epsilon": 1, "settings": COLUMNS}
UNIFORM: dict[str, Any] = {"sensitive": "a", "public": "b", "domains": {"a": ["x", "y", "z"]}, "epsilon": 1}
FRAPP: dict[str, Any] = {"mechanism": "frapp", "sensitive": ["a", "b"], "epsilon": 1}
PAIRS: dict[str, Any] = {"x": ["1/10", "1/4"], "y": ["1/10", "1/5"], "z": ["1/5", "1/3"]}
FINE: dict[str, Any] = {"mechanism": "fine_grain", "sensitive": "a", "public": "b", "domains": {"a": ["x", "y", "z"]}}
DOMAINS: dict[str, Any] = {"domains": {"a": ["x", "y"], "b": ["u", "v"]}}

FEW, MORE = rows(("x", "u", 4), ("y", "v", 1)), rows(("x", "u", 5), ("y", "v", 1))
TWO, CHANGED = rows(("x", "u", 1), ("y", "v", 1)), rows(("y", "u", 1), ("y", "v", 1))


def largest_factor(pairs: Mapping[str, list[str]]) -> float:
    """What fine_grain promises of anything, by its own release."""
    release = scumble.publish(TWO, **FINE, settings={"weights": "alike", "breaches": "both", "rho": pairs}, **ONE_EACH)
    (promise,) = [g for g in release.terms.guarantees if g.kind == "amplification"]
    return promise.parameters["epsilon"]


def pairs() -> dict[str, Pair]:
    """Every promise that is about neighbours: one row added or removed, or one sensitive value changed."""
    fine = FINE | {"settings": {"weights": "alike", "breaches": "both", "rho": PAIRS}}
    return {
        "noisy_counts, practical": Pair(FEW, MORE, PRACTICAL | ONE_EACH, 1, 0.05),
        "noisy_counts, full": Pair(FEW, MORE, FULL | DOMAINS | ONE_EACH, 1),
        "columnized": Pair(FEW, MORE, COLUMNIZED | ONE_EACH, 1, 0.05),
        "uniform": Pair(TWO, CHANGED, UNIFORM | ONE_EACH, 1),
        "frapp": Pair(TWO, CHANGED, FRAPP | DOMAINS | ONE_EACH, 1),
        "fine_grain, declared pairs": Pair(TWO, CHANGED, fine | ONE_EACH, largest_factor(PAIRS)),
    }


def main(runs: int) -> None:
    """Prints the table."""
    print(f"| promise | epsilon | delta | runs of each table | outputs | epsilon proved, confidence {1 - ERROR} |")
    print("|---|---|---|---|---|---|")
    for name, pair in pairs().items():
        ones, others = outputs(pair, runs)
        proved = refuted(pair, ones, others)
        seen = len({*ones, *others})
        print(f"| {name} | {pair.epsilon:.4g} | {pair.delta:g} | {runs:,} | {seen:,} | {proved:.3f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
