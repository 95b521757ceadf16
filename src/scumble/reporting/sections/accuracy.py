"""How exact answers are, against how many rows they count: measured where the truth is known, by standard errors where it is not."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from scumble.core.errors import InputError
from scumble.engines.engine import TABLE
from scumble.evaluate import Measured, Truth, Workload, measure
from scumble.evaluate.measured import Line
from scumble.query.model import LANGUAGE, sql_of
from scumble.reporting.figure import figure
from scumble.reporting.numbers import share, whole
from scumble.reporting.plots.scatter import Point, scatter
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

QUESTIONS = 240
"""Drawn on the page, at most; a small table has not as many that differ."""
FLOOR = 0.0005
"""The least share of rows that a question of the page counts."""
WORTH_NAMING = 0.1
"""An error of a tenth of the count."""
LEAST = 0.003
"""Smaller errors are luck, and are drawn here."""
ENOUGH = 8
"""Counts, from which on it can be said that nearly all of them are within an error."""
SAMPLE = 200_000
"""Published rows from which questions are drawn, about, where the raw table is not at hand."""
TITLE = "How exact answers are"


def accuracy(subject: Subject) -> Section:
    """The section."""
    try:
        measured = _measured(subject)
    except InputError as error:
        return Section("accuracy", TITLE, why_not=f"No pool of questions fits this release: {error}.")
    points = _points(subject, measured)
    if len(points) < 3:
        return Section(
            "accuracy",
            TITLE,
            why_not="The counts of this release are exact for what was published, so there is no error to show.",
        )
    internal = subject.truth is not None
    unit = "error, relative to the truth" if internal else "standard error, relative to the count"
    few = _from(points)
    median = float(np.median([point.error for point in points]))
    alt = (
        f"{len(points)} counts by the share of rows that they count, from {share(min(p.selectivity for p in points))} to {share(max(p.selectivity for p in points))}, and by their {unit}: "
        f"half of them below {share(median)}, and smaller the more rows are counted."
    )
    names = {1: "about one column", 2: "two columns", 3: "three columns or more"}
    marks = {1: "circle", 2: "triangle", 3: "cross"}
    seen = sorted({point.columns for point in points})
    key = (*((marks[c], names[c]) for c in seen), ("dashed", f"error of {share(WORTH_NAMING)}"))
    drawn = figure(lambda width: scatter(points, WORTH_NAMING, unit, width), "", alt, key)
    metrics = measured.metrics() if internal else {}
    bands = _bands(points)
    facts = {
        "figure": drawn,
        "questions": len(points),
        "median": share(median, 2),
        "few": None if few is None else (share(few, 2), whole(few * subject.total)),
        "worth": share(WORTH_NAMING),
        "internal": internal,
        "suppressed": subject.suppressed,
        "coverage": share(metrics.get("coverage", math.nan)),
        "bands": bands,
        "unlisted": len(points) - sum(n for _, n, _, _ in bands),
    }
    return Section("accuracy", TITLE, facts)


def _measured(subject: Subject) -> Measured:
    """A pool of counts: of the raw table where it is at hand, otherwise drawn from published rows."""
    manifest, release = subject.manifest, subject.release
    base = subject.truth
    if manifest.view.row_by_row:
        table = base if base is not None else _sample(subject)
        truth = Truth(table, manifest.public, manifest.sensitive, manifest.domains)
        dimensions = (0, 1, 2) if manifest.public else (0,)
        wanted = min(QUESTIONS, max(30, table.num_rows // 60))
        return measure(release, truth, Workload.counts(truth, size=wanted, dimensions=dimensions, floor=FLOOR, seed=1))
    names = subject.protected[:6] + manifest.public[:3]
    sets = [*((name,) for name in names), *itertools.combinations(names, 2)]
    columns = [[exp.column(name, quoted=True) for name in names] for names in sets]
    counting = [
        exp.select(*column, exp.Count(this=exp.Star()).as_("n")).from_(TABLE).group_by(*column) for column in columns
    ]
    workload = Workload.sql([sql_of(statement) for statement in counting])
    return _answers(subject, workload) if base is None else measure(release, Truth(base, [], [], {}), workload)


def _sample(subject: Subject) -> pa.Table:
    """Every so many published rows; those of like values stand together, so the first ones would be no sample."""
    step = max(1, subject.manifest.rows // SAMPLE)
    if subject.release.parts:
        table = subject.release.table()
        return table.take(pa.array(range(0, table.num_rows, step)))
    files = [pq.ParquetFile(subject.release.file(path)) for path in subject.manifest.rows_in]
    batches = (batch for file in files for batch in file.iter_batches(1 << 16))
    return pa.Table.from_batches([batch.take(pa.array(range(0, batch.num_rows, step))) for batch in batches])


def _answers(subject: Subject, workload: Workload) -> Measured:
    """The answers alone, where there is no truth to put beside them."""
    lines: list[Line] = []
    refused: dict[str, str] = {}
    for question in workload.questions:
        try:
            (e,) = subject.release.query(question.sql).estimates
        except InputError as error:
            refused[question.sql] = str(error)
            continue
        numbers = zip(e.value.tolist(), e.se.tolist(), e.low.tolist(), e.high.tolist(), strict=True)
        lines += [Line(question.sql, "n", math.nan, math.nan, *number) for number in numbers]
    return Measured(lines, refused)


def _points(subject: Subject, measured: Measured) -> list[Point]:
    """What can be drawn on logarithmic scales, thinned evenly where there is much."""
    points = []
    for line in measured.lines:
        if subject.truth is not None:
            selectivity = line.selectivity
            error = abs(line.value - line.truth) / line.truth if line.truth else math.nan
        else:
            selectivity = line.value / subject.total
            error = line.se / line.value if line.value > 0 else math.nan
        if selectivity >= FLOOR and math.isfinite(error) and error > 1e-6:
            points.append(Point(min(1.0, selectivity), max(error, LEAST), _columns(line.question)))
    points.sort(key=lambda point: point.selectivity)
    return points[:: max(1, len(points) // QUESTIONS)]


def _columns(sql: str) -> int:
    """How many columns a question is about."""
    import sqlglot

    return min(3, len({column.name for column in sqlglot.parse_one(sql, read=LANGUAGE).find_all(exp.Column)}) or 1)


def _from(points: list[Point]) -> float | None:
    """The share of rows from which on nineteen of twenty counts are within the error that is worth naming."""
    within = np.array([point.error <= WORTH_NAMING for point in points])
    after = np.cumsum(within[::-1])[::-1] / np.arange(len(points), 0, -1)
    good = np.flatnonzero((after >= 0.95) & (np.arange(len(points), 0, -1) >= ENOUGH))
    return points[int(good[0])].selectivity if len(good) else None


def _bands(points: list[Point]) -> list[tuple[str, int, str, str]]:
    """Median and 95th percentile of the error by how many rows are counted."""
    edges = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1.0001]
    bands = []
    for low, high in itertools.pairwise(edges):
        errors = [point.error for point in points if low <= point.selectivity < high]
        if len(errors) >= 3:
            sentence = f"{share(low)} to {share(min(high, 1.0))}"
            bands.append(
                (sentence, len(errors), share(float(np.median(errors)), 2), share(float(np.quantile(errors, 0.95)), 2))
            )
    return bands
