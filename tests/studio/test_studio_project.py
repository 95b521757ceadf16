"""A project: its name, its versions, and the rows that are kept of a long table."""

from pathlib import Path

import pyarrow as pa
import pytest

from scumble.core.errors import ParameterError
from scumble.sources.source import read
from scumble.spec.spec import Spec
from scumble.studio import reading
from scumble.studio.history import History
from scumble.studio.project import SPEC, Project, find_project, new_name, projects
from scumble.studio.reading import read_through


def test_changes_are_undone_and_done_again(tmp_path: Path) -> None:
    spec = tmp_path / SPEC
    history = History(spec)
    for text in ("a", "b", "c", "c"):
        history.keep(text)
    assert (history.at, history.can_undo, history.can_redo) == (3, True, False)
    history.step(-1)
    history.step(-1)
    assert (spec.read_text(), history.can_undo, history.can_redo) == ("a", False, True)
    history.step(-1)
    history.step(1)
    assert spec.read_text() == "b"
    history.keep("d")
    assert (history.at, history.can_redo) == (3, False)
    history.step(1)
    assert spec.read_text() == "d"


def test_a_spec_that_was_edited_elsewhere_is_not_lost(tmp_path: Path) -> None:
    spec = tmp_path / SPEC
    history = History(spec)
    history.keep("a")
    spec.write_text("by hand")
    history.keep("b")
    history.step(-1)
    assert spec.read_text() == "by hand"
    history.step(-1)
    assert spec.read_text() == "a"


def test_names_become_folders_that_are_free(tmp_path: Path) -> None:
    assert new_name(tmp_path, "/data/My patients 2024.csv.gz") == "My-patients-2024"
    assert new_name(tmp_path, "postgresql://me@host/clinic?table=public.visits") == "public-visits"
    (tmp_path / "visits").mkdir()
    assert new_name(tmp_path, "visits.csv") == "visits-2"
    for wanted in ("visits", "../up", "a b", "-x", ""):
        if wanted:
            with pytest.raises(ParameterError):
                new_name(tmp_path, "visits.csv", wanted)


def test_projects_are_the_folders_with_a_spec(tmp_path: Path) -> None:
    for name in ("b", "A", "no spec", ".hidden"):
        (tmp_path / name).mkdir()
        if name != "no spec":
            (tmp_path / name / SPEC).touch()
    assert [one.name for one in projects(tmp_path)] == ["A", "b"]
    assert find_project(tmp_path, "b") == Project(tmp_path / "b")
    assert find_project(tmp_path, "../b") is None


def test_of_a_long_table_rows_are_kept_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is looked at, and what is drawn from some of them says so."""
    monkeypatch.setattr(reading, "MOST_ROWS", 1000)
    table = pa.table({"n": range(10_000), "half": [i % 2 for i in range(10_000)]})
    batches = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=777))
    seen = read_through(read(batches), lambda done, of: None)
    assert (seen.rows, seen.whole) == (10_000, False)
    assert seen.sample.column("n").to_pylist() == list(range(0, 10_000, 16))
    assert seen.said == "of a sample of 625 of 10,000 rows"
    assert len(seen.suggestion("half").seen.values) == 2


def test_rows_are_alone_with_what_is_published() -> None:
    table = pa.table({"age": [1, 2, 3, 11, 12, 30], "sex": ["F", "M", "F", "F", "F", "M"]})
    seen = read_through(read(table), lambda done, of: None)
    plain = Spec.model_validate({"columns": {"age": {"role": "public"}, "sex": {"role": "public"}}})
    steps = Spec.model_validate(
        {"columns": {"age": {"role": "public", "coarsen": {"bins": 10}}, "sex": {"role": "public"}}}
    )
    assert seen.unique(plain) == 6
    assert seen.unique(steps) == 2
    assert seen.unique(steps, without="sex") == 1
    assert (seen.alone("age"), seen.alone("sex")) == (6, 0)
