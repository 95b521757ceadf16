"""Publishing: with press.py, the only place where raw rows and randomness meet.

    profile -> plan -> press -> manifest -> rename

The release is written into a folder aside and renamed at the end: it is whole or it is not there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble import __version__
from scumble.core.arrow_types import published_type
from scumble.core.atomic import whole_folder
from scumble.core.domain import Domain, count_gaps
from scumble.core.errors import NotOnGrid, ParameterError, ReleaseError, SchemaError, TableError
from scumble.core.progress import Progress
from scumble.engines.duckdb.connection import spilling_into
from scumble.mechanisms import COUNTING, Plan, Profile
from scumble.mechanisms import plan as make_plan
from scumble.mechanisms.alpha_beta.publish import press_alpha_beta
from scumble.mechanisms.anatomy.publish import press_anatomy
from scumble.mechanisms.columnized.publish import press_columns
from scumble.mechanisms.noisy_counts.publish import press_frequent, press_noisy
from scumble.mechanisms.partitioned.plan import SUBTABLE
from scumble.mechanisms.partitioned.subtables import Subtables
from scumble.mechanisms.perturbed_generalization.publish import press_generalized
from scumble.mechanisms.sps.publish import press_samples
from scumble.privacy.guarantee import CONDITIONS, KEYED, Guarantee
from scumble.publishing.encode import used_places
from scumble.publishing.perturb import Independent, Joint
from scumble.publishing.perturb_own import OwnDistribution, Swapped
from scumble.publishing.row_pipeline import Coinage, Job, Press, Printed
from scumble.publishing.write import file_record
from scumble.release.manifest import NAME, Manifest
from scumble.release.readme import readme
from scumble.release.records import Randomness
from scumble.sources.parquet import ParquetSource
from scumble.sources.source import Source
from scumble.spec.spec import ALIKE, Spec


def press_rows(job: Job) -> Printed:
    """Every row through the coins of its columns."""
    coinage = job.coinage
    return Press(job, Independent(job.plan.coins, job.profile.domains, coinage.entropy, coinage.key)).run()


def press_own(job: Job) -> Printed:
    """Values that are not retained become others of the same column."""
    coinage, way = job.coinage, OwnDistribution if job.plan.mechanism == "identity" else Swapped
    if coinage.key is not None:
        raise ParameterError(f'coins by key are for mechanism = "uniform"; {job.plan.mechanism} depends on all rows')
    return Press(job, way(job.plan.coins, job.profile.counts, coinage.entropy)).run()


def press_joint(job: Job) -> Printed:
    """The sensitive values of a row are kept together or replaced together."""
    if job.coinage.key is not None:
        raise ParameterError('coins by key are for mechanism = "uniform"; frapp has no coins of single columns')
    return Press(job, Joint(list(job.profile.domains), job.plan.details["frapp"], job.coinage.entropy)).run()


def press_subtables(job: Job) -> Printed:
    """Every row into a sub-table, and through its coins."""
    if job.coinage.key is not None:
        raise ParameterError(
            "coins by key are for uniform and fine_grain; partitioned deals all rows anew at every publication"
        )
    (name,) = job.profile.domains
    coins = [stratum[name] for stratum in job.plan.strata]
    way = Subtables(name, SUBTABLE, coins, job.plan.details["partition"].subtables, job.coinage.entropy)
    printed = Press(job, way).run()
    way.demand_spent()
    return printed


PUBLISHERS: dict[str, Callable[[Job], Printed]] = {
    "uniform": press_rows,
    "sps": press_samples,
    "fine_grain": press_rows,
    "partitioned": press_subtables,
    "identity": press_own,
    "swapped": press_own,
    "k_dgs": press_frequent,
    "noisy_counts": press_noisy,
    "columnized": press_columns,
    "anatomy": press_anatomy,
    "frapp": press_joint,
    "alpha_beta": press_alpha_beta,
    "perturbed_generalization": press_generalized,
}
"""What prints the plan of each mechanism."""

SHUFFLED = ("anatomy", "generalized")
"""The counted releases whose rows are in random order."""


def profile(table: Source, spec: Spec) -> Profile:
    """The domains of the sensitive columns: declared, or read off the table where the spec says so."""
    kinds = {name: published_type(table.schema.field(name).type) for name in spec.sensitive}
    unknown = [name for name in spec.sensitive if not spec.columns[name].has_domain]
    if spec.mechanism in ALIKE:
        declared = [name for name in spec.sensitive if spec.columns[name].has_domain]
        return Profile({name: spec.columns[name].domain(name, kinds[name]) for name in declared})
    for name in unknown:
        if not spec.columns[name].from_data:
            raise SchemaError(
                f"column {name!r} has no domain; declare its values in the spec (or domains=), "
                "or take them from the data with --domain-from-data, which the manifest will say"
            )
    seen = distinct_values(table, unknown) if unknown else {}
    filled = {name: spec.columns[name].model_copy(update={"values": values}) for name, values in seen.items()}
    domains = {name: filled.get(name, spec.columns[name]).domain(name, kinds[name]) for name in spec.sensitive}
    counts = value_counts(table, domains) if spec.mechanism in COUNTING else {}
    return Profile(domains, [name for name in spec.sensitive if spec.columns[name].from_data], counts)


def value_counts(table: Source, domains: dict[str, Domain]) -> dict[str, npt.NDArray[np.int64]]:
    """How often each value of the sensitive columns occurs, in one scan of these columns."""
    counts = {name: np.zeros(domain.size, dtype=np.int64) for name, domain in domains.items()}
    if isinstance(table, ParquetSource) and table.countable(domains):
        for name, domain in domains.items():
            values, times = table.counts(name)
            np.add.at(counts[name], domain.encode(values, name), times)
        return counts
    for batch in table.batches(list(domains)):
        for name, domain in domains.items():
            counts[name] += np.bincount(domain.encode(batch.column(name), name), minlength=domain.size)
    return counts


def distinct_values(table: Source, names: list[str]) -> dict[str, list[Any]]:
    """The values that occur, sorted, a missing one last."""
    seen: dict[str, set[Any]] = {name: set() for name in names}
    for batch in table.batches(names):
        for name in names:
            column = batch.column(name)
            if pa.types.is_dictionary(column.type):
                seen[name].update(column.dictionary.take(pa.array(used_places(column))).to_pylist())
            else:
                seen[name].update(column.unique().to_pylist())
            if column.null_count:
                seen[name].add(None)
            if len(seen[name]) > 100_000:
                raise SchemaError(
                    f"column {name!r} has over 100,000 different values; declare its domain (a grid for numbers)"
                )
    if not any(seen.values()):
        raise TableError("the table has no rows, so there is nothing to publish")
    return {
        name: sorted(v for v in values if v is not None) + [None] * (None in values) for name, values in seen.items()
    }


def publish_table(
    table: Source, spec: Spec, out: Path, coinage: Coinage, *, overwrite: bool = False, progress: Progress | None = None
) -> Plan:
    """Publishes a table into the folder `out` and returns the plan that it followed."""
    try:
        return _publish(table, spec, out, coinage, overwrite, progress)
    except NotOnGrid as found:  # in one batch of rows: say how many there are in all
        raise count_gaps((batch.column(0) for batch in table.batches([found.column])), found.column) from None


def _publish(
    table: Source, spec: Spec, out: Path, coinage: Coinage, overwrite: bool, progress: Progress | None
) -> Plan:
    spec = spec.for_schema(table.schema)
    demand_free(out, overwrite)
    found = profile(table, spec)
    if coinage.key is not None and found.from_data:
        raise ParameterError(
            f"coins by key need a declared domain for {found.from_data[0]!r}: one that follows the data changes with it, and then the coins are fresh"
        )
    plan = make_plan(found, spec)
    with whole_folder(out, overwrite=overwrite) as folder, spilling_into(folder):
        job = Job(table, spec, found, plan, coinage, folder, progress or (lambda done, of: None))
        printed = PUBLISHERS[plan.mechanism](job)
        manifest = Manifest(
            software=f"scumble {__version__}",
            mechanism=plan.mechanism,
            rows=printed.rows,
            columns=printed.columns,
            guarantees=[_under(coinage, guarantee) for guarantee in plan.guarantees],
            not_covered=plan.not_covered,
            depends_on_data=plan.depends_on_data,
            randomness=_randomness(coinage),
            files=printed.files,
            counted=printed.counted,
            order="shuffled" if printed.counted is None or printed.counted.matrix in SHUFFLED else "sorted",
            sampling=printed.sampling,
            joint=list(found.domains) if plan.mechanism == "frapp" else None,
        )
        (folder / "README.md").write_text(readme(manifest), encoding="utf-8")
        whole = manifest.model_copy(update={"files": [file_record(folder, "README.md", None), *printed.files]})
        (folder / NAME).write_text(whole.text(), encoding="utf-8")
    return plan


def _under(coinage: Coinage, guarantee: Guarantee) -> Guarantee:
    """A guarantee with the condition that keyed coins have in the place of fresh ones."""
    if coinage.key is None:
        return guarantee
    return guarantee.model_copy(
        update={"conditions": [KEYED if c == CONDITIONS[1] else c for c in guarantee.conditions]}
    )


def _randomness(coinage: Coinage) -> Randomness:
    keyed = coinage.key is not None
    if coinage.entropy.secure:
        return Randomness(source="operating system, AES-256-CTR", secure=True, keyed=keyed)
    return Randomness(source="seeded: INSECURE, for tests only", secure=False, keyed=keyed)


def demand_free(out: Path, overwrite: bool) -> None:
    """An existing folder is kept, unless it is a release and the caller said so."""
    if not out.exists():
        if not out.absolute().parent.is_dir():
            raise ReleaseError(f"there is no folder {str(out.absolute().parent)!r} to write the release into")
        return
    if not overwrite:
        raise ReleaseError(f"{str(out)!r} exists and is kept; choose another name, or say --overwrite (overwrite=True)")
    if not (out / NAME).exists():
        raise ReleaseError(f"{str(out)!r} exists and is not a release, so it is kept; choose another name")
