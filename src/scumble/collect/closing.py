"""A survey, or a period of one, is closed: no more answers are taken, and what was acknowledged becomes an ordinary release."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from scumble.collect.answer_rows import manifest_of, write_answers
from scumble.collect.reading import open_survey
from scumble.collect.store import Store, StoreTally
from scumble.collect.stores import open_store
from scumble.collect.survey import Survey
from scumble.core.atomic import whole_folder
from scumble.core.errors import SurveyError
from scumble.publishing.sealing import sealed
from scumble.release.check import Check
from scumble.release.release import Release, open_release
from scumble.release.replace import demand_free, former_files
from scumble.release.verify import verify

LARGEST_PART = 1 << 24
"""Bytes of answers that are turned into rows at a time."""


@dataclass(frozen=True)
class Closed:
    """What a survey became."""

    release: Release
    checks: list[Check]

    @property
    def sound(self) -> bool:
        """Whether every check of the release passed."""
        return all(check.passed for check in self.checks)


def close_survey(
    address: str, out: Path, *, period: str | None = None, early: bool = False, overwrite: bool = False
) -> Closed:
    """Closes a survey, or the period that is named, into a release.

    early   close also a period that is not over
    """
    store = open_store(address)
    try:
        survey = open_survey(store.survey)
        named = _period(survey, store.tally(), period, early)
        demand_free(out, overwrite, [], None)
        store.close(named)
        rows = store.tally().answers.get(named, 0)
        if not rows:
            raise SurveyError("nobody has answered, so that there is nothing to publish")
        digest = _publish(survey, store, named, rows, out, overwrite)
        store.released(named, digest)
        store.settle()
    finally:
        store.disconnect()
    release = open_release(out)
    return Closed(release, verify(release))


def _publish(survey: Survey, store: Store, period: str, rows: int, out: Path, overwrite: bool) -> str:
    with whole_folder(out, former_files if overwrite else None) as folder:
        files = write_answers(survey, rows, joined(store.answers(period)), folder, folder.parent)
        manifest = manifest_of(survey, files)
        if manifest.rows != rows:
            raise SurveyError(f"the store has {rows:,} answers and gave {manifest.rows:,}; nothing was published")
        return sealed(folder, manifest).digest


def joined(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same answers in larger parts."""
    held: list[bytes] = []
    for part in parts:
        held.append(part)
        if sum(map(len, held)) >= LARGEST_PART:
            yield b"".join(held)
            held = []
    if held:
        yield b"".join(held)


def _period(survey: Survey, tally: StoreTally, period: str | None, early: bool) -> str:
    """The period that is closed: the one that is named, or the only one that can be."""
    if survey.record.period is None:
        if period:
            raise SurveyError("the survey has no periods; leave --period out")
        return ""
    now = survey.period(datetime.now(UTC))
    over = sorted(each for each in tally.answers if each != now or early)
    open_ = [each for each in over if not tally.closed.get(each)]
    if period is None:
        if len(open_) == 1:
            return open_[0]
        named = f"these are over: {', '.join(open_)}" if open_ else "none with answers is over and not closed yet"
        raise SurveyError(f"name the period (--period); {named}")
    if period not in tally.answers:
        raise SurveyError(
            f"nobody answered in {period!r}; there are answers of: {', '.join(sorted(tally.answers)) or 'none'}"
        )
    if period == now and not early:
        raise SurveyError(
            f"{period} is not over; wait until it is, or say --early, and the rest of it takes no answers"
        )
    return period
