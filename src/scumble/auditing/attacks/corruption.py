"""Corruption: an attacker who knows the true values of everybody else with the same public values, or in the same bucket, and takes them away.

Anatomy, and any table of true values: what is left is the person's. That is arithmetic, and the success is 1 wherever the others are
known; the baseline is the best guess without them.

A perturbed release (needs the raw table): the attacker takes the others' true values from the published ones of the group and guesses the
value that is left over most. Knowing others can show him the person's row, never more, so the baseline is what the channel lets a known
row give at face value, or in groups where that is more, what the most frequent value of the others gives, which needs no release. Whether more comes
through than the channel lets is told by tables that are drawn by it: the same attack on these gets as much in the mean. People of
a group are right or wrong by the same few coins, so that a group counts as one throw. Where groups were sampled, published rows
stand for as many people as were sampled by them. Of boxes (perturbed generalization) the likelihood of the one published value is weighed for each
person (`boxes`), and the baseline is what the channel lets that get.

Swapped values: the published column has the very values of the table, so whoever knows all others of the table, whatever their public values, has the
last one left. Nothing of the raw table is needed for that; with it, it is counted. (Identity perturbation draws anew and keeps no counts.)
"""

from dataclasses import replace

import numpy as np

from scumble.auditing.evidence.boxes import guessed
from scumble.auditing.evidence.buckets import AnatomyBuckets
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers, column_law
from scumble.auditing.evidence.parts import HitCount, Judged
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.evidence.trials import law_of
from scumble.auditing.evidence.value_counts import ValueCounts
from scumble.auditing.finding import Finding, wilson
from scumble.auditing.level import error_of
from scumble.core.channel_base import BaseChannel
from scumble.core.entropy import Entropy, Stream

NAME = "corruption"

DRAWN = 8
"""Tables that are drawn by the law of the manifest."""

TRUE_VALUES = "A table of true values does not protect from those who know the others."


def attack(case: Case) -> Finding | None:
    """The sensitive column that corruption helps most with."""
    publication = case.publication
    if publication.form == "buckets":
        return _bucket(case)
    if publication.traits.permuted:
        findings = [_swapped(case, name) for name in publication.sensitive]
    elif publication.generalized:
        findings = [_box(case, name) for name in publication.sensitive if case.raw is not None]
    elif publication.perturbed:
        if case.raw is None:
            return None
        findings = [_perturbed(case, name) for name in publication.sensitive]
    else:
        findings = [_true_values(case, name) for name in publication.sensitive if publication.manifest is None]
    return max(findings, key=lambda finding: finding.low - finding.baseline, default=None)


def _bucket(case: Case) -> Finding:
    buckets = AnatomyBuckets.of(case.publication)
    sentence = f"{buckets.name}: what is left of a bucket when the values of all its other rows are taken away; without them the best guess is right in 1/l"
    return Finding(
        NAME,
        1.0,
        round(buckets.largest_share(), 12),
        1.0,
        1.0,
        sentence,
        "inference",
        case.publication.says("corruption", "corruption_of_buckets"),
    )


def _true_values(case: Case, name: str) -> Finding:
    """Counted: who has others with the same public values gets theirs taken away, and one is left."""
    (group,), count = together(case.publication.quasi, case.publication.table)
    (value,), size = together([name], case.publication.table)
    first, _, _ = ValueCounts(group, value, size).two_largest(count)
    guess = float(first.sum()) / max(1, len(group))
    sentence = f"{name}: what is left of the rows with a person's public values when those of all others are taken away, if the table's values are true; the best guess without is right in {guess:.2%}"
    return Finding(NAME, 1.0, guess, 1.0, 1.0, sentence, "inference", TRUE_VALUES)


def _swapped(case: Case, name: str) -> Finding:
    """All rows are one group, and what is left of it is the person's."""
    publication = case.publication
    truth = case.truth(name) if case.raw is not None else None
    law = column_law(publication, name, truth)
    share = 1.0
    if truth is not None:
        seen = publication.codes(name)
        share = _left_over(np.zeros_like(seen), seen, np.zeros_like(truth), truth, len(law.prior), 1).sum() / len(truth)
    sentence = f"{name}: what is left of the whole column when the values of all others in the table are taken away, because its counts are the true ones; a known row gives {law.face_value:.2%} at face value"
    return Finding(
        NAME,
        share,
        law.face_value,
        share,
        share,
        sentence,
        "inference",
        publication.says("corruption", "corruption_of_buckets"),
    )


def _perturbed(case: Case, name: str) -> Finding:
    publication, truth = case.publication, case.truth(name)
    law = column_law(publication, name, truth)
    hits, size, by_others = _by_group(case, law.read(publication.codes(name)), truth, len(law.prior))
    share = float(np.maximum(law.face_value * size, by_others).sum() / max(1.0, size.sum()))
    sentence = (
        f"{name}: {int(size.sum()):,} people, by whoever knows the true values of all others with the same public values; a known row gives {law.face_value:.2%} at face value, "
        f"that or the most frequent value of the others {share:.2%}"
    )
    uncovered = publication.says("not_most_others") if publication.sampled else ""
    success = float(hits.sum() / max(1.0, size.sum()))
    if (
        uncovered or len(law.keep) > 1
    ):  # of sub-tables it is measured, and `retention` tells whether too much comes through
        ends, p = wilson(hits.sum(), size.sum()), None if uncovered else 1.0
        return Finding(NAME, success, share, *ends, sentence, "inference", uncovered, p=p, error=error_of(NAME))
    return _against_law(case, name, hits, size, sentence, share)


def _against_law(case: Case, name: str, hits: Numbers, size: Numbers, sentence: str, share: float) -> Finding:
    """Against what the same attack gets on tables that are drawn by the law of the manifest: the differences of groups have mean 0, and are independent of each other."""
    publication, truth = case.publication, case.truth(name)
    (channel,) = law_of(publication, name, truth)
    law = column_law(publication, name, truth)
    mean = np.zeros(len(hits))
    for k in range(DRAWN):
        drawn = _drawn(truth, channel, Entropy.seeded(k).stream("corruption", name))
        mean += _by_group(case, law.read(drawn), truth, len(law.prior), case.groups.raw)[0] / DRAWN
    spread = float((size**2).sum()) / 4 * (1 + 1 / DRAWN)
    largest = float(size.max(initial=1)) * (1 + 1 / DRAWN)
    total, error = float(size.sum()), error_of(NAME) / len(publication.sensitive)
    measured = Judged(HitCount(float(hits.sum()), float(mean.sum()), spread, total, largest), error)
    detail = f"{sentence}; the channel of the manifest lets this attack get {measured.expected:.2%}"
    return replace(measured.finding(NAME, detail, "inference"), baseline=max(share, measured.expected))


def _drawn(truth: Codes, channel: BaseChannel, stream: Stream) -> Codes:
    """Codes of all people, drawn by a channel, each for himself: where a uniform number lies among the sums of the column. To 2^-53, which is enough to compare with."""
    shown = np.empty(len(truth), dtype=np.int64)
    uniform = stream.integers(len(truth), 64) * 2.0**-64
    order = np.argsort(truth, kind="stable")
    ends = np.cumsum(np.bincount(truth, minlength=channel.size))
    for some, columns in channel.column_blocks():
        for value, column in zip(range(some.start, some.stop), columns.T, strict=True):
            rows = order[ends[value - 1] if value else 0 : ends[value]]
            sums = np.cumsum(column)[:-1]
            shown[rows] = np.searchsorted(sums, uniform[rows], side="right")
    return shown


def _by_group(
    case: Case, seen: Codes, truth: Codes, values: int, published_groups: Codes | None = None
) -> tuple[Numbers, Numbers, Numbers]:
    """Of each group how many of its people are guessed right, how many there are, and how many have the most frequent value of the others."""
    groups = case.groups
    of_row = groups.published if published_groups is None else published_groups
    crowded = ~((groups.rows == 1) & (groups.people == 1))
    number, count = np.cumsum(crowded) - 1, int(crowded.sum())
    ours, theirs = crowded[of_row], crowded[groups.raw]
    published, raw = number[of_row[ours]], number[groups.raw[theirs]]
    weights = _scaled(case)[ours] if case.publication.sampled else None
    hits = _left_over(published, seen[ours], raw, truth[theirs], values, count, weights)
    largest, second, _ = ValueCounts(raw, truth[theirs], values).two_largest(count)
    people, rows = case.known if published_groups is None else (case.known[0], case.known[0])
    alone = np.zeros(len(people))
    return (
        np.concatenate([hits, truth[people] == seen[rows]]),  # with nobody to take away, the row's own value is left
        np.concatenate([groups.people[crowded], alone + 1]),
        np.concatenate([np.where(largest > second, largest, 0), alone]),
    )


def _scaled(case: Case) -> Numbers:
    """What each sampled row stands for: the people of its group, by its sampled rows."""
    groups, weights = case.groups, case.publication.weights
    rows = np.bincount(groups.published, weights=weights, minlength=groups.count)
    return np.asarray(weights * (groups.people / np.where(rows > 0, rows, 1))[groups.published])


def _box(case: Case, name: str) -> Finding:
    truth = case.truth(name)
    law = column_law(case.publication, name, truth)
    measured = guessed(case.boxes, truth, case.publication.codes(name), law, error_of(NAME), known=True)
    sentence = f"{name}: whoever knows the true values of all others in a person's box; the channel of the manifest lets {measured.expected:.2%} of {measured.people:,} people be guessed right"
    return Finding(NAME, measured.success, measured.expected, *measured.ends, sentence)


def _left_over(
    group: Codes, seen: Codes, people: Codes, truth: Codes, size: int, count: int, weights: Numbers | None = None
) -> Numbers:
    """How many people of each group have the value that is left over most, after the others are taken away; among several alike one is guessed.

    D(g, j) = published - true count. For a person of value x it is D + [j = x], so x wins if D(g, x) + 1 is above all others.
    """
    published, true = ValueCounts(group, seen, size), ValueCounts(people, truth, size)
    cells = np.unique(np.concatenate([published.cell, true.cell]))
    at, value = cells // size, cells % size
    there = published.at(at, value) if weights is None else _sums(cells, group * size + seen, weights)
    left = there - true.at(at, value)
    length = np.bincount(at, minlength=count)
    order = np.lexsort((-left, at))
    start = np.searchsorted(at[order], np.arange(count))
    sorted_left = np.append(left[order], 0)
    most = np.where(length > 0, sorted_left[np.minimum(start, len(left))], 0)
    # values that nobody has and no row shows are left over 0 times
    most = np.where(length < size, np.maximum(most, 0), most)
    zeros = np.where(most == 0, size - length, 0)
    alike = np.bincount(at, weights=left == most[at], minlength=count) + zeros
    own = left[np.searchsorted(cells, true.cell)]
    top, many = most[true.group], alike[true.group]
    chance = np.where(own + 1 > top, 1.0, np.where(own + 1 == top, 1 / (many + 1), 0.0))
    return np.bincount(true.group, weights=chance * true.times, minlength=count).astype(np.float64)


def _sums(cells: Codes, wanted: Codes, weights: Numbers) -> Numbers:
    """The weights of the rows in each cell."""
    return np.bincount(np.searchsorted(cells, wanted), weights=weights, minlength=len(cells)).astype(np.float64)
