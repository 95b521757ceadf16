"""Publishing: with what a mechanism publishes by, the only place where raw rows and the coins of a release meet.

    profile -> plan -> publish -> manifest -> rename

The release is written into a folder aside and renamed at the end: it is whole or it is not there.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble import __version__
from scumble.core.arrow_types import published_type
from scumble.core.atomic import whole_folder
from scumble.core.domain import Domain, count_gaps
from scumble.core.errors import NotOnGrid, SchemaError, TableError
from scumble.core.progress import Progress
from scumble.engines.duckdb.connection import spilling_into
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.facts import Terms
from scumble.mechanisms.mechanism import Mechanism
from scumble.mechanisms.plan import Plan, Profile
from scumble.publishing.account import NO_LEDGER, NONE, Wanted, account, ledger_of
from scumble.publishing.admitted import admitted, rules_of
from scumble.publishing.demands import demand_declared, demanded
from scumble.publishing.dependence import demand_independent, dependence_of
from scumble.publishing.encode import used_places
from scumble.publishing.kept_rows import WEIGHT
from scumble.publishing.keyed import KeyedCoins
from scumble.publishing.persons import demand_left, demand_weighable, persons_of
from scumble.publishing.preview import Preview, Show, unseen
from scumble.publishing.roles import decided
from scumble.publishing.row_pipeline import CoinSource, Job
from scumble.publishing.rows import keyed_coins
from scumble.publishing.sealing import sealed
from scumble.publishing.staged import planned
from scumble.publishing.write import writer_name
from scumble.release.manifest import Manifest
from scumble.release.persons import PersonsRecord, under_persons
from scumble.release.records import SEED, SYSTEM, ColumnRecord, PartRecord, Randomness, StreamRecord
from scumble.release.replace import demand_free, former_files
from scumble.release.rounding import rounding_of
from scumble.release.terms import records_of, under_key
from scumble.sources.combined import parts_of
from scumble.sources.parquet import ParquetSource
from scumble.sources.source import Source
from scumble.spec.spec import Spec


def profile(table: Source, spec: Spec) -> Profile:
    """The domains of the sensitive columns: declared, or read off the table where the spec says so."""
    kinds = {name: published_type(table.schema.field(name).type) for name in spec.sensitive}
    unknown = [name for name in spec.sensitive if not spec.columns[name].has_domain]
    traits = find_mechanism(spec.mechanism).traits
    if traits.columns_alike:
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
    counts = value_counts(table, domains) if traits.needs_counts else {}
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
                seen[name].update(
                    column.dictionary.cast(published_type(column.type)).take(pa.array(used_places(column))).to_pylist()
                )
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
    table: Source,
    spec: Spec,
    out: Path,
    coin_source: CoinSource,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    durable: bool = True,
    show: Show = unseen,
    wanted: Wanted = NO_LEDGER,
    settle: Callable[[Path], None] = lambda folder: None,
) -> Plan:
    """Publishes a table into the folder `out` and returns the plan that it followed; `durable` if it is to outlive the machine's next fall.

    show    called with what was decided and counted, before a row is published
    settle  called with the folder when it is whole, before a ledger says that it was published: puts it where it is to live
    """
    try:
        return _publish(table, spec, out, coin_source, overwrite, progress, durable, show, wanted, settle)
    except NotOnGrid as found:  # in one batch of rows: say how many there are in all
        raise count_gaps((batch.column(0) for batch in table.batches([found.column])), found.column) from None


def _publish(
    table: Source,
    spec: Spec,
    out: Path,
    coin_source: CoinSource,
    overwrite: bool,
    progress: Progress | None,
    durable: bool,
    show: Show,
    wanted: Wanted,
    settle: Callable[[Path], None],
) -> Plan:
    chosen = find_mechanism(spec.mechanism)
    spec = decided(spec, table)
    demand_free(out, overwrite, table.files, getattr(table, "folder", None))
    coin_source = demanded(spec, chosen, coin_source, wanted.named)
    former = former_files if overwrite else None
    with ledger_of(wanted, coin_source, out) as ledger:
        with whole_folder(out, former, durable=durable) as folder, spilling_into(folder.parent):
            persons = persons_of(_admitted(table, spec), spec, coin_source.entropy, coin_source.occurrence)
            table, spec = persons.table, persons.weighted(spec)
            counts = profile(table, spec)
            demand_declared(counts, coin_source)
            open_ = show is not unseen or any(spec.columns[name].determined is None for name in spec.sensitive)
            dependence = dependence_of(table, spec, counts.domains) if open_ else []
            demand_independent(spec, dependence)
            plan = planned(chosen, counts, spec)
            demand_weighable(persons, chosen, plan)
            demand_left(persons, spec, plan.terms)
            terms = under_key(plan.terms, plan.strata) if coin_source.by_key else plan.terms
            terms = under_persons(terms, persons.record)
            keyed = keyed_coins(plan, counts, spec, coin_source)
            book = ledger and account(ledger, wanted, table, plan, terms, coin_source, keyed, out)
            show(Preview(spec, persons, book.lines if book else [NONE], dependence))
            job = Job(table, spec, counts, plan, coin_source, folder, progress or (lambda done, of: None))
            manifest = _write(job, chosen, persons.record, terms, _randomness(coin_source, keyed))
            if book:
                book.pending(manifest)
        settle(out)
        if book:
            book.confirm()
            plan = replace(plan, warnings=[*plan.warnings, *book.accepted, *wanted.warnings])
    return replace(plan, warnings=[*plan.warnings, *persons.warnings])


def _admitted(table: Source, spec: Spec) -> Source:
    """The rows that may be published; a mechanism whose promise is about every output refuses none of them, and leaves out those that have no place."""
    if not find_mechanism(spec.mechanism).traits.every_output:
        return table
    return admitted(table, spec, profile(table, spec).domains)


def _write(job: Job, chosen: Mechanism[Any], persons: PersonsRecord, terms: Terms, randomness: Randomness) -> Manifest:
    """The files of a release, its manifest the last of them."""
    folder, written = job.folder, chosen.publish(job)
    outside = {"outside": "left out"} if rules_of(job.spec, job.profile.domains) else {}
    manifest = Manifest(
        software=f"scumble {__version__}",
        writer=writer_name(),
        mechanism=job.plan.mechanism,
        rows=written.rows,
        columns=[_weight(_of_parts(_rounded(column, job.profile), job), persons) for column in written.columns],
        **records_of(terms),
        persons=persons,
        metadata=job.spec.metadata,
        randomness=randomness,
        files=written.files,
        form=written.form.model_copy(update=outside),
        order="sorted" if chosen.traits.sorted_rows else "shuffled",
    )
    return sealed(folder, manifest)


def _rounded(column: ColumnRecord, counts: Profile) -> ColumnRecord:
    """The column with how far its numbers were moved, by its grid and its type, whatever numbers there are."""
    return column.model_copy(update={"rounded": rounding_of(column, counts.domains.get(column.of or column.name))})


def _of_parts(column: ColumnRecord, job: Job) -> ColumnRecord:
    """The column with the parts that it is made of, where it is."""
    made = parts_of(job.table.schema, column.name) if column.name in job.table.schema.names else None
    parts = None if made is None else [PartRecord(name=name, type=kind) for name, kind in made.items()]
    return column.model_copy(update={"parts": parts})


def _weight(column: ColumnRecord, persons: PersonsRecord) -> ColumnRecord:
    """The column of weights as what it is: it travelled as a public one, which it is."""
    weight = persons.answers is not None and column.name == WEIGHT
    return column.model_copy(update={"role": "weight"}) if weight else column


def _randomness(coin_source: CoinSource, keyed: dict[str, KeyedCoins]) -> Randomness:
    streams = [
        StreamRecord(column=name, attribute=coins.attribute, commitment=coins.commitment)
        for name, coins in keyed.items()
    ]
    secure = coin_source.entropy.secure
    return Randomness(source=SYSTEM if secure else SEED, secure=secure, keyed=bool(streams), streams=streams or None)
