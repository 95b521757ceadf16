"""The promise, met: an advised spec is published several times, and the errors that come out stand beside the foreseen ones."""

import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scumble.core.scratch import private_folder
from scumble.evaluate.foresight import Foreseen
from scumble.evaluate.measured import Measured, Truths, labels
from scumble.evaluate.parallel import Progress, run
from scumble.evaluate.specified_table import SpecifiedTable
from scumble.evaluate.trial import Bench, answered, drawn
from scumble.evaluate.workload import Workload
from scumble.spec.spec import Spec


@dataclass(frozen=True)
class Met:
    """A question's worst line, as it came out."""

    error: float
    """The root mean square error of that line over the publications."""
    ratio: float
    """Root mean square of (error / foreseen standard error), over all lines: 1 where the promise is exact."""
    publications: int


def met(
    subject: SpecifiedTable,
    spec: Spec,
    foreseen: Sequence[Foreseen],
    absolute: bool,
    repetitions: int,
    processes: int | None,
    seed: int | None,
    progress: Progress | None,
) -> dict[str, Met]:
    """Publishes by the advised spec, and puts the errors that come out beside the foreseen ones."""
    if repetitions < 1:
        return {}
    uncertain = [answer for answer in foreseen if answer.answer is not None and answer.error > 0]
    workload = Workload.sql([answer.sql for answer in uncertain])
    truths = Truths.of(subject.truth, workload)
    with tempfile.TemporaryDirectory(dir=private_folder(os.getpid())) as folder:
        bench = Bench.of(subject.truth, [spec], truths, folder, drawn(seed))
        measured = run(answered, bench, [(0, i) for i in range(repetitions)], processes, progress)
    return {answer.sql: _met(answer, measured, absolute) for answer in uncertain}


def _met(forecast: Foreseen, repetitions: Sequence[Measured], absolute: bool) -> Met:
    assert forecast.answer is not None
    names = [name for line in labels(forecast.answer) for name in line]
    truth, se = (
        np.stack([getattr(e, part) for e in forecast.answer.estimates], axis=1).reshape(-1) for part in ("value", "se")
    )
    values = [
        {line.line: line.value for line in measured.lines if line.question == forecast.sql} for measured in repetitions
    ]
    # a line that ORDER BY and LIMIT left out of an answer has no error in it
    off = np.array([[line.get(name, math.nan) for name in names] for line in values]) - truth
    square = np.nanmean(off**2, axis=0)
    scale = np.ones_like(truth) if absolute else np.where(truth != 0, np.abs(truth), math.inf)
    seen = (se > 0) & np.isfinite(square)
    ratio = float(np.sqrt((square[seen] / se[seen] ** 2).mean()))
    worst = names.index(forecast.line)
    return Met(float(np.sqrt(square[worst]) / scale[worst]), ratio, len(repetitions))
