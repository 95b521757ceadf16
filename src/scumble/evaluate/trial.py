"""One trial: publish a table once with fresh coins, ask the release a workload, and keep what it comes to."""

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.entropy import Entropy
from scumble.core.errors import InputError, QueryError
from scumble.evaluate.attacker import met
from scumble.evaluate.measured import FLOORS, Measured, Truths
from scumble.evaluate.settings import why_not
from scumble.evaluate.utility import reconstruction
from scumble.publishing.publish import publish_table
from scumble.publishing.row_pipeline import CoinSource
from scumble.query.coarse import numbers_in_steps
from scumble.release.manifest import read_manifest
from scumble.release.release import Release
from scumble.sources.source import read
from scumble.spec.spec import Spec
from scumble.spec.steps import Steps
from scumble.truth import Truth

Task = tuple[int, int]
"""The number of a spec, and of the repetition."""


@dataclass(frozen=True, eq=False)
class Bench:
    """What trials are made of: the table before its coins, the specs, and the true answers; and a folder for the releases."""

    truth: Truth
    specs: Sequence[Spec]
    truths: Truths
    folder: str
    seed: int
    table: pa.Table
    """What is published."""

    @classmethod
    def of(cls, truth: Truth, specs: Sequence[Spec], truths: Truths, folder: str, seed: int) -> "Bench":
        """The truth's table has its columns coarsened already, and no others than are published; steps are taken once more, so that releases know of them."""
        steps = numbers_in_steps(truth.coarse)
        rows = {"table": None, "person": None, "rows_per_person": None}  # they were drawn when the truth was read
        plain = [spec.model_copy(update=rows | {"columns": _done(spec, steps)}) for spec in specs]
        return cls(truth, plain, truths, folder, seed, _inside(truth.table, steps))

    def publish(self, task: Task, folder: Path) -> Release:
        """Publishes with coins of its own for each trial, whichever process makes it."""
        number, repetition = task
        seed = int(Entropy.seeded(self.seed).stream("trial", number, repetition).integers(1, 32)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the plan's, said once where it was made
            publish_table(read(self.table), self.specs[number], folder, CoinSource(Entropy.seeded(seed)), durable=False)
        return Release(folder, read_manifest(folder))


def _done(spec: Spec, steps: Mapping[str, Steps]) -> dict[str, object]:
    left = {name: steps[name].how if name in steps else None for name in spec.published}
    return {
        name: spec.columns[name].model_copy(update={"coarsen": how, "determined": "accepted"})
        for name, how in left.items()
    }


def _inside(table: pa.Table, steps: Mapping[str, Steps]) -> pa.Table:
    """Columns in steps moved off their lower ends, so that no rounding lets a value fall into the step below."""
    for name, own in steps.items():
        middle = own.reach // 2 if own.whole else own.reach / 2
        column = table.column(name)
        table = table.set_column(
            table.column_names.index(name), name, pc.add(column, pa.scalar(middle).cast(column.type))
        )
    return table


def drawn(seed: int | None) -> int:
    """The seed that is given, or one that nobody knows."""
    return int(Entropy.system().stream("seed").integers(1, 32)[0]) if seed is None else seed


def answered(bench: Bench, task: Task) -> Measured:
    """The answers of one publication beside the truth."""
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        return bench.truths.beside(bench.publish(task, Path(folder) / "release"))


def trial(bench: Bench, task: Task) -> dict[str, float] | str:
    """What one publication comes to; or why the table cannot be published so, which some mechanisms find out from its rows."""
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        try:
            release = bench.publish(task, Path(folder) / "release")
        except InputError as error:
            return why_not(error)
        if not release.manifest.rows:
            return "no row would be published, because all are too rare; coarsen or drop public columns"
        measured = bench.truths.beside(release)
        metrics = measured.metrics()
        for floor in FLOORS:
            metrics[f"error at {floor:g}"] = measured.metrics(floor)["mean_relative_error"]
        return (
            metrics
            | {"rows": float(release.manifest.rows)}
            | _distance(release, bench.truth)
            | _met(release, bench.truth)
        )


def _distance(release: Release, truth: Truth) -> dict[str, float]:
    try:
        return {"total_variation": max(distance.total_variation for distance in reconstruction(release, truth))}
    except QueryError:
        return {}


def _met(release: Release, truth: Truth) -> dict[str, float]:
    if release.manifest.view.row_by_row:
        return {}
    beliefs = met(release, truth)
    return {"posterior": beliefs.posterior, "guess": beliefs.guess}
