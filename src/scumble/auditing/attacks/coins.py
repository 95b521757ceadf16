"""Coins: do they hang together, or on anything that they should not hang on? A sound column throws a coin of its own for each row, whatever the row's place.

With the raw table, for everybody whose row is known: scores of what came out against its law (`trials`), in the order of the raw table (`serial`). Looked at are a rise or
fall along the rows, and every period (counters, linear generators, batches); every distance between two rows (a keystream that repeats, one coin for two rows); the true values
of other rows, at every distance (values that are taken from a neighbour); and two columns against each other, at every distance (one keystream for both). Columns that are kept together on purpose are looked at each by itself. The success is the correlation.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import Codes
from scumble.auditing.evidence.serial import Series
from scumble.auditing.evidence.signs import Sign, finding_of
from scumble.auditing.evidence.trials import Trials, all_trials
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of

NAME = "coins"

MOST_PAIRS = 10
"""Pairs of columns that are looked at."""


def attack(case: Case) -> Finding | None:
    """The most improbable sign that coins are not thrown each for itself."""
    trials = list(all_trials(case))
    if not trials:
        return None
    assert case.publication.manifest is not None
    joint = set(case.publication.manifest.view.joint)
    pairs = [pair for pair in combinations(trials, 2) if not {one.column for one in pair} <= joint]
    families = [
        [sign for one in trials for sign in _of_column(one, case.truth(one.column), case.place, case.length)],
        [sign for pair in pairs[:MOST_PAIRS] for sign in _of_columns(*pair, case.length)],
    ]
    return finding_of(NAME, families, error_of(NAME), f"throwing {len(trials[0].place):,} coins each for itself")


def _of_column(trials: Trials, true: Codes, place: Codes, length: int) -> Iterator[Sign]:
    for score, series in zip(trials.scores, _series(trials, length), strict=True):
        for sign in (*series.by_place(), series.by_distance()):
            yield replace(sign, of=f"{trials.column}: {score.of} {sign.of}, a correlation of {sign.seen:.3f}")
        if score.weight is not None:
            weight = score.weight[true] - score.weight[true].mean()
            truth = Series(weight, np.zeros(len(weight)), place, length)
            sign = truth.by_distance(series)
            of = f"{trials.column}: {score.of} goes with the true value of {sign.of.removeprefix('goes with that of ')}, a correlation of {sign.seen:.3f}"
            yield replace(sign, of=of)


def _of_columns(first: Trials, second: Trials, length: int) -> Iterator[Sign]:
    scores = zip(first.scores, _series(first, length), _series(second, length), strict=True)
    for score, one, other in scores:
        sign = one.by_distance(other)
        of = f"{second.column}: {score.of} {sign.of}, in {first.column}, a correlation of {sign.seen:.3f}"
        yield replace(sign, of=of)


def _series(trials: Trials, length: int) -> Iterator[Series]:
    for score in trials.scores:
        yield Series(score.value, score.variance, trials.place, length)
