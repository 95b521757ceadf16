"""Sampling-perturbing-scaling: statistics of many, but no good estimate for the few who are like one person.

Of a personal group (all public columns alike) of n > s records a sample of s is perturbed and published, each row with the
weight n/s; a group of at most s records is perturbed whole. What decides is the sample size:

    one       s(1), which the public parameters p, m, lambda, delta give: it tells nothing about the data
    ladder    s(rung), f rounded up to a public rung; the size tells the rung
    paper     s(f) with the group's own largest frequency f; the size tells f, and the duplicates or weights tell the size

where s = `privacy.sample_size`. Proofs: docs/proofs/reconstruction_privacy.md.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from scumble.core.coins import Coins
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import number
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.sps.settings import Settings, Sizes
from scumble.privacy.guarantee import CONDITIONS, NOT_COVERED, Guarantee, amplification_guarantee, rho_guarantee
from scumble.privacy.reconstruction import least_tail, rung_for, rungs, sample_size
from scumble.privacy.tails import lambda_limits
from scumble.spec.spec import Model, Spec

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
        found = sample_size(share, self.retain, self.values, self.lam, self.delta, tail=self.tail)
        return np.asarray(np.maximum(np.floor(found).astype(np.int64), self.least))


@dataclass(frozen=True, repr=False)
class SamplePlan(Plan):
    """How large the samples of groups are, and what else the settings say."""

    sampling: Sampling = field(kw_only=True)
    settings: Settings = field(kw_only=True)


def plan(profile: Profile, spec: Spec) -> SamplePlan:
    """The channel of the one sensitive column, and the sizes of samples."""
    settings = spec.settings_as(Settings)
    if len(profile.domains) != 1:
        raise SchemaError(
            f'sps perturbs one sensitive column, not {len(profile.domains)} ({", ".join(profile.domains)}); drop the others, or publish by mechanism = "uniform"'
        )
    ((name, domain),) = profile.domains.items()
    target = spec.columns[name].privacy or spec.privacy
    coins = Coins.of(target.channel(domain.size))
    sampling = sampling_of(settings, float(coins.channel().retain), domain.size)
    channels = {name: coins.channel()}
    proved = sampling.sizes == "one" or (sampling.sizes == "ladder" and sampling.tail == "exact")
    found = [reconstruction_guarantee(name, sampling)] if proved else []
    if target.rho1 is not None:
        found.append(_here(rho_guarantee(channels, number(target.rho1, "rho1"), number(target.rho2, "rho2"))))
    found.append(_here(amplification_guarantee(channels)))
    warnings = [TWO_VALUES] if domain.size == 2 else []
    warnings += [told for told in _tells(sampling) if sampling.sizes == "paper"]
    return SamplePlan(
        "sps",
        [{name: coins}],
        found,
        _dependence(profile, settings, sampling),
        NOT_COVERED,
        warnings,
        sampling=sampling,
        settings=settings,
    )


TWO_VALUES = (
    "The sensitive column has 2 values: whoever knows that a person does not have the published one knows the true one. "
    "The method was made for 3 or more."
)


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
    told = f"at p = {retain:.4g}, m = {values}, lambda = {lam:g}, delta = {delta:g} not even one record of a group may be published"
    if lam >= above:
        return f"{told}: no estimate is ever more than {above:.4g} times too high, so lambda must lie in (0, {above:.4g}); or lower p"
    return f"{told}: the tails of its estimate are smaller; lower delta, lambda or p"


def reconstruction_guarantee(name: str, sampling: Sampling) -> Guarantee:
    """What the largest samples give, with the true tails whatever bound chose them."""
    shares = sampling.ladder or [1.0]
    sizes = [sampling.least] if sampling.ladder is None else [int(s) for s in sampling.of_share(np.array(shares))]
    delta = sampling.delta
    if sampling.tail == "chernoff":
        delta = least_tail(sampling.least, 1.0, sampling.retain, sampling.values, sampling.lam)
    asked = (
        ""
        if sampling.tail == "exact"
        else f" ({sampling.delta:g} was asked for by the Chernoff bound, which is far above the true tails)"
    )
    parameters = {"lambda": sampling.lam, "delta": delta, "retain": sampling.retain, "values": float(sampling.values)}
    parameters |= {f"size at f <= {f:.12g}": float(s) for s, f in zip(sizes, shares, strict=True)}
    return Guarantee(
        kind="reconstruction",
        columns=[name],
        statement=f"Of a group of people who agree on all public columns at most {max(sizes)} are in the sample, so few that for every value of "
        f"{name} its share of the sample is estimated more than {sampling.lam:.4g} of itself too high with probability {delta:.4g} or more, "
        f"and as much too low with {delta:.4g} or more{asked}.",
        parameters=parameters,
        conditions=[CONDITIONS[0], *HERE, GROUPS],
    )  # fmt: skip


HERE = [
    CONDITIONS[1],
    "The attacker may know the manifest, the public columns and the coins' probabilities, but not the values of most others in the group: "
    "how many of a value are sampled follows their frequencies.",
]
GROUPS = (
    "The attacker estimates from the person's own group. Values of public columns that make no difference to the sensitive one were merged "
    "(the setting generalize), or the attacker does not know that they make none; what larger groups tell is statistics, which is meant to be learnt."
)


def _here(guarantee: Guarantee) -> Guarantee:
    return guarantee.model_copy(update={"conditions": [CONDITIONS[0], *HERE]})


def _tells(sampling: Sampling) -> list[str]:
    if sampling.sizes == "paper":
        return [
            "The sample size of a group is computed from the frequency f of its most frequent value, and weights or duplicates show it: f can be "
            "read off, in most sampled groups within 5% (scumble audit). A group that was not sampled shows that f is below what its size asks for."
        ]
    if sampling.sizes == "ladder":
        told = ", ".join(f"{rung:.4g}" for rung in sampling.ladder or ())
        return [
            f"The sample size of a group shows between which of the rungs {told} the frequency of its most frequent value lies."
        ]
    return []


def _dependence(profile: Profile, settings: Settings, sampling: Sampling) -> list[str]:
    from_data = [
        f"The domain of {name!r} was taken from the data: each of its values was somebody's, and no other value occurred."
        for name in profile.from_data
    ]
    merged = [
        "Values of public columns were merged where a chi-square test does not tell their sensitive values apart: the map says which differ and which do not."
    ]
    return from_data + _tells(sampling) + (merged if settings.generalize else [])
