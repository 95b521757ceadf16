"""Which groups a table has once public values are merged, and how many records of each are sampled: known before a coin is flipped."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from scumble.core.errors import ParameterError
from scumble.mechanisms.plan import Profile
from scumble.mechanisms.sps.merging import merge_columns
from scumble.mechanisms.sps.personal_groups import Counts, PersonalGroups, demand_groups, personal_groups
from scumble.mechanisms.sps.plan import SamplePlan
from scumble.mechanisms.sps.sizes import Sampling
from scumble.release.records import MergedRecord
from scumble.sources.source import Source
from scumble.spec.spec import Spec


@dataclass(frozen=True, eq=False)
class Samples:
    """The groups of a table and the sizes of their samples."""

    groups: PersonalGroups
    sizes: Counts
    merged: dict[str, list[MergedRecord]]
    """Public columns whose values were put together, and how."""

    def rows(self, sensitive: str, values: pa.Array, weight: str) -> pa.Table:
        """The true rows in public values as they will be published, each with the weight of its group."""
        groups = self.groups
        line = np.repeat(np.arange(len(groups.group)), groups.records)
        group = groups.group[line]
        table = groups.keys.take(pa.array(group)) if groups.keys.num_columns else pa.table({})
        table = table.append_column(sensitive, values.take(pa.array(groups.code[line])))
        return table.append_column(weight, pa.array((groups.size / self.sizes)[group]))


def samples_of(table: Source, spec: Spec, profile: Profile, plan: SamplePlan) -> Samples:
    """The samples of an sps plan; refused where there are too many groups, or where nothing would be sampled."""
    ((name, domain),) = profile.domains.items()
    public = {n: spec.columns[n].coarsen for n in spec.published if n != name}
    groups, merged = merge_columns(personal_groups(table, public, name, domain), plan.settings)
    demand_groups(groups)
    return Samples(groups, _sizes(groups, plan.sampling), merged)


def _sizes(groups: PersonalGroups, sampling: Sampling) -> Counts:
    size = groups.size
    sizes = sampling.of(size, groups.most)
    if np.array_equal(sizes, size):
        raise ParameterError(
            f"no group has more than {int(size.max())} records, within the sample size of {sampling.least} and more, so nothing would be sampled; "
            'mechanism = "uniform" publishes the same, or coarsen public columns'
        )
    return sizes
