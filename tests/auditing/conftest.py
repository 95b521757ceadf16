"""A table to attack, and releases that are broken on purpose."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from auditing.attacked import people

from scumble.publishing.write import file_record, parquet_writer
from scumble.release.manifest import NAME, read_manifest
from scumble.release.release import Release, open_release


@pytest.fixture(scope="session")
def raw() -> pa.Table:
    return people()


Forge = Callable[[Release, pa.Table], Release]


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    """A release with other rows than were published, its manifest hashed anew: what a careless or dishonest publisher hands out. It does not name what wrote it, so that it is not found by its bytes."""
    made = 0

    def forged(release: Release, table: pa.Table) -> Release:
        nonlocal made
        made += 1
        folder = tmp_path / f"{made}.release"
        shutil.copytree(release.path, folder)
        with parquet_writer(folder / "data.parquet", table.schema) as writer:
            writer.write_table(table)
        manifest = read_manifest(folder)
        files = [f for f in manifest.files if f.rows is None]
        files.append(file_record(folder, "data.parquet", table.num_rows))
        (folder / NAME).write_text(
            manifest.model_copy(update={"files": files, "rows": table.num_rows, "writer": None}).text()
        )
        return open_release(folder)

    return forged
