"""What a release of counted tuples can be held to: its columns and its crowds; what it guarantees follows from the manifest."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scumble.engines.duckdb.counting import least_count, most_count
from scumble.privacy.numerals import at_most_share
from scumble.release.manifest import Manifest
from scumble.release.records import CountedRecord

Result = tuple[str, bool, str]


def counted_checks(folder: Path, manifest: Manifest) -> list[Result]:
    """Name, outcome and detail of each check."""
    record = manifest.counted
    assert record is not None
    found = [_columns(folder, manifest, record)]
    if record.matrix == "anatomy":
        return [*found, _buckets(folder, record)]
    if record.matrix == "alpha_beta":
        return [*found, _different(folder, manifest)]
    if record.matrix == "generalized":
        return [*found, _groups(folder, manifest, record)]
    return [*found, _crowds(folder, manifest, record)] if record.k else found


def _tables(manifest: Manifest, record: CountedRecord) -> list[tuple[list[str], list[str]]]:
    """The columns and the files of each table."""
    names = [column.name for column in manifest.columns]
    if record.tables is None:
        return [(names, manifest.data)]
    return [(names if record.transactions else list(table.attributes), table.files) for table in record.tables]


def _columns(folder: Path, manifest: Manifest, record: CountedRecord) -> Result:
    kinds = {column.name: column.type for column in manifest.columns}
    for names, files in _tables(manifest, record):
        listed = {name: kinds[name] for name in names}
        for path in files:
            found = {field.name: str(field.type) for field in pq.read_schema(folder / path)}
            if found != listed:
                return "columns", False, f"{path} has {found}, the manifest has {listed}"
    return "columns", True, f"{len(kinds)} columns with the types of the manifest"


def _crowds(folder: Path, manifest: Manifest, record: CountedRecord) -> Result:
    """No tuple is published fewer than k times."""
    assert record.k is not None
    for names, files in _tables(manifest, record):
        keys = names if record.transactions is None else [record.transactions["pattern"], record.transactions["item"]]
        least = least_count([folder / path for path in files], keys)
        if least is not None and least < record.k:
            return "crowds", False, f"a tuple in {files[0]} is there {least} times, below k = {record.k}"
    return "crowds", True, f"every published tuple is there at least k = {record.k} times"


def _different(folder: Path, manifest: Manifest) -> Result:
    """The release is a set."""
    most = most_count([folder / path for path in manifest.data], [column.name for column in manifest.columns]) or 0
    return "set", most <= 1, "no tuple is published twice" if most <= 1 else f"a tuple is published {most} times"


def _buckets(folder: Path, record: CountedRecord) -> Result:
    """Each bucket has as many rows as values, and no value more than once in l of them."""
    assert record.tables is not None
    assert record.diversity is not None
    rows, values = (
        pa.concat_tables([pq.read_table(folder / path, columns=names) for path in table.files])
        for table, names in zip(record.tables, (["bucket"], ["bucket", "count"]), strict=True)
    )
    size = np.bincount(rows.column("bucket").to_numpy())
    bucket, count = values.column("bucket").to_numpy(), values.column("count").to_numpy()
    if not np.array_equal(np.bincount(bucket, weights=count, minlength=len(size)), size):
        return "buckets", False, "a bucket has more rows than values, or fewer"
    share = float((count / size[bucket]).max())
    told = f"the largest share of a value in one of {len(size):,} buckets is {at_most_share(share)}, l = {record.diversity}"
    return "buckets", share * record.diversity <= 1 + 1e-9, told


def _groups(folder: Path, manifest: Manifest, record: CountedRecord) -> Result:
    """Each box stands for k rows or more, and its ends are in order."""
    table = pa.concat_tables([pq.read_table(folder / path) for path in manifest.data])
    least = pc.min(table.column(str(manifest.role("size")))).as_py()
    if record.k is None or least < record.k:
        return "groups", False, f"a group has {least} rows, below k = {record.k}"
    for column in manifest.columns:
        if column.role == "low":
            high = next(c.name for c in manifest.columns if c.role == "high" and c.of == column.of)
            if not pc.all(pc.less_equal(table.column(column.name), table.column(high))).as_py():
                return "groups", False, f"a box has a {column.name} above its {high}"
    return "groups", True, f"every group has {least} rows or more, k = {record.k}"
