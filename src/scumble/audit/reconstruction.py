"""Personal reconstruction: in which groups is the most frequent value estimated too well?

A group of n rows fails when, for some value, the error of the estimate exceeds lambda of the truth with probability below delta, on
either side (`privacy.violations`). The rows that count are the sampled ones. Frequencies are the raw table's where it is given, and
otherwise estimated from the release, within what its sample sizes tell.
"""

from typing import Any

import numpy as np

from scumble.audit.finding import Finding
from scumble.audit.groups import PublishedGroups, read_groups, true_counts
from scumble.audit.scale import told
from scumble.privacy.violations import Violations, violations
from scumble.release.groups import Counts
from scumble.release.release import Release

LAMBDA, DELTA = 0.3, 0.1
"""Where the release does not say what it was made for."""


def attack(release: Release, raw: Any = None, lam: Any = None, delta: Any = None) -> Finding:
    """The share of people in groups that fail the exact test."""
    found, groups = examine(release, raw, lam, delta)
    sizes = groups.sampled
    failing = int(groups.size[found.exact.violating].sum())
    detail = (
        f"{int(found.exact.violating.sum())} of {len(sizes)} groups fail by exact tails, {int(found.chernoff.violating.sum())} by Chernoff's bound"
        + ("" if raw is not None else "; frequencies are estimated from the release")
    )
    return Finding.of_share("reconstruction", failing, int(groups.size.sum()), 0.0, detail)


def examine(release: Release, raw: Any, lam: Any, delta: Any) -> tuple[Violations, PublishedGroups]:
    """The test of the groups of a release."""
    groups, sampling = read_groups(release), release.manifest.sampling
    lam = lam if lam is not None else sampling.lam if sampling else LAMBDA
    delta = delta if delta is not None else sampling.delta if sampling else DELTA
    if raw is not None:
        shares = true_counts(release, groups, raw) / groups.size[:, np.newaxis]
    else:
        most = 1.0 if sampling is None else told(groups, sampling)[1][:, np.newaxis]
        shares = np.minimum(groups.estimates(), most)
    return violations(apportioned(shares, groups.sampled), groups.retain, lam, delta), groups


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
