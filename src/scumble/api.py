"""Publishing and opening, as Python sees them."""

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble.core.atomic import placed
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError, SchemaError, TableError, did_you_mean
from scumble.core.memory import within
from scumble.core.progress import Progress
from scumble.core.scratch import private_folder, remove_all
from scumble.release.release import Release, open_release, release_in
from scumble.sources.address import is_url
from scumble.sources.source import Source
from scumble.spec.spec import Spec

if TYPE_CHECKING:
    from scumble.engines import Choice
    from scumble.evaluate.forecast import Forecast
    from scumble.publishing.entries import Book
    from scumble.publishing.preview import Show
    from scumble.publishing.row_pipeline import CoinSource
    from scumble.release.check import Check


def publish(
    table: Any,
    out: str | Path | None = None,
    *,
    sensitive: str | Sequence[str] | None = None,
    public: str | Sequence[str] | None = None,
    drop: str | Sequence[str] = (),
    rest: str | None = None,
    text: str | Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    domains: Mapping[str, Any] | None = None,
    compound: Mapping[str, str | Sequence[str]] | None = None,
    coarsen: Mapping[str, Mapping[str, Any]] | None = None,
    mechanism: str | None = None,
    settings: Mapping[str, Any] | None = None,
    rho1: Any = None,
    rho2: Any = None,
    gamma: Any = None,
    epsilon: Any = None,
    retain: Any = None,
    domain_from_data: bool = False,
    key: Any = None,
    id: str | None = None,
    occurrence: str | None = None,
    attributes: Mapping[str, str] | None = None,
    person: str | None = None,
    rows_per_person: int | str | None = None,
    answers: str | None = None,
    persons: str | None = None,
    determined: str | Sequence[str] = (),
    fresh: Any = None,
    ledger: str | Path | None = None,
    again: bool = False,
    budget: Any = None,
    metadata: bool | Mapping[str, Any] = False,
    seed: int | None = None,
    overwrite: bool = False,
    memory: Any = None,
    progress: Progress | None = None,
) -> Release:
    """Publishes a table and returns the release.

    table       a path (CSV, Parquet, a folder of Parquet, or a spec in TOML) or a data frame (pandas, Polars, PyArrow, DuckDB)
    out         the folder to write, or postgresql://user@host/db?release=NAME to put the release into a database; without one the release
                lives in a temporary folder until Python ends
    sensitive   the columns to perturb
    public      the columns to publish as they are
    drop        the columns to leave out; * and ? in a name stand for what may be there
    rest        "drop" leaves out every column that no argument names; without it such a column is refused
    text        columns of a CSV file to read as text, whatever they look like
    types       column -> "text", "integer", "number", "boolean", "date" or "timestamp": what its values are, for mechanisms whose types must
                not follow the rows (noisy_counts, columnized, k_dgs) and tables that do not say it themselves; text when absent
    domains     column -> its values (None for a missing one), or {"low": ..., "high": ..., "step": ...} for numbers
    compound    a name -> the columns that are perturbed as one under it, such as {"job": ["occupation", "industry"]}; questions name each of
                them as before. The domain is each combination of their domains, those of domains={"job": [[..], ..]}, or those that occur
    coarsen     public column -> {"bins": 10}, {"edges": [18, 65]}, {"prefix": 3} or {"date": "month"}
    mechanism   how to perturb: docs/mechanisms.md has them all; and settings, what it offers beyond the privacy target
    rho1, rho2  no prior up to rho1 becomes a posterior above rho2; or gamma, epsilon, or retain, the probability that a value is
                kept. A number holds for the whole row: several sensitive columns share it (a retention is each column's). A
                dictionary column -> number gives each its own.
    domain_from_data  take domains that are not declared from the data; the manifest will say so
    key, id     coins by key (bytes or a file) and id column, for repeated publication of the same people
    occurrence  the column that tells the rows of a person apart, where a person has several: their coins depend on it
    attributes  sensitive column -> what its coins by key belong to, so that a column with a new name keeps them
    person      the column that says whose row it is: rows of a person are counted by it, and it is not published
    rows_per_person  publish so many rows of a person at most, drawn by coins; "all" accepts that little may be left of the promise to a person
    answers     with rows_per_person: "rows" or "persons", what answers count; each published row has a weight then, which tells about how many rows
                its person has. Without it answers are for the rows that were drawn
    persons     "one row each": your word that each person is one row, where no column shows it
    determined  sensitive columns that public ones determine, which is refused unless it is accepted here
    fresh       with a key, for values that change: the response by key is memoised, and published as it is with this probability, else
                replaced anew; the privacy target is then that of all releases together
    ledger      the file that says what was published of whom; beside the key file when absent, and never in a release
    again       publish also where the ledger objects, and say what all releases of these people tell together
    budget      the epsilon of all releases of the same people together that is not passed; the spec's when absent
    metadata    True, or what catalogues of data are told, such as {"title": ..., "publisher": ..., "licence": "CC-BY-4.0"}: writes files for them
                (Croissant and DCAT-AP) into the release
    seed        INSECURE repeatable coins, for tests; the manifest will say so
    overwrite   replace a release that has this name, once the new one is whole; a folder with anything else in it is kept
    memory      what it may take, such as "2GB" or a number of bytes: 1 GiB where nothing is said; what does not fit is put into files
    progress    called as progress(done, of) while rows are read and written; of is None where nobody knows how many there are
    """
    from scumble.publishing.arguments import Arguments, choose

    how = Arguments(
        sensitive=sensitive,
        public=public,
        drop=drop,
        rest=rest,
        text=text,
        types=types,
        domains=domains,
        compound=compound,
        coarsen=coarsen,
        mechanism=mechanism,
        settings=settings,
        rho1=rho1,
        rho2=rho2,
        gamma=gamma,
        epsilon=epsilon,
        retain=retain,
        domain_from_data=domain_from_data,
        id=id,
        occurrence=occurrence,
        attributes=attributes,
        person=person,
        rows_per_person=rows_per_person,
        answers=answers,
        persons=persons,
        determined=determined,
        fresh=fresh,
        metadata=metadata,
    )
    source, spec = choose(table, how)
    return publish_chosen(
        source,
        spec,
        out,
        key=key,
        id=id,
        occurrence=occurrence,
        ledger=ledger,
        again=again,
        budget=budget,
        seed=seed,
        overwrite=overwrite,
        memory=memory,
        progress=progress,
    )


def publish_chosen(
    source: Source,
    spec: Spec,
    out: str | Path | None = None,
    *,
    key: Any = None,
    id: str | None = None,
    occurrence: str | None = None,
    ledger: str | Path | None = None,
    again: bool = False,
    budget: Any = None,
    seed: int | None = None,
    overwrite: bool = False,
    memory: Any = None,
    progress: Progress | None = None,
    show: "Show" = lambda preview: None,
) -> Release:
    """Publishes a table by a spec that says what becomes of every column."""
    from scumble.publishing.account import Wanted
    from scumble.publishing.publish import publish_table  # opening and asking need none of it

    wanted = Wanted.of(ledger, key, again, spec.budget if budget is None else budget)
    coin_source = _coin_source(key, id, occurrence, seed, source)
    place = _place(out, overwrite)
    folder = place.folder
    with within(memory):
        plan = publish_table(
            source,
            spec,
            folder,
            coin_source,
            overwrite=overwrite,
            progress=progress,
            durable=place.durable,
            show=show,
            wanted=wanted,
            settle=place.settle,
        )
    for warning in plan.warnings:
        warnings.warn(warning, stacklevel=3)
    return place.opened()  # written this moment: its hashes need no check


def plan(table: Any, questions: str | Sequence[str] = (), *, level: Any = 0.95, **how: Any) -> "Forecast":
    """What publishing would promise, and how exact the answers would be. Nothing is written, and no coin is flipped.

    table      as for publish
    questions  SELECT statements over the table `release`: each with the truth, and the standard error that its answer will have
    level      how often an interval shall hold the truth
    how        what publish is told of columns and privacy, by the same names
    """
    from scumble.evaluate.forecast import forecast
    from scumble.publishing.arguments import Arguments, choose, names

    source, spec = choose(table, Arguments.of(how))
    return forecast(source, spec, names(questions), level)


def init(
    table: str | Path, out: str | Path | None = None, *, text: str | Sequence[str] = (), overwrite: bool = False
) -> Path:
    """Writes a spec (TOML) with a role and a domain suggested for each column, to be read and edited, and returns its path.

    table      a path or the address of a table in a database, as publish takes it
    out        the file to write; beside the table when absent
    text       columns of a CSV file to read as text, whatever they look like
    overwrite  replace a spec that exists
    """
    from scumble.spec.first_spec import first_spec

    if not isinstance(table, str | Path):
        raise TableError(
            f"a spec names its table by a path, and {type(table).__name__} has none; write it to a file first (to_parquet), "
            "or name its columns in publish: sensitive=, public=, drop="
        )
    listed = [text] if isinstance(text, str) else list(text)
    spec = first_spec(table, None if out is None else Path(out), listed, overwrite=overwrite)
    spec.write(spec.suggested)
    return spec.path


def ledger(path: str | Path) -> "Book":
    """What a publisher's ledger says: what was published of how many people, and what it comes to together."""
    from scumble.publishing.ledger import read_ledger

    return read_ledger(path)


def open(
    path: str | Path,
    *more: str | Path,
    on: str | None = None,
    engine: "Choice" = None,
    timeout: Any = None,
    memory: Any = None,
) -> Release:
    """Opens a release, by the path of its folder or its address in a database, and checks it against its hashes.

    more     further releases, asked as one table: of the same spec, with the rows of other owners
    on       the shared row id, where the further releases have other columns of the same rows
    timeout  the seconds that a question may take, where it does not say itself; 600 when absent
    memory   what all its questions together may take, as in "4GB", half of it the engine's; "2GiB" when absent
    engine   what runs statements over its tables: a name ("duckdb"), a Spark ("local[*]", "spark://host:7077", "sc://host:15002"), or a class that
             implements scumble.engines.engine.Engine
    """
    parts = [open_release(part, engine, timeout, memory) for part in (path, *more)]
    if len(parts) == 1:
        return parts[0]
    from scumble.release.combine import join, stack

    return stack(parts) if on is None else join(parts, on)


def verify(
    release: Release | str | Path,
    *,
    by: str | Path | None = None,
    version_1: bool = False,
    key: str | Path | bytes | None = None,
) -> "list[Check]":
    """Everything that can be checked without the raw table, of an opened release or a folder.

    by          the file of a public key: whether its owner signed exactly this release
    version_1   you know that the release is of the first version of the format, which says less; else such a one fails
    key         the publisher's key of keyed coins, or its file: whether attributes, values and retentions are those of the coins
    """
    from scumble.release.signing import verify as verified

    checks = verified(release, by=by, version_1=version_1)
    if key is None or not checks[0].passed:
        return checks
    from scumble.publishing.commitments import key_checks

    return [*checks, *key_checks(release if isinstance(release, Release) else open_release(release), key)]


def _coin_source(key: Any, id: str | None, occurrence: str | None, seed: int | None, table: Source) -> "CoinSource":
    from scumble.publishing.keyed import read_key
    from scumble.publishing.row_pipeline import CoinSource

    if (key is None) != (id is None):
        raise ParameterError(
            "key and id go together: the coins of a record are a function of the key and the person's id"
        )
    if occurrence is not None and key is None:
        raise ParameterError("occurrence tells the rows of a person apart for coins by key; give key and id beside it")
    for what, name in (("id", id), ("occurrence", occurrence)):
        if name is not None and name not in table.schema.names:
            raise SchemaError(f"the {what} column {name!r} is not in the table{did_you_mean(name, table.schema.names)}")
    entropy = Entropy.system() if seed is None else Entropy.seeded(seed)
    return CoinSource(entropy, None if key is None else read_key(key), id, occurrence)


@dataclass(frozen=True)
class _Place:
    """Where a release is written, and what is done before it counts as published."""

    folder: Path
    durable: bool
    settle: Callable[[Path], None]
    opened: Callable[[], Release]


def _place(out: str | Path | None, overwrite: bool) -> _Place:
    """A folder; a private one where the release goes on into a database, which is asked first whether it will have it."""
    if not is_url(out):
        folder = Path(out) if out is not None else Path(_temporary()) / "release"
        return _Place(folder, out is not None, lambda folder: None, lambda: release_in(folder))
    from scumble.release.database import demand_home, open_database, put

    url = str(out)
    address = demand_home(url, overwrite)
    aside = Path(_temporary())

    def settle(folder: Path) -> None:
        try:
            put(folder, address, overwrite)
            placed(Path(url))
        finally:
            remove_all(aside)

    return _Place(aside / address.name, False, settle, lambda: open_database(url))


def _temporary() -> str:
    return tempfile.mkdtemp(prefix="release-", dir=private_folder(os.getpid()))
