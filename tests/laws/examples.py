"""A small table, and how each mechanism publishes it: found by trying, so that a new mechanism is tested without an entry here.

A mechanism is tried at what it is customarily compared at, at gamma = 3, at rho1 and rho2, and set to a posterior; on one sensitive column, on two and on all; on a table
and on a set of distinct rows. What refuses an example must say so by an InputError; anything else is a mistake, and fails.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.api import publish_chosen
from scumble.core.errors import InputError
from scumble.evaluate.attacker import Attacker
from scumble.evaluate.settings import Setter
from scumble.evaluate.specified_table import SpecifiedTable
from scumble.mechanisms import find_mechanism
from scumble.release.release import Release
from scumble.sources.source import read
from scumble.spec.spec import ColumnSpec, Spec, Target
from scumble.spec.toml import spec_toml

ROWS = 600
DISEASES = ["flu", "cold", "asthma", "gout", "hiv"]
DOMAINS: dict[str, list[Any]] = {
    "sex": ["F", "M"],
    "town": ["Bonn", "Trier", "Ulm"],
    "disease": DISEASES,
    "smoker": [False, True],
}
SENSITIVE = (["disease"], ["disease", "smoker"], list(DOMAINS))
AGES = {"low": 20, "high": 59}
OF_NUMBERS = (["age"], ["age", "disease"])
"""Sensitive columns of the table with numbers, for mechanisms that are for these."""
LEVEL = 0.5
"""The posterior that a mechanism is set to which promises one."""
FACTORS: dict[str, float] = {"design": 1.2}
"""Where five values have codes of their own, which is what the laws are to be shown."""
MORE: dict[str, dict[str, Any]] = {"columnized": {"schema": [["sex", "town"], ["disease", "smoker"]]}}
"""Settings without which nothing is published and that nobody can guess: the columns of each table."""


def people(rows: int = ROWS) -> pa.Table:
    """Every combination of values has ten rows or more, more or less."""
    draw = np.random.default_rng(12)
    return pa.table(
        {
            "sex": draw.choice(DOMAINS["sex"], rows),
            "town": draw.choice(DOMAINS["town"], rows, p=[0.5, 0.3, 0.2]),
            "disease": draw.choice(DISEASES, rows, p=[0.3, 0.25, 0.2, 0.15, 0.1]),
            "smoker": draw.random(rows) < 0.4,
        }
    )


def aged() -> pa.Table:
    """The same people with a column of numbers."""
    ages = np.random.default_rng(5).integers(AGES["low"], AGES["high"] + 1, ROWS)
    return people().append_column("age", pa.array(ages))


def distinct() -> pa.Table:
    """A set: two in three of all combinations, each once."""
    every = list(product(*DOMAINS.values()))
    chosen = np.random.default_rng(3).permutation(len(every))[: 2 * len(every) // 3]
    return pa.table({name: [every[i][place] for i in chosen] for place, name in enumerate(DOMAINS)})


@dataclass(frozen=True)
class Example:
    """A table on the disk, the spec by which a mechanism publishes it, and a release of it by a seed."""

    name: str
    table: Path
    spec: Spec
    release: Release

    def toml(self, folder: Path) -> Path:
        """The spec as a file."""
        path = folder / f"{self.name}.toml"
        path.write_text(spec_toml(self.spec, folder), encoding="utf-8")
        return path


def example(name: str, folder: Path) -> Example:
    """The first example that a mechanism publishes."""
    refused = []
    for number, (table, spec) in enumerate(examples(name, folder)):
        try:
            release = published(table, spec, folder / f"{name}-{number}", seed=1)
        except InputError as error:
            refused.append(f"{sorted(spec.sensitive)}, {spec.privacy!r}, {spec.settings}: {error}")
        else:
            return Example(name, table, spec, release)
    raise AssertionError(f"{name} publishes no example of the laws:\n" + "\n".join(refused))


def published(table: Path, spec: Spec, out: Path, seed: int | None = None) -> Release:
    """A release; warnings of the planner are not what the laws are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return publish_chosen(read(table), spec, out, seed=seed)


def examples(name: str, folder: Path) -> Iterator[tuple[Path, Spec]]:
    """All that a mechanism is tried on."""
    for rows, sensitive in [*product((people, distinct), SENSITIVE), *((aged, columns) for columns in OF_NUMBERS)]:
        table = folder / f"{rows.__name__}.parquet"
        if not table.exists():
            pq.write_table(rows(), table)
        plain = Spec(table=str(table), privacy=Target(gamma=FACTORS.get(name, 3)), columns=columns(sensitive))
        for target, settings in targets(name, plain):
            changes = {"mechanism": name, "privacy": target, "settings": settings}
            yield table, plain.model_copy(update=changes)


def columns(sensitive: list[str]) -> dict[str, ColumnSpec]:
    """The sensitive columns with their domains, and all others public."""
    kept = {name: ColumnSpec(role="public") for name in DOMAINS}
    listed = {name: ColumnSpec(role="sensitive", values=DOMAINS[name]) for name in sensitive if name in DOMAINS}
    return (
        kept
        | listed
        | {name: ColumnSpec.model_validate({"role": "sensitive", **AGES}) for name in sensitive if name not in DOMAINS}
    )


def targets(name: str, plain: Spec) -> Iterator[tuple[Target, dict[str, Any]]]:
    """The targets and settings to try: the customary, a factor, a pair, a posterior."""
    mechanism = find_mechanism(name)
    if mechanism.customary is not None:
        yield Target(**mechanism.customary.target), {**mechanism.customary.settings, **MORE.get(name, {})}
    yield plain.privacy, {}
    yield Target(rho1="1/10", rho2="1/2"), {}
    if mechanism.at_posterior is not None:
        subject = SpecifiedTable.of(plain)
        attacker = Attacker.of(subject.truth, None)
        try:
            spec = mechanism.at_posterior(Setter(subject.spec, subject.profile, attacker), LEVEL)
        except InputError:  # this posterior is none of its, with these columns
            return
        yield spec.privacy, dict(spec.settings)
