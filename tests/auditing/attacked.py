"""Tables to attack, and how every mechanism publishes them soundly."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from naming import publish_openly

from scumble.release.release import Release

DISEASES = ["flu", "cold", "asthma", "gout", "hiv", "angina", "ulcer", "croup"]
JOBS = list(range(24))
SHARES = [0.3, 0.2, 0.14, 0.12, 0.1, 0.07, 0.05, 0.02]


def people(rows: int = 3000, seed: int = 1) -> pa.Table:
    """Half of them alone with their public values; old people have gout more often."""
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 100, rows)
    disease = np.where((age > 60) & (draw.random(rows) < 0.4), "gout", draw.choice(DISEASES, rows, p=SHARES))
    return pa.table(
        {
            "age": age,
            "sex": draw.choice(["F", "M"], rows),
            "zip": draw.integers(0, 30, rows),
            "disease": disease,
            "visits": draw.integers(0, 11, rows),
            "job": draw.choice(JOBS, rows, p=1 / np.arange(2, 26) / (1 / np.arange(2, 26)).sum()),
        }
    )


ONE: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}, "drop": ["visits", "job"]}
TWO: dict[str, Any] = {
    "sensitive": ["disease", "visits"],
    "domains": {"disease": DISEASES, "visits": {"low": 0, "high": 10}},
    "drop": "job",
}
COARSE: dict[str, Any] = {"coarsen": {"age": {"bins": 20}, "zip": {"bins": 10}}}
COUNTED: dict[str, Any] = {"drop": ["visits", "job"], **COARSE}

SOUND: dict[str, dict[str, Any]] = {
    "uniform": {**TWO, "retain": 0.4},
    "design": {
        "sensitive": ["job", "disease"],
        "domains": {"job": JOBS, "disease": DISEASES},
        "drop": "visits",
        "mechanism": "design",
        "gamma": 6,
    },
    "uniform that keeps little": {**ONE, "retain": 0.05},
    "identity": {**ONE, "mechanism": "identity", "retain": 0.4},
    "swapped": {**ONE, "mechanism": "swapped", "retain": 0.4},
    "fine_grain": {**ONE, "mechanism": "fine_grain", "gamma": 4, "settings": {"scores": {"hiv": 2}}},
    "partitioned": {
        "sensitive": "job",
        "domains": {"job": JOBS},
        "drop": ["visits", "disease"],
        "mechanism": "partitioned",
        "rho2": 0.4,
    },
    "sps": {**ONE, **COARSE, "mechanism": "sps", "retain": 0.4},
    "sps with duplicates": {**ONE, **COARSE, "mechanism": "sps", "retain": 0.4, "settings": {"duplicates": True}},
    "k_dgs": {**COUNTED, "mechanism": "k_dgs", "settings": {"k": 5}},
    "noisy_counts": {**COUNTED, "mechanism": "noisy_counts", "epsilon": 2, "settings": {"k": 5, "delta": 0.01}},
    "columnized": {
        **COUNTED,
        "mechanism": "columnized",
        "epsilon": 2,
        "settings": {"k": 5, "delta": 0.01, "schema": [["age", "sex"], ["zip", "disease"]]},
    },
    "frapp": {**TWO, "mechanism": "frapp", "gamma": 30},
    "anatomy": {**ONE, "mechanism": "anatomy", "settings": {"l": 3}},
}
"""How each mechanism publishes the people."""


def publish(table: pa.Table, how: str, seed: int, **changes: Any) -> Release:
    """A sound release."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return publish_openly(table, seed=seed, **(SOUND[how] | changes))


def in_order_of(raw: pa.Table, release: Release, by: np.ndarray) -> pa.Table:  # type: ignore[type-arg]
    """The published rows in the order that the people have by some number; who shares public values is in any order among themselves."""
    place: dict[tuple[Any, ...], list[float]] = {}
    for row, number in zip(raw.select(release.manifest.public).to_pylist(), by.tolist(), strict=True):
        place.setdefault(tuple(row.values()), []).append(number)
    table = release.table()
    keys = [place[tuple(row.values())].pop() for row in table.select(release.manifest.public).to_pylist()]
    return table.take(pa.array(np.argsort(keys, kind="stable")))


def write_parquet(table: pa.Table, path: Path, **options: Any) -> Path:
    """An ordinary file, with nothing beside the rows unless options say so."""
    pq.write_table(table, path, **({"write_statistics": False, "store_schema": False} | options))
    return path
