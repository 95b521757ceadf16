"""Inference: whoever knows a person's public values finds a row that has them and guesses the sensitive value as well as can be.

A perturbed release: where the row is known, the guess is the likeliest true value behind the published one, for an attacker who knows the
table's own distribution; elsewhere it is the most frequent value. The baseline is what the channel of the manifest lets these guesses get. Success above it,
over all or in a part of the table (`guessing`), means that more comes through than was promised.

Anatomy: the guess is the most frequent value of the row's bucket, and the baseline 1/l.

Boxes of perturbed generalization (with the raw table): the likeliest value behind that of the person's box (`boxes`), against what the channel lets that get.

A table of which nothing is said: the guess is the most frequent value among rows with the person's public values; the baseline is the same
guess where the person's own row is left out, which is what statistics of the others tell of anybody, in the table or not.
"""

import numpy as np
import pyarrow as pa

from scumble.auditing.evidence.boxes import guessed
from scumble.auditing.evidence.buckets import AnatomyBuckets
from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import ColumnLaw, column_law
from scumble.auditing.evidence.guessing import in_known_rows
from scumble.auditing.evidence.publication import together
from scumble.auditing.evidence.value_counts import ValueCounts
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of

NAME = "inference"


def attack(case: Case) -> Finding | None:
    """The sensitive column that is guessed best, against its baseline."""
    publication = case.publication
    if publication.form == "buckets":
        return _bucket(case)
    if publication.generalized and case.raw is not None:
        return _box(case)
    if publication.manifest is not None and not publication.perturbed:
        return None
    one = _perturbed if publication.perturbed else _plain
    return max(
        (one(case, n) for n in publication.sensitive), key=lambda finding: finding.low - finding.baseline, default=None
    )


def _perturbed(case: Case, name: str) -> Finding:
    if case.raw is None:
        law = column_law(case.publication, name)
        rate = law.success()
        sentence = f"{name}: expected of the likeliest value behind each row, by the channel and the reconstructed distribution; {_prior(law)}"
        return Finding(NAME, rate, rate, rate, rate, sentence)
    truth = case.truth(name)
    law = column_law(case.publication, name, truth)
    error = error_of(NAME) / len(case.publication.sensitive)
    measured = in_known_rows(case, name, truth, law, law.guesses(), error)
    where = f" with {measured.of}" if measured.of else ""
    sentence = f"{name}: measured on {measured.people:,} people{where}; the channel of the manifest lets the guess be right in {measured.expected:.2%}, and {_prior(law)}"
    return Finding(NAME, measured.success, measured.expected, *measured.ends, sentence)


def _prior(law: ColumnLaw) -> str:
    return f"the most frequent value, guessed without the release, is right in {law.prior.max():.2%}"


def _bucket(case: Case) -> Finding:
    """The first of the most frequent values of a bucket, for every row of it; of people whose rows were left out nothing was promised or told."""
    buckets = AnatomyBuckets.of(case.publication)
    promised = 1 / buckets.diversity
    sentence = f"{buckets.name}: the most frequent value in the bucket of a row with the person's public values; 1/l = {promised:.2%} is promised"
    if case.raw is None:
        share = round(buckets.largest_share(), 12)
        return Finding(NAME, share, round(promised, 12), share, share, sentence)
    groups, truth = case.groups, buckets.codes(case.raw.column(buckets.name))
    published = buckets.published(truth)
    cells = ValueCounts(groups.raw, truth, len(published))
    rows = np.bincount(cells.group, weights=cells.times * published[cells.value], minlength=groups.count)
    guess = buckets.counts.argmax(axis=1)[buckets.of_row]
    here = rows[groups.published] > 0
    of, said = groups.published[here], guess[here]
    right = cells.at(of, said) * published[said] / rows[of]
    return Finding.of_share(NAME, round(right.sum()), int(here.sum()), promised, sentence)


def _box(case: Case) -> Finding:
    """By the value of the box that a person lies in."""
    (name,) = case.publication.sensitive
    truth = case.truth(name)
    law = column_law(case.publication, name, truth)
    measured = guessed(case.boxes, truth, case.publication.codes(name), law, error_of(NAME), known=False)
    sentence = f"{name}: measured on {measured.people:,} people by the value of their box; the channel of the manifest lets the guess be right in {measured.expected:.2%}, and {_prior(law)}"
    return Finding(NAME, measured.success, measured.expected, *measured.ends, sentence)


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
