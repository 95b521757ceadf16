"""Intersection: what several publications of the same people tell together, whatever their forms, domains and mechanisms. Buckets of two releases share few values; a value must be possible in all of them.

For each column that two publications or more tell of (`sightings`): the likelihoods of all of them are multiplied, and the guess is the likeliest value. The baseline is the best one of them alone. Of rows with the same domain `averaging` looks at
the coins themselves; here such pairs are left out. With the raw table it is counted who is guessed right, without it that is expected.
"""

import numpy as np
import pyarrow as pa

from scumble.auditing.attacks.averaging import same_domain
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import Codes, Publication
from scumble.auditing.evidence.sightings import Sightings, columns_seen, sightings
from scumble.auditing.finding import Finding, wilson
from scumble.core.arrow_types import decoded

NAME = "intersection"

SURE = 0.95


def attack(case: Case) -> list[Finding]:
    """A finding for every column that several publications tell of."""
    every = [case.publication, *case.others]
    names = dict.fromkeys(name for one in every for name in columns_seen(one))
    findings = (_column(case, name, [one for one in every if name in columns_seen(one)]) for name in names)
    return [finding for finding in findings if finding is not None]


def _column(case: Case, name: str, telling: list[Publication]) -> Finding | None:
    first, *others = telling or [case.publication]
    if not others or all(same_domain(name, first, other) for other in others):
        return None
    people = case.people if case.source is not None else first.table
    seen = sightings(name, telling, people)
    if seen is None:
        return None
    truth = _truth(people, name, seen) if case.source is not None else None
    both, sure = seen.believed(range(len(telling)))
    alone = [seen.believed([one]) for one in range(len(telling))]
    hits, *single = (_right(guess, belief, truth) for guess, belief in ((both, sure), *alone))
    count = len(both)
    before = np.max([belief for _, belief in alone], axis=0)
    certain = (sure > SURE) & (before <= SURE)
    right = (
        "" if truth is None else f", right for {(both[certain] == truth[certain]).mean():.0%}" if certain.any() else ""
    )
    sentence = (
        f"{name}: {count:,} people in {len(telling)} publications; together they tell the value of {hits / count:.1%}, the best one alone of {max(single) / count:.1%}; "
        f"{int(certain.sum()):,} are believed above {SURE:.0%} by all of them and by none alone{right}"
        + ("" if truth is not None else "; expected, not measured")
    )
    uncovered = case.publication.says("fresh_coins", "once_by_counts", "corruption_of_buckets", "exact_counts")
    exposed = float(((sure > 0.5) & (before <= 0.5)).mean())
    ends = wilson(hits, count)
    baseline = max(single) / count
    return Finding(NAME, hits / count, baseline, *ends, sentence, "linkability", uncovered, exposed=exposed)


def _right(guess: Codes, belief: np.ndarray, truth: Codes | None) -> float:
    return float(belief.sum() if truth is None else (guess == truth).sum())


def _truth(people: pa.Table, name: str, seen: Sightings) -> Codes:
    place = {word: number for number, word in enumerate(seen.values)}
    values = decoded(people.column(name)).take(pa.array(seen.people)).to_pylist()
    return np.array([place.get("(missing)" if value is None else str(value), -1) for value in values])
