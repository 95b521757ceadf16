"""Personal reconstruction: in which groups is the most frequent value estimated too well?

A group of n rows fails when, for some value, the error of the estimate exceeds lambda of the truth with probability below delta, on
either side (`privacy.violations`). The rows that count are the sampled ones. Frequencies are the raw table's where it is given, and
otherwise estimated from the release, within what its sample sizes tell.
"""

from typing import Any

import numpy as np

from scumble.auditing.attacks.scale import frequency_bounds
from scumble.auditing.evidence.examined import Examined
from scumble.auditing.evidence.published_groups import Numbers, read_groups, sensitive_column, true_counts
from scumble.auditing.finding import Finding
from scumble.core.parameters import number
from scumble.mechanisms.sps.personal_groups import Counts
from scumble.privacy.reconstruction import sample_size
from scumble.privacy.violations import violations
from scumble.release.release import Release

LAMBDA, DELTA = 0.3, 0.1
"""Where the release does not say what it was made for."""


def attack(release: Release, raw: Any = None) -> Finding:
    """The share of people in groups that fail the exact test."""
    examined = examine(release, raw)
    failing, by_bound = examined.violations.exact.violating, examined.violations.chernoff.violating
    detail = (
        f"{int(failing.sum())} of {len(failing)} groups fail by exact tails, {int(by_bound.sum())} by Chernoff's bound"
        + ("; frequencies are estimated from the release" if examined.estimated else "")
    )
    people = int(examined.people[failing].sum())
    return Finding.of_share("reconstruction", people, int(examined.people.sum()), 0.0, detail)


def examine(release: Release, raw: Any = None, lam: Any = None, delta: Any = None) -> Examined:
    """The test of the groups of a release."""
    groups, sampling, name = read_groups(release), release.manifest.view.sampling, sensitive_column(release)
    lam = lam if lam is not None else sampling.lam if sampling else LAMBDA
    delta = delta if delta is not None else sampling.delta if sampling else DELTA
    if raw is not None:
        shares = true_counts(release, groups, raw) / groups.size[:, np.newaxis]
    else:
        most = np.ones(len(groups.size)) if sampling is None else frequency_bounds(groups, sampling)[1]
        shares = within(groups.estimates(), most)
    verdict = violations(apportioned(shares, groups.sampled), groups.retain, lam, delta)
    values = release.manifest.domains[name].values.to_pylist()
    size = int(sample_size(1, groups.retain, len(values), lam, delta))
    numbers = number(lam, "lambda"), number(delta, "delta")
    return Examined(name, groups.keys, groups.size, verdict, groups.retain, *numbers, size, values, raw is None)


def within(shares: Numbers, most: Numbers) -> Numbers:
    """Shares of each group that add up to 1, none above the group's most: what is cut off goes to the others in proportion, and if these are full or nothing, to all alike.

    >>> within(np.array([[0.5, 0.2, 0.2], [0.6, 0.0, 0.0]]), np.array([0.4, 0.4])).round(3).tolist()
    [[0.4, 0.3, 0.3], [0.4, 0.3, 0.3]]
    """
    top = np.maximum(most, 1 / shares.shape[1])[:, np.newaxis]
    cut = np.minimum(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1), top)
    for _ in range(2 * shares.shape[1]):
        lacking = 1 - cut.sum(axis=1, keepdims=True)
        room = np.where(cut < top, cut, 0)
        alike = np.where(cut < top, 1.0, 0)
        room = np.where(room.sum(axis=1, keepdims=True) > 0, room, alike)
        total = room.sum(axis=1, keepdims=True)
        cut = np.minimum(cut + lacking * room / np.where(total > 0, total, 1), top)
    return np.asarray(cut)


def apportioned(shares: Any, size: Counts) -> Counts:
    """Whole counts that add up to each group's size, nearest to its shares: the largest remainders are rounded up.

    >>> apportioned(np.array([[0.5, 0.3, 0.2]]), np.array([4])).tolist()
    [[2, 1, 1]]
    """
    shares = np.asarray(shares, dtype=np.float64)
    total = shares.sum(axis=1, keepdims=True)
    wanted = np.where(total > 0, shares / np.where(total > 0, total, 1), 1 / shares.shape[1]) * size[:, np.newaxis]
    whole = np.floor(wanted).astype(np.int64)
    rank = np.argsort(np.argsort(-(wanted - whole), axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(whole + (rank < (size - whole.sum(axis=1))[:, np.newaxis]))
