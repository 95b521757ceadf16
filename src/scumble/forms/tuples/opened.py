"""What the query layer has to know of a release of counted tuples."""

from pathlib import Path

from scumble.forms.tuples.totals import CountedRelease, CountedTable
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.release.manifest import Manifest


def counted_release(folder: Path, manifest: Manifest) -> CountedRelease:
    """Its tables, and how their counts are corrected."""
    record = manifest.counted
    assert record is not None
    names = [column.name for column in manifest.columns]
    noise = None
    if record.matrix == "full":
        noise = ClampedCounts.full(record.epsilon)
    elif record.matrix == "practical" and record.k is not None and record.epsilon is not None:
        noise = ClampedCounts(record.k, record.epsilon / 2)
    whole = CountedTable("data", names, [folder / path for path in manifest.data])
    tables = [
        CountedTable(t.name, t.attributes, [folder / path for path in t.files], t.rows) for t in record.tables or ()
    ]
    kinds = {column.name: column.type for column in manifest.columns}
    domains = {n: d.domain(kinds[n]) for n, d in (record.domains or {}).items()} if record.domains else None
    return CountedRelease(
        names,
        tables or [whole],
        noise,
        record.total,
        record.transactions,
        domains,
        record.c_star or 1,
        record.matrix == "boxes",
        {n: d.domain(kinds[n]) for n, d in (record.declared or {}).items()},
    )
