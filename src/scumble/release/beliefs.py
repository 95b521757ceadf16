"""The largest belief that a publisher computed from the table's own frequencies, held against the published counts.

Nobody can derive it without the table, but a published table bounds it from below. Of n rows a share q_i is published as i,

    q_i = p_i f_i + r_i D,        D = sum_j (1 - p_j) f_j <= 1 - p_i f_i - l (1 - f_i),        l = min p

so that f_i >= (q_i - r_i (1 - l)) / (p_i (1 - r_i) + r_i l), and the belief in i where i is seen, f_i (p_i + (1 - p_i) r_i) / q_i, is bounded by what
grows with q_i. Rows go through their coins independently, so that the exact binomial bound for q_i holds whatever the true values are (Hoeffding 1956).
"""

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, Vector, replacement_of
from scumble.core.errors import ReleaseError, SchemaError
from scumble.privacy.guarantee import Guarantee
from scumble.release.check import Check, said
from scumble.release.release import Release

FALSE_ALARM = 1e-9
"""The probability that a sound release fails this check."""

LARGEST = "largest_posterior"


def belief_checks(release: Release) -> list[Check]:
    """A check of each guarantee that states a largest belief."""
    try:
        return [
            _belief(release, guarantee) for guarantee in release.terms.guarantees if LARGEST in guarantee.parameters
        ]
    except (ReleaseError, SchemaError):
        return []  # said by the checks of guarantees and channels


def _belief(release: Release, guarantee: Guarantee) -> Check:
    name, stated = guarantee.columns[0], guarantee.parameters[LARGEST]
    counts = release.published_counts(name)
    channels = [replacement_of(stratum[name]) for stratum in release.strata]
    share = FALSE_ALARM / counts.size
    reached = np.max([at_least(seen, channel, share) for seen, channel in zip(counts, channels, strict=True)], axis=0)
    above = int((reached > stated).sum())
    what = f"largest belief about {name}"
    if above > _open(guarantee, counts.shape[1]):
        detail = f"the manifest says {stated:.6g}, and the published counts show {reached.max():.4g} or more"
        return Check(what, False, detail)
    return said(
        what, f"it is {stated:.6g}, from the table's own frequencies; the published counts do not contradict it"
    )


def _open(guarantee: Guarantee, size: int) -> int:
    """How many values are not protected, by the publisher's word."""
    own = [bound for row in guarantee.bounds or [] for bound in row]
    return size - int(guarantee.parameters.get("protected", sum(bound is not None for bound in own)))


def at_least(counts: npt.NDArray[np.int64], channel: Channel, error: float) -> Vector:
    """What is believed of each value at least where it is seen, save with probability `error` each; 0 where nothing can be said.

    >>> at_least(np.array([9_000, 1_000]), Channel(0.5, size=2), 1e-9).round(2).tolist()
    [1.0, 0.0]
    """
    from scipy.stats import beta

    p, r, n = channel.retention, channel.replace, int(counts.sum())
    with np.errstate(all="ignore"):
        seen = np.where(counts > 0, beta.ppf(error, counts, n - counts + 1), 0.0)
        low = p[r > 0].min(initial=1.0)
        share = (seen - r * (1 - low)) / (p * (1 - r) + r * low)
        reached = share * (p + (1 - p) * r) / seen
    return np.where(np.isfinite(reached), np.clip(reached, 0.0, 1.0), 0.0)
