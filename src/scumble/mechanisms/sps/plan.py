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
from scumble.mechanisms.facts import Facts, Terms, of_rows
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.sps.settings import Settings, Sizes
from scumble.privacy.checks import meets_rho
from scumble.privacy.guarantee import (
    ROUNDING,
    Clause,
    Guarantee,
    amplification_guarantee,
    clauses,
    dependence_of_domains,
    rho_guarantee,
)
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
        size = sample_size(share, self.retain, self.values, self.lam, self.delta, tail=self.tail)
        return np.asarray(np.maximum(np.floor(size).astype(np.int64), self.least))


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
    asked = [] if target.rho1 is None else [(number(target.rho1, "rho1"), number(target.rho2, "rho2"))]
    terms = _terms(name, coins, sampling, asked, profile.from_data, bool(settings.generalize))
    warnings = [TWO_VALUES] if domain.size == 2 else []
    warnings += [clause.sentence for clause in _tells(sampling) if sampling.sizes == "paper"]
    return SamplePlan(
        "sps",
        [{name: coins}],
        terms.guarantees,
        terms.depends_on_data,
        terms.not_covered,
        warnings,
        sampling=sampling,
        settings=settings,
    )


def derive(facts: Facts) -> Terms:
    """What follows from the coins and from the sizes of samples, which are computed anew."""
    facts.demand_rows()
    given, coins = facts.sampling, facts.coins
    facts.demand(
        given is not None and len(coins) == 1, "samples of groups and one perturbed column, and the manifest has not"
    )
    assert given is not None
    ((name, coin),) = coins.items()
    settings = Settings.model_validate(
        {"lambda": given.lam, "delta": given.delta, "tail": given.tail, "sizes": given.sizes}
    )
    sampling = sampling_of(settings, float(coin.channel().retain), coin.size)
    rungs_alike = (
        np.allclose(sampling.ladder or [0], given.ladder or [0], rtol=ROUNDING, atol=0)
        if len(sampling.ladder or []) == len(given.ladder or [])
        else False
    )
    same = sampling.least == given.least and rungs_alike
    facts.demand(same, "sample sizes that follow from lambda, delta and the retention, and the manifest has others")
    rhos = [
        (c.parameters["rho1"], c.parameters["rho2"])
        for c in facts.asked("rho")
        if meets_rho(coin.amplification, c.parameters)
    ]
    return _terms(name, coin, sampling, rhos, facts.from_data, facts.merged or facts.says("merged"))


def _terms(
    name: str, coins: Coins, sampling: Sampling, asked: list[tuple[float, float]], from_data: list[str], merged: bool
) -> Terms:
    proved = sampling.sizes == "one" or (sampling.sizes == "ladder" and sampling.tail == "exact")
    terms = [reconstruction_guarantee(name, sampling)] if proved else []
    terms += [_here(rho_guarantee([name], *pair)) for pair in asked]
    terms.append(_here(amplification_guarantee([name], coins.amplification)))
    tells = [*dependence_of_domains(from_data), *_tells(sampling), *(clauses("merged") if merged else [])]
    return of_rows(terms, tells)


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
    sentence = f"at p = {retain:.4g}, m = {values}, lambda = {lam:g}, delta = {delta:g} not even one record of a group may be published"
    if lam >= above:
        return f"{sentence}: no estimate is ever more than {above:.4g} times too high, so lambda must lie in (0, {above:.4g}); or lower p"
    return f"{sentence}: the tails of its estimate are smaller; lower delta, lambda or p"


def reconstruction_guarantee(name: str, sampling: Sampling) -> Guarantee:
    """What the largest samples give, with the true tails whatever bound chose them."""
    shares = sampling.ladder or [1.0]
    sizes = [sampling.least] if sampling.ladder is None else [int(s) for s in sampling.of_share(np.array(shares))]
    delta = sampling.delta
    if sampling.tail == "chernoff":
        delta = least_tail(sampling.least, 1.0, sampling.retain, sampling.values, sampling.lam)
    parameters = {"lambda": sampling.lam, "delta": delta, "retain": sampling.retain, "values": float(sampling.values)}
    parameters |= {"asked": sampling.delta} if sampling.tail == "chernoff" else {}
    parameters |= {f"size at f <= {f:.12g}": float(s) for s, f in zip(sizes, shares, strict=True)}
    return Guarantee(
        kind="reconstruction", columns=[name], parameters=parameters, conditions=[*HERE, *clauses("own_group")]
    )


HERE = clauses("one_row", "fresh_coins", "not_most_others")


def _here(guarantee: Guarantee) -> Guarantee:
    return guarantee.model_copy(update={"conditions": HERE})


def _tells(sampling: Sampling) -> list[Clause]:
    """What the size of a sample tells of its group."""
    if sampling.sizes == "ladder":
        return [Clause(code="rungs_tell", parameters={"ladder": sampling.ladder or []})]
    return clauses("sizes_tell") if sampling.sizes == "paper" else []
