"""What a release of samples will be asked about: for forecasts, before a coin is flipped."""

from functools import partial

from scumble.mechanisms.plan import Profile
from scumble.mechanisms.sps.plan import SamplePlan
from scumble.mechanisms.sps.samples import samples_of
from scumble.publishing.expected_rows import Rows, coarse_columns, part_columns, reaches
from scumble.query.compile import Published
from scumble.query.rewrites import Recoding
from scumble.release.records import number_ends, representative
from scumble.sources.source import Source
from scumble.spec.spec import Spec


def sampled_rows(table: Source, spec: Spec, profile: Profile, plan: SamplePlan) -> Rows:
    """The same for samples: of n rows s are published, each counting n/s, so that in sums of order k a row is to be expected
    with (n/s)^(k - 1), as if it were published with that many copies.
    """
    ((name, domain),) = profile.domains.items()
    samples = samples_of(table, spec, profile, plan)
    weight = "copies" if plan.settings.duplicates else "weight"
    merged = {column: partial(representative, records) for column, records in samples.merged.items()}
    published = Published(
        [*spec.published, weight],
        profile.domains,
        plan.channels,
        copies=weight,
        sample=plan.sampling.least,
    )
    ends = {column: numbers for column, records in samples.merged.items() if (numbers := number_ends(records))}
    members = {
        column: [(each.published, each.values) for each in records] for column, records in samples.merged.items()
    }
    recoding = Recoding(
        coarse_columns(table, spec), merged, ends, reaches({name: domain}), part_columns(table), members
    )
    return samples.rows(name, domain.values, weight), published, recoding
