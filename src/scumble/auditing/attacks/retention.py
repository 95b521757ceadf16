"""Retention: are more values published as they are than the manifest says? Whoever takes a published value for the true one knows how often he is right.

With the raw table: the share of people whose value is that of a row with their public values, against what the channel of the manifest
gives, in the whole table and in its parts (`guessing`). Where there are sub-tables, only people whose row is known are looked at. With it or without: whatever the true
values are, value j is published with probability at least (1 - p) r_j; where it is rarer, in all rows or among those of one value of another column, at least
1 - share / r_j of them were kept. That sees columns with rare values only, and replacements that are not drawn as the manifest says, which are right
as often as they should be. Both share the error of one finding.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from scumble.auditing.attacks import made_up
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import column_law
from scumble.auditing.evidence.guessing import in_any_row, in_known_rows
from scumble.auditing.evidence.publication import Codes, Publication, together
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.core.channel import Channel, replacement_of

NAME = "retention"

MOST_CELLS = 256
MOST_GROUPS = 100
"""Values of another column, at most, within which counts are looked at."""

Numbers = npt.NDArray[np.float64]


def attack(case: Case) -> Finding | None:
    """The perturbed column that fares worst."""
    if case.publication.form == "tuple_set":
        return made_up.attack(case)
    if not case.publication.coined:
        return None
    error = error_of(NAME) / 2 / max(1, len(case.publication.sensitive))
    findings = [finding for name in case.publication.sensitive for finding in _column(case, name, error)]
    return max(findings, key=lambda finding: finding.low - finding.baseline, default=None)


def _column(case: Case, name: str, error: float) -> list[Finding]:
    """By the raw table, where there is one; and by the published counts, which with a raw table are told of where they show what it does not."""
    least = _least(case.publication, name, error)
    by_counts = [least] if least is not None else []
    if case.raw is None:
        return by_counts
    truth = case.truth(name)
    law = column_law(case.publication, name, truth)
    if law.whole and not case.publication.traits.permuted:
        measured = in_any_row(case, name, truth, law, error)
    else:
        face = np.tile(np.arange(len(law.prior)), (len(law.keep), 1))
        measured = in_known_rows(case, name, truth, law, face, error)
    where = f" among {measured.people:,} people with {measured.of}" if measured.of else ""
    sentence = f"{name}: a row with a person's public values has the true value in {measured.success:.2%}{where}; the channel of the manifest gives {measured.expected:.2%}"
    by_truth = measured.finding(NAME, sentence)
    return [by_truth, *(finding for finding in by_counts if not finding.passed)]


def _least(publication: Publication, name: str, error: float) -> Finding | None:
    """How many values must have been kept, at least, for some value to be as rare as it is."""
    assert publication.release is not None
    column = publication.release.manifest.column(name)
    if column is None or any(record.own or record.coded is not None for record in column.records):
        return None  # replacements follow the column itself, so its counts do not tell; and a code is no value
    channels = [replacement_of(stratum[name]) for stratum in publication.release.strata]
    tests = [(seen, draw, most) for seen, draw, most in _tests(publication, name, channels) if len(seen)]
    error = error / max(1, sum(seen.size for seen, _, _ in tests))
    worst = (-np.inf, 0.0, 0.0)
    for seen, draw, most in tests:
        rows = seen.sum(axis=1, keepdims=True)
        above = np.where(seen < rows, beta.isf(error, seen + 1, np.maximum(rows - seen, 1)), 1.0)
        surplus = np.where(rows > 0, 1 - above / draw - most, -np.inf)
        at = np.unravel_index(int(surplus.argmax()), surplus.shape)
        if surplus[at] > worst[0]:
            worst = (float(surplus[at]), float(1 - seen[at] / rows[at[0], 0] / draw[at[1]]), most)
    low, success, most = worst
    if not np.isfinite(low):
        return None
    least = max(0.0, success)
    ends = (min(least, max(0.0, low + most)), 1.0)
    sentence = (
        f"{name}: its rarest value shows that at least {least:.2%} were kept as they are; the manifest says {most:.2%}"
    )
    return Finding(NAME, least, most, *ends, sentence, "integrity")


Test = tuple[npt.NDArray[np.int64], Numbers, float]


def _tests(publication: Publication, name: str, channels: list[Channel]) -> Iterator[Test]:
    """Published counts in rows, how often each value is drawn, and the largest retention that the manifest states."""
    codes, strata = publication.codes(name), publication.stratum
    whole = publication.weights.max(initial=1) == publication.weights.min(initial=1) == 1
    for z, channel in enumerate(channels):
        chosen = strata == z if len(channels) > 1 else slice(None)
        cells, small = _collapsed(channel)
        drawn = np.flatnonzero(small.replace > 0)
        most = float(small.retention.max())
        if most < 1 and whole:
            y = cells[codes[chosen]]
            for parts, count in [(np.zeros(len(y), dtype=np.int64), 1), *_others(publication, name, chosen)]:
                seen = np.bincount(parts * small.size + y, minlength=count * small.size).reshape(count, small.size)
                yield seen[:, drawn], small.replace[drawn], most


def _collapsed(channel: Channel) -> tuple[Codes, Channel]:
    cells = np.arange(channel.size)
    if channel.constant and channel.size > MOST_CELLS:
        cells = cells * MOST_CELLS // channel.size
    return cells, channel.collapse(cells, int(cells.max()) + 1)


def _others(publication: Publication, name: str, chosen: Any) -> Iterator[tuple[Codes, int]]:
    """The other columns that have few values; those that share their coins with this one would tell more than it does."""
    assert publication.manifest is not None
    skipped = {name, *publication.manifest.view.joint}
    for other in [*publication.quasi, *publication.sensitive]:
        if other not in skipped:
            (codes,), count = together([other], publication.table)
            if count <= MOST_GROUPS:
                yield codes[chosen], count
