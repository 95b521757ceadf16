"""The raw table in the form in which a release published it: made coarser by the same rules, with the same values merged."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, named_type
from scumble.release.manifest import Manifest
from scumble.release.records import ColumnRecord, representative
from scumble.spec.coarsening import coarsen


def recoded(raw: pa.Table, manifest: Manifest) -> pa.Table:
    """Columns of the raw table that the release has, recoded."""
    records = {column.of or column.name: column for column in manifest.columns}
    return pa.table({name: _as_published(raw.column(name), records[name]) for name in raw.column_names})


def _as_published(column: pa.ChunkedArray, record: ColumnRecord) -> pa.ChunkedArray:
    if record.coarsened is None and not record.merged:
        return column
    plain = decoded(column)
    if record.coarsened is not None:
        plain = pa.chunked_array([coarsen(chunk, record.coarsened, record.name) for chunk in plain.chunks])
    return merged(plain, record) if record.merged else plain


def merged(column: pa.ChunkedArray, record: ColumnRecord) -> pa.ChunkedArray:
    """Each value as the one that it was merged into."""
    words = column.combine_chunks().dictionary_encode()
    stands = [v if v is None else representative(record.merged or [], _plain(v)) for v in words.dictionary.to_pylist()]
    kind = named_type(record.type)
    made = pa.array(stands) if pa.types.is_string(kind) else pa.array(stands).cast(kind)
    return pa.chunked_array([pc.take(made, words.indices)])


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)
