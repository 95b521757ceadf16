"""Does a release keep what its manifest says? Each check names what it looked at and can fail.

The channel against the data: whatever the true values were, value j is published with a probability between
b_j = min_i P[j, i] and a_j = max_i P[j, i], row by row independently. So its count lies, stochastically, between Bin(n, b_j) and
Bin(n, a_j). A column that was perturbed less than the manifest says leaves rare values rarer than that.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from scumble.core.arrow_types import decoded
from scumble.core.channel import replacement_of
from scumble.core.channel_base import BaseChannel
from scumble.core.errors import ChangedRelease, InputError, ReleaseError, SchemaError
from scumble.core.readable import readable
from scumble.engines.engine import TABLE
from scumble.engines.expressions import column, count, select
from scumble.engines.sql import rows_drawn
from scumble.forms import find_form
from scumble.forms.files import rows_in
from scumble.mechanisms import find_mechanism
from scumble.release import soundness
from scumble.release.beliefs import belief_checks
from scumble.release.check import Check as Check
from scumble.release.folder import folder_checks
from scumble.release.labels import label_checks
from scumble.release.recoded import recoded_checks
from scumble.release.release import Release, open_release
from scumble.release.rounding import rounding_checks
from scumble.release.terms import compared
from scumble.release.trust import coins_word, version_checks, word_checks
from scumble.release.weights import weight_checks

FALSE_ALARM = 1e-9
"""The probability that a sound release fails the check of its channel."""

MOST_CELLS = 256
MOST_GROUPS = 100
"""Values of another column, at most, within which counts are tested."""
MOST_COLUMNS = 20
MOST_ROWS = 2_000_000
"""Rows up to which columns are held in memory, as codes."""


def verify(release: Release | str | Path, *, version_1: bool = False) -> list[Check]:
    """Everything that can be checked without the raw table, of an opened release or a folder. Opening it checks the hashes.

    version_1   whether the reader knows that the release is of the first version
    """
    try:
        release = release if isinstance(release, Release) else open_release(release)
        _ = release.path  # one that lives elsewhere is fetched, and its hashes are looked at
    except ChangedRelease as error:
        return [Check("hashes", False, str(error))]
    if release.parts:
        return _together(release, version_1)
    sealed = Check("hashes", True, f"manifest and {len(release.manifest.files)} files are as they were written")
    old = version_checks(release.manifest, version_1)
    return [sealed, *old, *(check for looked_at in CHECKS for check in _looked_at(release, looked_at))]


def _together(release: Release, version_1: bool) -> list[Check]:
    """The checks of all parts, and what follows for the whole."""
    checks = [
        replace(check, name=f"{part.title}: {check.name}")
        for part in release.parts
        for check in verify(part, version_1=version_1)
    ]
    return [*checks, *(Check("guarantee", True, guarantee.statement) for guarantee in release.terms.guarantees)]


def _looked_at(release: Release, checks: Callable[[Release], list[Check]]) -> list[Check]:
    """What some checks say; what cannot be looked at at all is a check that fails."""
    try:
        with readable():
            return checks(release)
    except InputError as error:
        return [Check(checks.__name__.strip("_").replace("_", " "), False, str(error))]


def _folder(release: Release) -> list[Check]:
    return folder_checks(release.path, release.manifest)


def _home(release: Release) -> list[Check]:
    return release.home_checks()


def _shape(release: Release) -> list[Check]:
    return [Check(*check) for check in find_form(release.manifest.form.kind).checks(release.path, release.manifest)]


def _order(release: Release) -> list[Check]:
    """The order of rows is that of the mechanism."""
    manifest = release.manifest
    expected = "sorted" if find_mechanism(manifest.mechanism).traits.sorted_rows else "shuffled"
    detail = f"{manifest.mechanism} publishes rows {expected}, and the manifest says {manifest.order}"
    return [
        Check("order", manifest.order == expected, f"rows are {expected}" if manifest.order == expected else detail)
    ]


def _said(release: Release) -> list[Check]:
    try:
        return word_checks(release.manifest, release.terms)
    except ReleaseError:
        return word_checks(release.manifest, None)


def _rounded(release: Release) -> list[Check]:
    return rounding_checks(release.manifest)


def _perturbed(release: Release) -> list[Check]:
    names = release.manifest.domains
    return [
        check for name in names for check in _channels(release, name, [stratum[name] for stratum in release.strata])
    ]


def _coins(release: Release) -> list[Check]:
    """Coins that anybody can flip again hide nothing."""
    problem = soundness.coins_problem(release.manifest)
    return [Check("coins", False, problem)] if problem else coins_word(release.manifest)


def _promises(release: Release) -> list[Check]:
    """What follows from the manifest, beside what it claims. The whole is compared: guarantees, conditions, what is not covered, and every sentence."""
    manifest = release.manifest
    try:
        promises = compared(manifest, release.terms)
    except ReleaseError as error:
        return [Check("guarantees", False, str(error))]
    checks = [
        Check("guarantee", not problem, problem or guarantee.statement) for guarantee, problem in promises.guarantees
    ]
    checks += [Check("guarantee", False, problem) for problem in promises.unfounded]
    read = (
        "are what follows"
        if manifest.coded
        else "are of before they had codes, and were not read; what follows stands above"
    )
    sides = (
        ("not covered", promises.not_covered, f"{len(release.terms.not_covered)} lines follow"),
        ("taken from the data", promises.depends_on_data, f"{len(release.terms.depends_on_data)} lines follow"),
        ("sentences", promises.sentences, f"the sentences of the manifest {read}"),
    )
    return [*checks, *(Check(name, not problem, problem or sentence) for name, problem, sentence in sides)]


def _samples(release: Release) -> list[Check]:
    """No group of people who agree on all public columns has more sampled rows than the manifest says."""
    sampling = release.manifest.view.sampling
    if sampling is None or sampling.sizes != "one":
        return []
    most = sampling.least
    groups = exp.select(rows_drawn(release.manifest.role("copies")).as_("n")).from_(TABLE)
    groups = groups.group_by(*[exp.column(name, quoted=True) for name in release.manifest.public])
    table = release.engine.run(exp.select("MAX(n) AS n").from_(groups.subquery("each")))
    largest = int(table.column("n")[0].as_py() or 0)
    return [Check("samples", largest <= most, f"at most {largest} sampled rows of a group, {most} in the manifest")]


def _rows(release: Release) -> list[Check]:
    rows = sum(rows_in(release.path / path) for path in release.manifest.rows_in)
    detail = f"{rows:,} in the files, {release.manifest.rows:,} in the manifest"
    return [Check("rows", rows == release.manifest.rows, detail)]


def _channels(release: Release, name: str, channels: list[BaseChannel]) -> list[Check]:
    try:
        counts = release.published_counts(name)
    except SchemaError as error:
        return [Check(f"channel of {name}", False, str(error))]
    column = release.manifest.column(name)
    if column is not None and any(record.own for record in column.records):
        untested = "cannot be tested from the release: replacements follow the column's own distribution"
        return [Check(f"channel of {name}", True, untested)]
    if len(channels) > 1:
        return [
            _channel(f"channel of {name} in sub-table {i}", [counts[i]], channels[i], 0) for i in range(len(channels))
        ]
    parts, columns = _within(release, name)
    return [_channel(f"channel of {name}", [counts[0], *parts], channels[0], columns)]


def _within(release: Release, name: str) -> tuple[list[npt.NDArray[np.int64]], int]:
    """The published counts within each value of the other columns, where these have few: raw values would show there."""
    manifest, domain = release.manifest, release.shown[name]
    if manifest.role("copies") or domain.size > MOST_CELLS:
        return [], 0
    # what shares its coins is left out: within a published value of it, more is kept than p
    together = manifest.view.joint or [name]
    others = [c.name for c in manifest.columns if c.name not in together and c.role in ("public", "sensitive")]
    others = others[:MOST_COLUMNS]
    in_memory = type(release) is Release and manifest.rows <= MOST_ROWS
    tables = [(_counted if in_memory else _asked)(release, name, other) for other in others]
    few = [table for table in tables if len(table) <= MOST_GROUPS]
    return [line for table in few for line in table], len(few)


def _counted(release: Release, name: str, other: str) -> npt.NDArray[np.int64]:
    """How often each value goes with each of another column. Hundreds of columns are thousands of pairs, so that values are read once, as codes."""
    domain, kept = release.shown[name], release.prepared
    if kept.get("coded", ("",))[0] != name:  # the last one only: each is as long as the table
        kept["coded"] = name, domain.encode(_column(release, name), name)
    if ("groups", other) not in kept:
        groups = _column(release, other).dictionary_encode(null_encoding="encode")
        kept["groups", other] = len(groups.dictionary), groups.indices.to_numpy(zero_copy_only=False)
    count, places = kept["groups", other]
    if count > MOST_GROUPS:
        return np.zeros((count, 0), dtype=np.int64)
    together = places.astype(np.int64) * domain.size + kept["coded"][1]
    return np.bincount(together, minlength=count * domain.size).reshape(count, domain.size)


def _column(release: Release, name: str) -> pa.Array:
    parts = [pq.read_table(release.file(path), columns=[name]).column(name) for path in release.manifest.data]
    return decoded(pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type).combine_chunks())


def _asked(release: Release, name: str, other: str) -> npt.NDArray[np.int64]:
    """The same by a statement, for tables that are large."""
    domain = release.shown[name]
    lines = release.engine.run(select({"y": column(name), "g": column(other), "n": count()}, TABLE, (), 2))
    groups = lines.column("g").combine_chunks().dictionary_encode(null_encoding="encode")
    table = np.zeros((len(groups.dictionary), domain.size), dtype=np.int64)
    codes = domain.encode(lines.column("y").combine_chunks(), name)
    table[groups.indices.to_numpy(zero_copy_only=False), codes] = lines.column("n").to_numpy()
    return table


def _channel(what: str, parts: list[npt.NDArray[np.int64]], channel: BaseChannel, columns: int) -> Check:
    surprise = min(1.0, float(least_probable(np.array(parts), channel).min()) * len(parts))
    where = f", in all and within {len(parts) - 1} groups by {columns} other columns," if columns else ""
    sentence = f"published counts{where} do not contradict {_retained(channel)}"
    odd = f"published counts cannot come from the channel of the manifest (probability {surprise:.1e})"
    return Check(what, surprise >= FALSE_ALARM, sentence if surprise >= FALSE_ALARM else odd)


def _retained(channel: BaseChannel) -> str:
    if channel.recoded:
        return f"codes of which one is at most {channel.amplification:.6g} times as likely for one value as for another"
    kept = np.atleast_1d(replacement_of(channel).retain)
    share = f"{kept[0]:.6g}" if len(kept) == 1 else f"{kept.min():.4g} to {kept.max():.4g}"
    return f"a retention of {share}"


def least_probable(counts: npt.NDArray[np.int64], channel: BaseChannel) -> npt.NDArray[np.float64]:
    """A bound on the probability of counts as extreme as these, over all values and whatever the true ones were; of several, for each line."""
    from scipy.stats import binom

    seen = np.atleast_2d(counts)
    n = seen.sum(axis=1, keepdims=True)
    if channel.constant and channel.size > MOST_CELLS:
        cells = np.arange(channel.size) * MOST_CELLS // channel.size
        seen = np.add.reduceat(seen, np.flatnonzero(np.diff(cells, prepend=-1)), axis=1)
        channel = channel.collapse(cells, MOST_CELLS)
    low, high = channel.extremes()
    parts = [
        s for s in channel.sections if s.share < 1
    ]  # drawn for each row with a probability that no value has a say in
    seen = np.column_stack([seen, *(seen[:, s.start : s.stop].sum(axis=1) for s in parts)])
    low, high = (np.append(ends, [s.share for s in parts]) for ends in (low, high))
    tails = np.minimum(binom.cdf(seen, n, low), binom.sf(seen - 1, n, high))
    return np.asarray(np.minimum(1.0, tails.min(axis=1) * 2 * tails.shape[1]))


CHECKS: tuple[Callable[[Release], list[Check]], ...] = (
    _folder,
    _home,
    _shape,
    _rows,
    _order,
    _coins,
    _samples,
    weight_checks,
    _promises,
    _said,
    label_checks,
    recoded_checks,
    _rounded,
    belief_checks,
    _perturbed,
)
"""What is looked at, in this order."""
