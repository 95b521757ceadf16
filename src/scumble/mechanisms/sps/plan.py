"""Sampling-perturbing-scaling: statistics of many, but no good estimate for the few who are like one person.

Of a personal group (all public columns alike) of n > s records a sample of s is perturbed and published, each row with the
weight n/s; a group of at most s records is perturbed whole. What decides is the sample size:

    one       s(1), which the public parameters p, m, lambda, delta give: it tells nothing about the data
    ladder    s(rung), f rounded up to a public rung; the size tells the rung
    paper     s(f) with the group's own largest frequency f; the size tells f, and the duplicates or weights tell the size

where s = `privacy.sample_size`. Proofs: docs/proofs/reconstruction_privacy.md.
"""

from dataclasses import dataclass, field

from scumble.core.coins import Coins
from scumble.core.errors import SchemaError
from scumble.core.parameters import number
from scumble.mechanisms.plan import Plan, Profile
from scumble.mechanisms.sps.settings import Settings
from scumble.mechanisms.sps.sizes import Sampling, sampling_of
from scumble.mechanisms.sps.terms import sizes_tell, terms_of
from scumble.spec.spec import Spec


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
    terms = terms_of(name, coins, sampling, asked, profile.from_data, bool(settings.generalize))
    warnings = [_cost(sampling), *([TWO_VALUES] if domain.size == 2 else [])]
    warnings += [clause.sentence for clause in sizes_tell(sampling) if sampling.sizes == "paper"]
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


def _cost(sampling: Sampling) -> str:
    """What sampling costs, from public parameters."""
    few = f"at most {sampling.least:,}" if sampling.sizes == "one" else f"few, from {sampling.least:,} on,"
    return (
        f"Of the people who agree on all public columns {few} records are published: an answer about 1,000 of them is as rough as one about "
        f"{sampling.least:,}. Mechanism uniform publishes all rows; `scumble compare` measures both."
    )


TWO_VALUES = (
    "The sensitive column has 2 values: whoever knows that a person does not have the published one knows the true one. "
    "The method was made for 3 or more."
)
