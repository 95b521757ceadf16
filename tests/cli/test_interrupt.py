"""Ctrl-C: one line, exit code 130, nothing half-written, and what was there before is still there."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from every_mechanism import ONE
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.atomic import whole_file, whole_folder
from scumble.core.undisturbed import undisturbed
from scumble.engines.duckdb.results import arrow

PAUSING = Path(__file__).parent / "pausing.py"
FOREVER = 900
"""Seconds after which a process that a signal does not end is a failure, also on a machine that is busy with much else."""

COLUMNS = ["age", "sex", "disease"]
SEXES: dict[str, Any] = {"disease": DISEASES, "sex": ["F", "M"]}
MECHANISMS: dict[str, dict[str, Any]] = {
    "uniform": {**ONE, "retain": 0.5},
    "identity": {**ONE, "retain": 0.3},
    "swapped": {**ONE, "retain": 0.3},
    "fine_grain": {**ONE, "rho1": "1/10", "rho2": "1/2", "settings": {"scores": {"hiv": 2}}},
    "partitioned": {**ONE, "rho2": "1/2"},
    "sps": {**ONE, "retain": 0.5, "coarsen": {"age": {"bins": 50}}},
    "frapp": {"sensitive": ["sex", "disease"], "domains": SEXES, "rho1": "1/10", "rho2": "1/2"},
    "anatomy": {**ONE, "settings": {"l": 2}},
    "k_dgs": {"settings": {"k": 10}, "coarsen": {"age": {"bins": 20}}},
    "noisy_counts": {"epsilon": 1, "settings": {"k": 10, "delta": 1e-5}, "coarsen": {"age": {"bins": 20}}},
    "columnized": {
        "epsilon": 2,
        "settings": {"k": 10, "delta": 1e-5, "schema": [["age", "sex"], ["sex", "disease"]]},
        "coarsen": {"age": {"bins": 20}},
    },
    "alpha_beta": {
        "sensitive": COLUMNS,
        "domains": {"age": {"low": 0, "high": 99}, **SEXES},
        "rho1": "1/10",
        "rho2": "1/2",
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_mechanism_leaves_anything_behind(
    mechanism: str, patients: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted when data files are on the disk, with buckets in files of their own where there are any; the release of before is kept."""
    monkeypatch.setattr("scumble.publishing.shuffle.of_buffers", lambda: 0)
    rows = patients.select(COLUMNS)
    rows = rows.group_by(COLUMNS).aggregate([]) if mechanism == "alpha_beta" else rows  # it is for sets
    how = {"table": rows, "out": tmp_path / "r", "mechanism": mechanism, **MECHANISMS[mechanism]}
    before = publish_openly(**how).manifest.digest
    seen: list[list[str]] = []

    def reached(*_: Any) -> None:
        seen.append([path.name for folder in tmp_path.glob(".r.*") for path in folder.rglob("*")])
        raise KeyboardInterrupt

    monkeypatch.setattr("scumble.publishing.sealing.readme", reached)
    with pytest.raises(KeyboardInterrupt):
        publish_openly(**how, overwrite=True)
    assert any(name.endswith(".parquet") for name in seen[0])
    assert [path.name for path in tmp_path.iterdir()] == ["r"]
    assert scumble.open(tmp_path / "r").manifest.digest == before


def test_a_table_that_is_spilled_is_interrupted_while_it_is_read(
    patients: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scumble.publishing.shuffle.of_buffers", lambda: 0)
    monkeypatch.setattr("scumble.sources.source.BATCH", 100)
    spilled: list[int] = []

    def progress(done: int, of: int | None) -> None:
        spilled.append(len(list(tmp_path.glob(".r.*/bucket-*.arrow"))))
        if spilled[-1]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish_openly(patients.select(COLUMNS), tmp_path / "r", **MECHANISMS["uniform"], progress=progress)
    assert spilled[-1] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def table(patients: pa.Table, tmp_path: Path) -> Path:
    pq.write_table(patients.select(COLUMNS), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def interrupted(
    place: str, *arguments: str, folder: Path, send: signal.Signals = signal.SIGINT
) -> subprocess.CompletedProcess[str]:
    """What the command line says when a signal comes at that place."""
    command = [sys.executable, str(PAUSING), place, *arguments]
    environment = {"TMPDIR": str(folder / "temporary"), "PYTHONPATH": ":".join(sys.path)}
    (folder / "temporary").mkdir()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment
    ) as process:
        assert process.stdout is not None
        while (line := process.stdout.readline()) and line != "reached\n":
            pass
        process.send_signal(send)
        out, error = process.communicate(timeout=FOREVER)
    assert list((folder / "temporary").iterdir()) == []
    (folder / "temporary").rmdir()
    return subprocess.CompletedProcess(command, process.returncode, out, error)


PUBLISH = ["publish", "t.parquet", "--sensitive", "disease", "--rest", "drop", "--domain-from-data", "--retain", "0.5"]
PUBLISH += ["-o", "r"]


@pytest.mark.parametrize(
    "place",
    ["scumble.publishing.publish:distinct_values", "scumble.publishing.shuffle:Buckets.add", "scumble.publishing.write:decode_table"],
)  # fmt: skip
@pytest.mark.slow
def test_publishing_ends_with_one_line(place: str, table: Path) -> None:
    """While values are looked up, while rows are read, and while worker threads write them."""
    told = interrupted(place, *PUBLISH, folder=table.parent)
    assert told.stderr == "scumble: interrupted; nothing half-written was left behind\n"
    assert told.returncode == 130
    assert [path.name for path in table.parent.iterdir()] == ["t.parquet"]


@pytest.mark.slow
def test_a_request_to_end_is_an_interruption_too(table: Path) -> None:
    told = interrupted("scumble.publishing.shuffle:Buckets.add", *PUBLISH, folder=table.parent, send=signal.SIGTERM)
    assert (told.returncode, told.stderr.count("\n")) == (143, 1)
    assert [path.name for path in table.parent.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("scumble.spec.suggest:role", ["init", "t.parquet"]),
        ("scumble.cli.hospital:hospital", ["demo", "--rows", "1000"]),
    ],
)
@pytest.mark.slow
def test_other_commands_write_all_or_nothing(place: str, arguments: list[str], table: Path) -> None:
    told = interrupted(place, *arguments, folder=table.parent)
    assert (told.returncode, told.stderr.count("\n")) == (130, 1)
    assert [path for path in table.parent.rglob("*") if path.is_file()] == [table]


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("scumble.reporting.page:render", ["report", "r", "--raw", "t.parquet"]),
        ("scumble.evaluate.parallel:as_completed", ["compare", "t.toml", "--mechanism", "uniform", "--size", "3"]),
    ],
)
@pytest.mark.slow
def test_what_reads_a_release_leaves_no_page_and_no_process(place: str, arguments: list[str], table: Path) -> None:
    """A process that lived on would hold our pipe open, and the wait for its end would fail."""
    folder = table.parent
    (folder / "t.toml").write_text(
        'table = "t.parquet"\n[privacy]\nretain = 0.3\n[columns]\nage = { role = "public" }\nsex = { role = "public" }\n'
        f'disease = {{ role = "sensitive", values = {DISEASES} }}\n'
    )
    scumble.publish(folder / "t.toml", folder / "r", seed=1)
    before = sorted(folder.rglob("*"))
    told = interrupted(place, *arguments, folder=folder)
    assert (told.returncode, told.stderr) == (130, "scumble: interrupted; nothing half-written was left behind\n")
    assert sorted(folder.rglob("*")) == before


def run_for_hours(connection: duckdb.DuckDBPyConnection) -> None:
    """Asks to be stopped first, so that it does not matter how long a busy machine takes to begin."""
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    arrow(connection, "SELECT SUM(a.range * b.range) FROM range(1000000) a, range(1000000000) b")


def test_a_statement_of_the_engine_is_stopped() -> None:
    def handler(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with duckdb.connect() as connection:
            with pytest.raises(KeyboardInterrupt):
                run_for_hours(connection)
            assert arrow(connection, "SELECT 1 AS one").to_pylist() == [{"one": 1}]
    finally:
        signal.signal(signal.SIGALRM, before)


def test_what_may_not_be_done_by_halves_waits_for_the_end() -> None:
    done = []

    def work() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def write_half(path: Path) -> None:
    with whole_file(path) as aside:
        aside.write_text("half")
        raise KeyboardInterrupt


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        write_half(path)
    assert path.read_text() == "before"
    with whole_file(path, overwrite=True) as aside:
        aside.write_text("after")
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "r"
    for text in ("one", "two"):
        with whole_folder(path, lambda former: [each.name for each in former.iterdir()]) as folder:
            (folder / text).write_text(text)
    with pytest.raises(scumble.core.errors.InputError, match="is kept"), whole_folder(path):
        pass
    assert [each.name for each in path.iterdir()] == ["two"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    with (
        pytest.raises(scumble.core.errors.InputError, match="cannot be written"),
        whole_file(tmp_path / "no" / "x.toml"),
    ):
        pass
