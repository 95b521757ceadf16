"""Seeds: were coins that are said to be secret drawn from a number that anybody tries? Small numbers, dates and the seconds before the files were written are tried with the generator that makes seeded releases.

With the raw table. Of people whose row is known, among the first of the table, what a seed makes of their true values is compared with what was published; of counts with noise, what it makes of all true counts. A seed that is
right for all of them is right by chance with the probability of what was published, times the number of seeds. Of counts, an excerpt tells nothing: one seed makes all of them. Coins by key, of sub-tables, samples, buckets and columns that are kept together are not tried.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.evidence.signs import said
from scumble.auditing.evidence.trials import all_trials
from scumble.auditing.evidence.tuple_counts import TupleCounts, counted_tables
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.core.coins import BaseCoins
from scumble.core.entropy import Entropy
from scumble.forms.tuples.record import Exact, Full
from scumble.mechanisms.noisy_count_matrix import NoisyCountMatrix
from scumble.publishing.perturb import Independent
from scumble.release.manifest import NAME as MANIFEST

NAME = "seeds"

SMALL = 10_000
DAYS = (date(2000, 1, 1), date(2035, 12, 31))
FAVOURITES = [123456, 1234567, 12345678, 123456789, 1234567890, 31337, 65536, 99999, 100000, 424242, 1000000]
PEOPLE = 80
"""Whose values are compared, at most."""
FIRST = 5000
"""Rows of the table that they are among: whatever the source is, its first batch has more."""
WORK = 5_000_000
"""Counts that are drawn with all numbers together, at most, and with all moments."""


def seeds() -> Iterator[int]:
    """What people type: small numbers, days, and some more."""
    yield from range(SMALL)
    yield from range(-1, -100, -1)
    for days in range((DAYS[1] - DAYS[0]).days + 1):
        yield int((DAYS[0] + timedelta(days)).strftime("%Y%m%d"))
    yield from FAVOURITES


@dataclass(frozen=True)
class Replay:
    """What a seed makes of true values, what was published, and the logarithm of the probability of that."""

    made: Callable[[Entropy], Codes]
    shown: Codes
    log_p: float
    tried: int = 1 << 30
    """Numbers that are tried, at most, and moments."""


BEFORE = 900
"""Seconds before the files were written that are tried: who takes the time for a seed takes it then."""


def moments(folder: Path) -> Iterator[int]:
    """The seconds before the manifest of a release was written."""
    written = int((folder / MANIFEST).stat().st_mtime)
    yield from range(written + 1, written - BEFORE, -1)


def attack(case: Case) -> Finding | None:
    """Whether some seed makes what was published."""
    manifest = case.publication.manifest
    if manifest is None or case.source is None or not manifest.randomness.secure or manifest.randomness.keyed:
        return None
    replay = next(_replays(case), None)
    if replay is None:
        return _untried() if any(_with_noise(case)) else None
    release = case.publication.release
    clock = moments(release.path) if release is not None else iter(())
    tried = [*islice(seeds(), replay.tried), *islice(clock, replay.tried)]
    found = next((s for s in tried if np.array_equal(replay.made(Entropy.seeded(s)), replay.shown)), None)
    if found is None:
        sentence = f"none of {len(tried):,} small numbers, dates and times makes the {len(replay.shown):,} values that were compared"
        return Finding.of_test(NAME, 0.0, 0.0, 0.0, error_of(NAME), sentence)
    log_p = min(0.0, replay.log_p + math.log(len(tried)))
    sentence = f"the seed {found} makes all {len(replay.shown):,} values that were compared, which chance does with probability {said(log_p)}: whoever tries it undoes every coin"
    return Finding.of_test(NAME, 1.0, 0.0, log_p, error_of(NAME), sentence, advice="publish again without a seed")


def _replays(case: Case) -> Iterator[Replay]:
    yield from _of_rows(case)
    if case.publication.excerpt.whole:  # noise is drawn for all tuples at once
        yield from (_of_counts(case, table, place) for place, table in _with_noise(case))


def _with_noise(case: Case) -> Iterator[tuple[int, TupleCounts]]:
    """The tables whose counts got noise, and nothing else."""
    for place, table in enumerate(counted_tables(case)):
        if table.stayed == 1 and not isinstance(table.counting, Exact):
            yield place, table


def _untried() -> Finding:
    sentence = "no seed was tried: a seed makes all counts with noise at once, and an excerpt of them is looked at"
    return Finding.of_test(NAME, 0.0, 0.0, 0.0, error_of(NAME), sentence)


def _of_rows(case: Case) -> Iterator[Replay]:
    """Columns whose values go each through coins of its own."""
    manifest = case.publication.manifest
    assert manifest is not None
    for trials in all_trials(case):
        record, name = manifest.column(trials.column), trials.column
        channel = None if record is None else record.channel
        if trials.exchanged or channel is None or channel.own or manifest.view.joint:
            continue
        people = np.flatnonzero(trials.place < FIRST)[:PEOPLE]
        if len(people):
            place, domain = trials.place[people], manifest.domains[name]
            codes = np.zeros(int(place.max()) + 1, domain.code_type)
            codes[place] = trials.true[people]
            coins: dict[str, BaseCoins] = {name: channel.coins(domain.size)}
            shown, chance = trials.shown[people], np.maximum(trials.chance[people], 1e-300)
            yield Replay(_flipped(name, coins, codes, place), shown, float(np.log(chance).sum()))


def _flipped(name: str, coins: dict[str, BaseCoins], codes: Any, place: Codes) -> Callable[[Entropy], Codes]:
    """As the first batch of a table goes through its coins."""

    def made(entropy: Entropy) -> Codes:
        return Independent(coins, entropy).apply(0, {name: codes}, None, None)[name][place].astype(np.int64)

    return made


def _of_counts(case: Case, table: TupleCounts, place: int) -> Replay:
    """As all counts of a table get their noise."""
    if isinstance(table.counting, Full):
        true, shown = _on_domain(table)
        law: Any = table.law
    else:
        keys = [(name, "ascending") for name in table.tuples.column_names]
        order = pc.sort_indices(table.tuples, sort_keys=keys).to_numpy()
        often = order[table.true[order] >= table.matrix.k]
        true, shown, law = table.true[often], table.shown[often], table.matrix
    stream = ("counts", place) if case.publication.manifest.form.schema_ is not None else ("counts",)  # type: ignore[union-attr]
    chance = np.maximum(table.chance(true, shown, shown), 1e-300)
    tried = max(1, WORK // max(1, len(true)))

    def made(entropy: Entropy) -> Codes:
        """What was suppressed is known by the first coins; only where that is right is the noise drawn, which takes ten times as long."""
        if isinstance(law, NoisyCountMatrix) and not np.array_equal(
            law.kept(entropy.stream(*stream), true), np.flatnonzero(shown)
        ):
            return np.zeros(0, dtype=np.int64)
        drawn: Codes = law.draw(entropy.stream(*stream), true)
        return drawn

    return Replay(made, shown, float(np.log(chance).sum()), tried)


def _on_domain(table: TupleCounts) -> tuple[Codes, Codes]:
    """True and published counts of every tuple of the domain, in the order of its codes."""
    inside = table.cell >= 0
    true, shown = (np.zeros(math.prod(domain.size for domain in table.domains.values()), np.int64) for _ in range(2))
    true[table.cell[inside]], shown[table.cell[inside]] = table.true[inside], table.shown[inside]
    return true, shown
