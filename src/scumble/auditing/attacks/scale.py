"""The scale attack: weights or duplicates tell a group's sample size s, and s may tell the largest frequency f in it.

    paper     s = floor(s(f)), so f is that at which the size is s
    ladder    f lies between the rung of s and the next lower one
    one       s is the same whatever f is: nothing is left but the estimate from the sampled rows

The success is the share of groups whose f the attacker gets within 5%; the baseline is what the estimate from the sampled
rows gets, which the sample size is to keep inexact. Only groups of scale n/s >= 2 are looked at.
"""

import math
from typing import Any

import numpy as np

from scumble.auditing.evidence.published_groups import Numbers, PublishedGroups, read_groups, true_counts
from scumble.auditing.finding import Finding
from scumble.core.errors import ParameterError
from scumble.forms.rows.record import SamplingRecord
from scumble.privacy.reconstruction import sample_size
from scumble.release.release import Release

NEAR = 0.05
"""f counts as known within this share of itself."""

STEPS = 400
"""Frequencies that are tried where the size has no formula."""


def attack(release: Release, raw: Any = None) -> Finding:
    """How often f can be told from the scale; without the raw table, how often the scale alone leaves no room for another f."""
    groups, sampling = read_groups(release), release.manifest.view.sampling
    if sampling is None:
        raise ParameterError("groups of this release were not sampled, so there is no scale to read")
    large = np.flatnonzero(groups.size >= 2 * groups.sampled)
    low, high = frequency_bounds(groups, sampling)
    if raw is None:
        pinned = int((high[large] - low[large] <= 2 * NEAR * low[large]).sum())
        detail = f"of {len(large)} groups of scale 2 or more, the sample size alone fixes the largest frequency within 5% in {pinned}"
        return Finding.of_share("scale", pinned, len(large), 0.0, detail, uncovered=rungs_told(release))
    counts = true_counts(release, groups, raw)
    f = (counts.max(axis=1) / groups.size)[large]
    estimate = groups.estimates().max(axis=1)[large]
    guess = np.clip(estimate, low[large], high[large]) if sampling.sizes != "paper" else ((low + high) / 2)[large]
    hits, plain = _near(guess, f), _near(estimate, f)
    detail = (
        f"of {len(large)} groups of scale 2 or more, the largest frequency is known within 5% in {hits} by the sample size, "
        f"in {plain} by the estimate from the sampled rows"
    )
    share = plain / max(1, len(large))
    return Finding.of_share("scale", hits, len(large), share, detail, uncovered=rungs_told(release))


def rungs_told(release: Release) -> str:
    """Where the release says that sizes tell a rung of the largest frequency, and no more: its words. (That they tell the frequency itself breaks what it promises, whatever it says.)"""
    return next((clause.sentence for clause in release.terms.depends_on_data if clause.code == "rungs_tell"), "")


def frequency_bounds(groups: PublishedGroups, sampling: SamplingRecord) -> tuple[Numbers, Numbers]:
    """Between which frequencies the most frequent value of each group must lie, by the group's sample size."""
    low, high = np.full(len(groups.size), 1 / groups.counts.shape[1]), np.ones(len(groups.size))
    if sampling.sizes == "one":
        return low, high
    shares, sizes = _curve(groups, sampling)
    for size in np.unique(groups.sampled):
        fitting = shares[sizes == max(int(size), sampling.least)]
        here = groups.sampled == size
        if len(fitting):
            low[here], high[here] = fitting.min(), fitting.max()
    return low, high


def _curve(groups: PublishedGroups, sampling: SamplingRecord) -> tuple[Numbers, Numbers]:
    """Frequencies, and the sample size of each as the publisher computes it."""
    m = groups.counts.shape[1]
    steps = STEPS if sampling.tail == "exact" else 100 * STEPS
    shares = np.exp(np.linspace(-math.log(m), 0, steps))
    asked = shares
    if sampling.sizes == "ladder":
        rising = np.sort(np.array(sampling.ladder))
        asked = np.minimum(rising[np.minimum(np.searchsorted(rising, shares * (1 - 1e-12)), len(rising) - 1)], 1.0)
    sizes = sample_size(asked, groups.retain, m, sampling.lam, sampling.delta, tail=sampling.tail)
    return shares, np.maximum(np.floor(sizes), sampling.least)


def _near(guess: Numbers, f: Numbers) -> int:
    return int((np.abs(guess - f) <= NEAR * f).sum())
