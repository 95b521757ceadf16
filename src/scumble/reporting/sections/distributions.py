"""The distribution of each protected column: as it was published, as it is estimated, and in the internal edition as it is."""

from dataclasses import dataclass

from sqlglot import exp

from scumble.core.errors import InputError
from scumble.query.estimates import Estimate
from scumble.reporting.axes import Axis, Slice, protected_axis
from scumble.reporting.figure import Drawing, figure, text
from scumble.reporting.numbers import interval, share, whole
from scumble.reporting.plots.dots import DotLine, dots
from scumble.reporting.section import Section
from scumble.reporting.subject import Counts, Subject

MOST_COLUMNS = 5
MOST_VALUES = 20
"""Columns on the page, and values or ranges of each; what is left out is said."""

TITLE = "Before and after: distributions"


@dataclass(frozen=True)
class Distribution:
    """A column with its figure, and the same in numbers."""

    column: str
    figure: Drawing
    rows: list[tuple[str, ...]]
    left_out: int
    left_share: str
    ranges: bool
    notes: list[str]
    held: str
    """How many intervals hold the truth, where it is known."""


def distributions(subject: Subject) -> Section:
    """The section."""
    names = subject.protected[:MOST_COLUMNS]
    shown, refused = [], []
    for name in names:
        try:
            shown.append(_distribution(subject, name))
        except InputError as error:
            refused.append((text(name), str(error)))
    published = any(line[2] for distribution in shown for line in distribution.rows)
    facts = {
        "distributions": shown,
        "refused": refused,
        "more": [text(name) for name in subject.protected[MOST_COLUMNS:]],
        "published": published,
        "internal": subject.truth is not None,
        "suppressed": subject.suppressed,
    }
    return Section("distributions", TITLE, facts)


def _distribution(subject: Subject, name: str) -> Distribution:
    axis = protected_axis(subject, name, MOST_VALUES)
    lines, notes = (_ranges if axis.ranges else _values)(subject, axis)
    held = [line for line in lines if line.truth is not None]
    inside = sum(line.low <= (line.truth or 0) <= line.high for line in held)
    largest = max(lines, key=lambda line: line.estimate)
    alt = (
        f"Estimated rows for {len(lines)} {'ranges' if axis.ranges else 'values'} of {text(name)}, each with its 95% interval. The largest is {largest.label} with "
        f"{whole(largest.estimate)} ({interval(largest.low, largest.high)}). All numbers are in the table below."
    )
    drawn = figure(lambda width: dots(lines, width), "", alt, _key(lines))
    rest = 1 - sum(line.estimate for line in lines) / subject.total if subject.total else 0.0
    return Distribution(
        text(name),
        drawn,
        [_row(line) for line in lines],
        axis.left_out,
        share(max(0.0, rest)),
        axis.ranges,
        notes,
        f"{inside} of {len(held)}" if held and not subject.suppressed else "",
    )


def _values(subject: Subject, axis: Axis) -> tuple[list[DotLine], list[str]]:
    """All values by one question."""
    column = exp.column(axis.name, quoted=True)
    estimates = subject.ask([column])
    places = {value: i for i, value in enumerate(estimates.groups.column(0).to_pylist())}
    published, truth = _published(subject, axis, column), subject.true_counts([column])
    lines = [_line(part, estimates.estimates[0], places[part.key], published, truth) for part in axis.parts]
    return lines, estimates.notes


def _ranges(subject: Subject, axis: Axis) -> tuple[list[DotLine], list[str]]:
    """A question for each range."""
    published, truth = _published(subject, axis, axis.number), subject.true_counts([axis.number])
    return [_line(part, subject.count(part.where), 0, published, truth) for part in axis.parts], []


def _line(part: Slice, e: Estimate, place: int, published: Counts | None, truth: Counts | None) -> DotLine:
    value, low, high = (float(numbers[place]) for numbers in (e.value, e.low, e.high))
    as_is, true = (None if counts is None else float(counts.get((part.key,), 0)) for counts in (published, truth))
    return DotLine(part.label, value, low, high, as_is, true)


def _published(subject: Subject, axis: Axis, group: exp.Expression) -> Counts | None:
    """Only where what was published is not already the answer, and where values were: a code is none."""
    view, column = subject.manifest.view, subject.manifest.column(axis.name)
    if column is not None and column.records and column.records[0].coded is not None:
        return None
    return subject.published([group], 1 << 24) if view.row_by_row or view.made_up else None


def _row(line: DotLine) -> tuple[str, ...]:
    return (
        line.label,
        whole(line.estimate),
        "" if line.published is None else whole(line.published),
        interval(line.low, line.high),
        "" if line.truth is None else whole(line.truth),
    )


def _key(lines: list[DotLine]) -> tuple[tuple[str, str], ...]:
    entries = [("dot", "estimate, with its 95% interval")]
    if any(line.published is not None for line in lines):
        entries.append(("square", "as published, before correction"))
    if any(line.truth is not None for line in lines):
        entries.append(("diamond", "truth"))
    return tuple(entries)
