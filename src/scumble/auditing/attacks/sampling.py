"""Sampling: do the samples of groups hold their values as the manifest says? Each value of a group is to be sampled in its share, rounded down or up by coins, and perturbed.

With the raw table. Of a group of n people, c_x of value x, s are sampled, and of these the mean number with code y is s (sum_x c_x P[y, x]) / n. Roundings of one group are never positively correlated (`mechanisms/sps/sampling.py`), so that the
number is spread no wider than that of coins each for itself. Looked at are each group and code, each code over all groups, and each code over the groups of a public value. And facts: a group has as many sampled rows as the manifest says, and
stands for as many people as it has.
"""

import math
from collections.abc import Iterator

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.parts import columns_of, frequent
from scumble.auditing.evidence.published_groups import PublishedGroups, read_groups, true_counts
from scumble.auditing.evidence.signs import Sign, finding_of
from scumble.auditing.evidence.tails import bennett
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.mechanisms.sps.personal_groups import Counts
from scumble.release.release import Release

NAME = "sampling"


def attack(case: Case) -> Finding | None:
    """The most improbable sample."""
    release = case.publication.release
    if release is None or case.source is None or not case.publication.sampled:
        return None
    groups = read_groups(release)
    counts = true_counts(release, groups, case.source)
    wrong = _wrong(release, groups, counts)
    if wrong:
        sentence = f"{wrong:,} of {len(groups.size):,} groups have another number of sampled rows, or stand for another number of people, than follows from the manifest"
        return Finding.of_facts(NAME, wrong, len(groups.size), sentence, "integrity")
    mean, variance = _law(groups, counts)
    signs = list(_signs(groups, groups.counts.astype(np.float64), mean, variance))
    return finding_of(NAME, [signs[:1], signs[1:2], signs[2:]], error_of(NAME), "sampling and coins of the manifest")


def _wrong(release: Release, groups: PublishedGroups, counts: Counts) -> int:
    people = counts.sum(axis=1)
    sampling = release.manifest.view.sampling
    wrong = people != groups.size
    if sampling is not None and sampling.sizes == "one":
        wrong |= groups.sampled != np.minimum(people, sampling.least)
    return int(wrong.sum())


def _law(groups: PublishedGroups, counts: Counts) -> tuple[Numbers, Numbers]:
    """Mean and variance of how often each code is published in each group."""
    p, m = groups.retain, counts.shape[1]
    drawn, kept = (1 - p) / m, p + (1 - p) / m
    wanted = counts * (groups.sampled / np.maximum(groups.size, 1))[:, np.newaxis]
    surely, maybe = np.divmod(wanted, 1)

    def summed(of_row: Numbers, own: float, other: float) -> Numbers:
        return np.asarray(of_row * own + (of_row.sum(axis=1, keepdims=True) - of_row) * other)

    mean = summed(wanted, kept, drawn)
    return mean, np.maximum(mean - summed(surely, kept**2, drawn**2) - summed(maybe**2, kept**2, drawn**2), 0)


def _signs(groups: PublishedGroups, seen: Numbers, mean: Numbers, variance: Numbers) -> Iterator[Sign]:
    rows = groups.sampled.astype(np.float64)
    yield _worst(seen, mean, variance, rows, lambda g: f" of group {g}")
    whole_seen, whole_mean, whole_variance = (part.sum(axis=0, keepdims=True) for part in (seen, mean, variance))
    yield _worst(whole_seen, whole_mean, whole_variance, np.array([rows.sum()]), lambda _: "")
    for codes, named in columns_of(groups.keys, [name for name in groups.keys.column_names if name]):
        looked_at = frequent(np.bincount(codes, weights=rows))
        if looked_at:
            chosen = (np.stack([part[codes == k].sum(axis=0) for k in looked_at]) for part in (seen, mean, variance))
            part_seen, part_mean, part_variance = chosen
            sizes = np.array([rows[codes == k].sum() for k in looked_at])
            yield _worst(
                part_seen, part_mean, part_variance, sizes, lambda g, n=named, at=looked_at: f" with {n(at[g])}"
            )


def _worst(seen: Numbers, mean: Numbers, variance: Numbers, rows: Numbers, where: object) -> Sign:
    assert callable(where)
    log_p = np.minimum(bennett(np.abs(seen - mean), variance) + math.log(2), 0)
    group, code = (int(at) for at in np.unravel_index(int(log_p.argmin()), log_p.shape))
    of = f"{seen[group, code]:,.0f} of {rows[group]:,.0f} sampled rows{where(group)} have code {code}, where {mean[group, code]:,.1f} are expected"
    share = max(1.0, float(rows[group]))
    return Sign(
        float(log_p[group, code]), float(seen[group, code]) / share, float(mean[group, code]) / share, of
    ).among(log_p.size)
