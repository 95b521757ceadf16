"""Inference: whoever knows a person's public values finds the rows that have them, and guesses the sensitive value as well as can be: by what these values tell anyway, and by what the rows show.

Rows and buckets, for every sensitive column (`beliefs`): an attacker with the release alone, who learns from it what public values tell; one who knows how common each value is; and with the raw table one who knows the true
values of all others. Of each it is told how often he is right, and of how many people he believes a value above 50, 80 and 95% that is not believed so without the release; beside what public values tell without the person's
row, and what the commonest value gives. The success is that of the best of them, the baseline what public values tell anyway. It is *open* where people are believed so: a release does not protect from what public columns tell.

It is *broken* where guesses are right more often than the channel of the manifest lets them be. With beliefs before the row that no coin has a part in (those of who knows all others), each known person's guess is right with a
probability that follows from the channel, each for himself.

Boxes of perturbed generalization (with the raw table): the likeliest value behind that of the person's box (`boxes`), against what the channel lets that get. A table of which nothing is said: the guess is the most frequent
value among rows with the person's public values; the baseline is the same guess where the person's own row is left out, which is what statistics of the others tell of anybody, in the table or not.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from scumble.auditing.evidence.beliefs import LEVELS, AttackerBeliefs, Believed, all_names
from scumble.auditing.evidence.boxes import guessed
from scumble.auditing.evidence.buckets import AnatomyBuckets
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers, column_law
from scumble.auditing.evidence.parts import HitCount, Judged
from scumble.auditing.evidence.publication import together
from scumble.auditing.evidence.trials import trials_of
from scumble.auditing.evidence.value_counts import ValueCounts
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of

NAME = "inference"

TOLD = "What public columns tell: no coin hides what stands beside a sensitive column, or what a group has in common."
ENTRIES = 100_000_000
"""People by codes by values for which guesses are compared with the channel, at most."""
SOME = 10
"""People who are believed above 50%, at least, before it is looked for a column to coarsen."""


def attack(case: Case) -> list[Finding]:
    """A finding for every sensitive column."""
    publication = case.publication
    if publication.generalized:
        return [_box(case)] if case.raw is not None else []
    if publication.manifest is None:
        return [_plain(case, name) for name in publication.sensitive]
    if publication.form == "buckets" and (fewer := _fewer(AnatomyBuckets.of(publication))) is not None:
        return [fewer]
    return [_believed(case, name) for name in all_names(case)]


def _fewer(buckets: AnatomyBuckets) -> Finding | None:
    """Buckets in which a value is commoner than is promised."""
    promised = 1 / buckets.diversity
    share = round(buckets.largest_share(), 12)
    if share <= round(promised, 12):
        return None
    sentence = f"{buckets.name}: the most frequent value of its bucket is right for {share:.2%} of the rows, and 1/l = {promised:.2%} is promised"
    return Finding(NAME, share, promised, share, share, sentence)


def _believed(case: Case, name: str) -> Finding:
    beliefs = AttackerBeliefs(case, name)
    plain, seen = beliefs.by_release()
    attackers = {"release": seen, "shares": beliefs.by_shares()}
    without = {"release": plain}
    if beliefs.truth is not None:
        without["others"], attackers["others"] = beliefs.by_others()
    best = max(attackers, key=lambda who: attackers[who].accuracy)
    prior = beliefs.prior
    worst = max(attackers.values(), key=lambda who: who.above(LEVELS[0], prior)[0])
    people = float(worst.people.sum())
    common = float(prior.max())
    baseline = max(common, *(each.accuracy for each in without.values()))
    exposed = worst.above(LEVELS[0], prior)[0] / max(1.0, people)
    sentence = "; ".join(
        [f"{name}: {people:,.0f} people", *_sentences(attackers, without, prior, beliefs.truth is None)]
    )
    log_p, error = _law(case, beliefs, name) if beliefs.truth is not None else (0.0, error_of(NAME))
    uncovered = case.publication.says("public_columns", "group", "frequent_group") or TOLD
    finding = Finding.of_test(
        NAME, attackers[best].accuracy, baseline, log_p, error, sentence, "inference", uncovered, exposed
    )
    spread = 4.42 * math.sqrt(finding.success * (1 - finding.success) / max(1.0, people))
    ends = (max(0.0, finding.success - spread), min(1.0, finding.success + spread))
    measures = {
        "column": name,
        "people": people,
        "commonest": common,
        "attackers": {who: each.to_dict(prior) for who, each in attackers.items()},
        "public_columns": {who: each.to_dict(prior) for who, each in without.items()},
    }
    advice = _advice(case, name, beliefs, worst.above(LEVELS[0], prior)[0]) if exposed else ""
    return replace(finding, low=ends[0], high=ends[1], measures=measures, advice=advice)


WHO = {
    "release": "with the release alone",
    "shares": "who knows the shares of the table",
    "others": "who knows the true values of all others",
}


def _sentences(
    attackers: dict[str, Believed], without: dict[str, Believed], prior: Numbers, expected: bool
) -> Iterator[str]:
    """What each attacker gets, in words."""
    sure = "expected to be right" if expected else "right"
    for who, each in attackers.items():
        told = f"an attacker {WHO[who]} is {sure} for {each.accuracy:.1%}"
        if who in without:
            told += f" ({without[who].accuracy:.1%} by public columns without the row)"
        counted = [(level, *each.above(level, prior)) for level in LEVELS]
        above = [f"{people:,} above {level:.0%} ({sure} for {right:.0%})" for level, people, right in counted if people]
        alone, right = each.above(LEVELS[0], prior, alone=True)
        if alone:
            above.append(f"{alone:,} of them alone with their public values ({right:.0%})")
        yield told + (f", and believes a value of {', '.join(above)}" if above else "")
    yield f"the commonest value is right for {prior.max():.1%}"


def _law(case: Case, beliefs: AttackerBeliefs, name: str) -> tuple[float, float]:
    """Whether more of the known people are guessed right than the channel lets be, by beliefs that no coin has a part in."""
    error = error_of(NAME) / max(1, len(case.publication.sensitive))
    if not case.publication.perturbed or case.publication.sampled or case.publication.traits.permuted:
        return 0.0, error
    trials = trials_of(case, name)
    (channel, *more) = trials.channels
    people = np.arange(len(trials.true))[: max(1, ENTRIES // (channel.size * channel.codes))]
    if more or not len(people) or channel.size * channel.codes > ENTRIES // 100:
        return 0.0, error
    before = beliefs.before(trials.person[people])
    matrix = channel.matrix()
    hits, chance = 0.0, np.zeros(len(people))
    for code in range(channel.codes):
        guess = (before * matrix[code]).argmax(axis=1)
        right = guess == trials.true[people]
        chance += right * matrix[code][trials.true[people]]
        hits += float((right & (trials.shown[people] == code)).sum())
    judged = Judged(HitCount.of_chances(hits, chance), error)
    return judged.log_p, error


MOST_LEFT_OUT = 4
"""Columns that are left out in turn, at most: those that tell most. Each takes as long as the attack itself."""


def _advice(case: Case, name: str, beliefs: AttackerBeliefs, now: int) -> str:
    """The column without which fewest people are believed above 50%."""
    quasi, raw = case.publication.quasi, beliefs.truth is not None
    if now < SOME or len(quasi) < 2:
        return ""
    telling, left = beliefs.telling(raw)[:MOST_LEFT_OUT], {}
    for column in (column for column in quasi if column in telling):
        without = AttackerBeliefs(case, name, without=column)
        _, seen = without.by_others() if raw else without.by_release()
        left[column] = seen.above(LEVELS[0], without.prior)[0]
    best = min(left, key=lambda column: left[column])
    if left[best] >= now:
        return ""
    others = ", ".join(f"{column}: {left[column]:,}" for column in sorted(left, key=left.__getitem__) if column != best)
    return f"coarsen or drop {best}: without it {left[best]:,} people are believed above 50%, and {now:,} with it (without {others})"


def _box(case: Case) -> Finding:
    """By the value of the box that a person lies in."""
    (name,) = case.publication.sensitive
    truth = case.truth(name)
    law = column_law(case.publication, name, truth)
    measured = guessed(case.boxes, truth, case.publication.codes(name), law, error_of(NAME), known=False)
    sentence = (
        f"{name}: measured on {measured.people:,} people by the value of their box; the channel of the manifest lets the guess be right in {measured.expected:.2%}, "
        f"and the most frequent value, guessed without the release, is right in {law.prior.max():.2%}"
    )
    return measured.finding(NAME, sentence, "inference")


def _plain(case: Case, name: str) -> Finding:
    """The most frequent value of rows with the same public values, with and without the person's own row."""
    scored = case.scored
    tables: list[pa.Table] = [case.publication.table, case.raw] if scored else [case.publication.table]
    groups, count = together(case.publication.quasi, *tables)
    values, size = together([name], *tables)
    first, second, whose = ValueCounts(groups[0], values[0], size).two_largest(count)
    group, value = groups[-1], values[-1]
    overall = int(np.bincount(values[0], minlength=size).argmax())
    guess = np.where(first[group] > 0, whose[group], overall)
    own = whose[group] == value
    others = np.where(own, first[group] - 1, first[group])  # how often the guess is there without the person
    left_out = np.where(others > second[group], own, False)
    left_out[(others == 0) & (second[group] == 0)] = (value == overall)[(others == 0) & (second[group] == 0)]
    known = float((value == overall).mean()) if len(value) else 0.0
    without = float(left_out.mean()) if len(value) else 0.0
    sentence = (
        f"{name}: the most frequent value among rows with the same {len(case.publication.quasi)} known columns, scored by the "
        f"{'raw table' if scored else 'table itself'}; {without:.2%} where a person's own row is left out, {known:.2%} by the most frequent value of all"
    )
    return Finding.of_share(NAME, int((guess == value).sum()), len(value), max(without, known), sentence)
