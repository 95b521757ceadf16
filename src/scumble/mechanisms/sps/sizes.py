"""How many records of a group are sampled: follows from public parameters, and where the publisher says so from the group's frequencies."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from scumble.core.errors import ParameterError
from scumble.core.parameters import number
from scumble.mechanisms.sps.settings import Settings, Sizes
from scumble.privacy.reconstruction import rung_for, rungs, sample_size
from scumble.privacy.tails import lambda_limits
from scumble.spec.spec import Model

Counts = npt.NDArray[np.int64]


class Sampling(Model):
    """How large a group's sample is: from public parameters, and where the publisher says so from its frequencies."""

    sizes: Sizes
    lam: float
    delta: float
    tail: Literal["exact", "chernoff"]
    retain: float
    values: int
    least: int
    """s(1), the smallest of all sizes."""
    ladder: list[float] | None = None

    def of(self, size: Counts, most: Counts) -> Counts:
        """The sample size of groups of so many records, of which so many have the most frequent value."""
        if self.sizes == "one":
            return np.minimum(size, self.least)
        share = most / size
        asked = share if self.ladder is None else rung_for(share, self.ladder)
        distinct, place = np.unique(np.round(asked, 12), return_inverse=True)
        return np.minimum(size, self.of_share(np.minimum(distinct, 1.0))[place])

    def of_share(self, share: npt.NDArray[np.float64]) -> Counts:
        """The sample size where the most frequent value has that share."""
        size = sample_size(share, self.retain, self.values, self.lam, self.delta, tail=self.tail)
        return np.asarray(np.maximum(np.floor(size).astype(np.int64), self.least))


def sampling_of(settings: Settings, retain: float, values: int) -> Sampling:
    """The sizes that settings ask for; refused where not even one record may be published."""
    lam, delta = number(settings.lam, "lambda"), number(settings.delta, "delta")
    if not 0 < retain < 1:
        raise ParameterError(f"sps needs a retention between 0 and 1, not {retain:g}: nothing would be hidden, or told")
    tail = settings.tail or ("chernoff" if settings.sizes == "paper" else "exact")
    least = int(sample_size(1, retain, values, lam, delta, tail=tail))
    if least < 1:
        raise ParameterError(_nothing(retain, values, lam, delta))
    ladder = rungs(lam, lowest=1 / values).tolist() if settings.sizes == "ladder" else None
    return Sampling(
        sizes=settings.sizes, lam=lam, delta=delta, tail=tail, retain=retain, values=values, least=least, ladder=ladder
    )  # fmt: skip


def _nothing(retain: float, values: int, lam: float, delta: float) -> str:
    _, above = lambda_limits(1, retain, values)
    sentence = f"at p = {retain:.4g}, m = {values}, lambda = {lam:g}, delta = {delta:g} not even one record of a group may be published"
    if lam >= above:
        return f"{sentence}: no estimate is ever more than {above:.4g} times too high, so lambda must lie in (0, {above:.4g}); or lower p"
    return f"{sentence}: the tails of its estimate are smaller; lower delta, lambda or p"
