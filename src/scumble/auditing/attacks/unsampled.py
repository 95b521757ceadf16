"""The weaker signal: a group that was NOT sampled, though it is larger than s(1), shows that s(f) is at least its size, so f is small.

Where one size holds for all groups, those that are not sampled have at most s(1) people, which their size alone tells.
"""

from typing import Any

import numpy as np

from scumble.auditing.attacks.scale import rungs_told
from scumble.auditing.evidence.published_groups import read_groups
from scumble.auditing.finding import Finding
from scumble.core.errors import ParameterError
from scumble.release.release import Release


def attack(release: Release, raw: Any = None) -> Finding:
    """The share of groups of which it is told that their largest frequency is below some number."""
    groups, sampling = read_groups(release), release.manifest.view.sampling
    if sampling is None:
        raise ParameterError("groups of this release were not sampled, so it does not tell which were not")
    larger = groups.size > sampling.least
    whole = int((larger & (groups.sampled == groups.size)).sum())
    targets = int(larger.sum())
    detail = (
        f"{targets} of {len(groups.size)} groups have more than {sampling.least} people; {whole} of them were published whole, "
        + (
            "which shows that no value is frequent in them"
            if whole
            else "so that which groups were sampled tells nothing"
        )
    )
    return Finding.of_share(
        "not sampled", whole, targets or np.size(groups.size), 0.0, detail, uncovered=rungs_told(release)
    )
