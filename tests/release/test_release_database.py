"""A release that lives in a PostgreSQL database (a server of our own): whole or not there, asked there, and held to its files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from databases import drop, new_name, place, sql
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import ChangedRelease, InputError, ReleaseError, TableError
from scumble.engines.postgres.homes import Home
from scumble.release.database import _new_file, demand_home, put

HOW: dict[str, Any] = {
    "sensitive": ["disease", "visits"],
    "public": ["town", "age"],
    "drop": "id",
    "domains": {"disease": ["flu", "cold", "gout", None], "visits": {"low": 0, "high": 7}},
    "gamma": {"disease": 9, "visits": 6},
    "persons": "one row each",
}
MARK = "raw-row-marker"
DRAW = np.random.default_rng(5)
PEOPLE = pa.table(
    {
        "id": [f"{MARK}-{i}" for i in range(400)],
        "town": [("Bonn", "Ulm", "it's; DROP", 'a "b" \\ %s')[i % 4] for i in range(400)],
        "age": DRAW.integers(20, 50, 400),
        "disease": DRAW.choice(np.array(["flu", "cold", "gout", None]), 400),
        "visits": DRAW.integers(0, 8, 400),
    }
)
ASKED = "SELECT town, disease, COUNT(*) AS n FROM release GROUP BY town, disease"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("home") / "flu"
    scumble.publish(PEOPLE, path, **HOW)
    return path


@pytest.fixture
def name(folder: Path) -> Iterator[str]:
    """The release of the folder, in the database."""
    made = new_name()
    put(folder, demand_home(place(made), False), False)
    yield made
    drop(made)


def failed(name: str) -> set[str]:
    return {check.name for check in scumble.verify(place(name)) if not check.passed}


@pytest.mark.slow
def test_published_asked_verified_and_raw_rows_are_nowhere(tmp_path: Path) -> None:
    """By the command, with a server that logs every statement. Neither its tables nor its log nor its files know a raw row."""
    name, run = new_name(), CliRunner()
    sql("ALTER ROLE CURRENT_USER SET log_statement = 'all'")
    try:
        table = tmp_path / "people.csv"
        table.write_text(
            "id,town,disease\n" + "".join(f"{MARK}-{i},Bonn,{'flu' if i % 2 else 'cold'}\n" for i in range(60))
        )
        flags = ["--sensitive", "disease", "--domain", "disease=flu,cold", "--public", "town", "--drop", "id"]
        flags += ["--gamma", "3", "--persons", "one row each", "-o", place(name)]
        made = run.invoke(app, ["publish", str(table), *flags])
        assert made.exit_code == 0, made.output
        assert run.invoke(app, ["verify", place(name)]).exit_code == 0
        assert "mechanism uniform" in run.invoke(app, ["show", place(name)]).output
        asked = run.invoke(app, ["query", place(name), "SELECT COUNT(*) AS n FROM release", "--format", "csv"])
        assert asked.output.splitlines()[1].startswith("60"), asked.output
        audit = run.invoke(app, ["audit", place(name), "--only", "metadata"])
        assert audit.exit_code == 0, audit.output
        (data,) = sql("SHOW data_directory")
        logs = [path.read_bytes() for path in Path(data[0]).rglob("log*") if path.is_file()]
        assert any(name.encode() in log for log in logs), "statements were logged"
        sql("CHECKPOINT")
        held = [path for path in Path(data[0]).rglob("*") if path.is_file()]
        assert not [path for path in held if MARK.encode() in path.read_bytes()]
    finally:
        sql("ALTER ROLE CURRENT_USER RESET log_statement")
        drop(name)


@pytest.mark.slow
def test_answers_are_those_of_the_folder_and_the_views_give_them_too(name: str, folder: Path) -> None:
    there, here = scumble.open(place(name)), scumble.open(folder)
    assert str(there) == str(here).replace("flu:", f"{name}:", 1)
    for asked in (ASKED, "SELECT visits, COUNT(*) AS n FROM release WHERE age < 30 GROUP BY visits"):
        for ours, theirs in zip(here.query(asked).to_list(), there.query(asked).to_list(), strict=True):
            assert theirs == {
                name: v if isinstance(v, str | None) else pytest.approx(v, rel=1e-12) for name, v in ours.items()
            }
    assert there.table().equals(here.table())
    viewed = sql(
        f'SELECT town, scumble_value, SUM(scumble_weight), SQRT(SUM(scumble_variance)) FROM "{name}"."disease weighted" GROUP BY 1, 2'
    )
    answers = {(line["town"], line["disease"]): (line["n"], line["n_se"]) for line in here.query(ASKED).to_list()}
    assert len(answers) == 16
    assert {key: pytest.approx(value) for key, value in answers.items()} == {(t, v): (n, e) for t, v, n, e in viewed}
    assert sql(f"SELECT manifest->>'digest' FROM \"{name}\".manifest") == [(here.manifest.digest,)]


CHANGES = {
    "a value": ("UPDATE {}.release SET town = 'Ulm' WHERE age = 20 AND town = 'Bonn'", "database"),
    "a row for another": (
        "DELETE FROM {0}.release WHERE ctid = (SELECT MIN(ctid) FROM {0}.release); INSERT INTO {0}.release SELECT 'Bonn', 99, 'flu', 1",
        "database",
    ),
    "a row less": ("DELETE FROM {}.release WHERE age = 20", "hashes"),
    "a row more": ("INSERT INTO {}.release SELECT 'Bonn', 20, 'flu', 1", "hashes"),
    "a column more": ("ALTER TABLE {}.release ADD COLUMN name text", "hashes"),
    "a byte of the manifest": (
        "UPDATE {}.files SET bytes = set_byte(bytes, 300, 65) WHERE path = 'manifest.json'",
        "hashes",
    ),
    "a byte of the rows": ("UPDATE {}.files SET bytes = set_byte(bytes, 40, 1) WHERE path = 'data.parquet'", "hashes"),
    "a file more": ("INSERT INTO {}.files VALUES ('names.csv', 0, 'x')", "schema"),
    "a longer file": ("INSERT INTO {}.files VALUES ('data.parquet', 1, 'x')", "hashes"),
    "a table more": ("CREATE TABLE {}.names (name text)", "schema"),
    "a view more": ("CREATE VIEW {}.more AS SELECT 1", "views"),
    "another view": (
        "CREATE OR REPLACE VIEW {0}.manifest AS SELECT '1'::json AS manifest",
        "views",
    ),
    "the comment": ("COMMENT ON SCHEMA {} IS 'a release of scumble, 00'", "schema"),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_verify_finds_any_change(change: str, name: str) -> None:
    statement, check = CHANGES[change]
    sql(statement.replace("{0}", f'"{name}"').replace("{}", f'"{name}"'))
    assert check in failed(name)


@pytest.mark.slow
def test_a_changed_weight_of_a_view_is_found(name: str) -> None:
    assert failed(name) == set()
    view = f'"{name}"."disease weighted"'
    (definition,) = sql(f"SELECT pg_get_viewdef('{view}'::regclass)")[0]
    weight = next(part for part in definition.split("'") if part.startswith("-0."))
    sql(f"CREATE OR REPLACE VIEW {view} AS {definition.replace(weight, '-0.111', 1)}")
    assert failed(name) == {"views"}


@pytest.mark.slow
def test_a_connection_that_is_cut_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server ends our session when all but the last files are written; until then nobody sees anything."""
    made, keep = new_name(), Home._keep_files

    def cut(self: Home, connection: Any, written: Any) -> None:
        keep(self, connection, written)
        assert sql("SELECT 1 FROM pg_namespace WHERE nspname = %s", made) == []
        sql("SELECT pg_terminate_backend(%s)", connection.info.backend_pid)

    with monkeypatch.context() as patched:
        patched.setattr(Home, "_keep_files", cut)
        with pytest.raises(ReleaseError, match=f"the release '{made}' of the database 'postgres' cannot be used"):
            scumble.publish(PEOPLE, place(made), **HOW)
    assert sql("SELECT 1 FROM pg_namespace WHERE nspname = %s", made) == []
    assert sql("SELECT 1 FROM pg_class WHERE relname = 'disease weighted' AND relnamespace = 0") == []
    with pytest.raises(ReleaseError, match="there is no release"):
        scumble.open(place(made))


@pytest.mark.slow
def test_only_a_release_is_replaced_and_its_readers_stay(name: str, folder: Path) -> None:
    role = f"reader_{name}"
    sql(
        f'CREATE ROLE "{role}" LOGIN; GRANT USAGE ON SCHEMA "{name}" TO "{role}"; GRANT SELECT ON ALL TABLES IN SCHEMA "{name}" TO "{role}"'
    )
    try:
        former = scumble.open(place(name))
        with pytest.raises(ReleaseError, match="exists and is kept"):
            scumble.publish(PEOPLE, place(name), **HOW)
        again = scumble.publish(PEOPLE, place(name), overwrite=True, **HOW)
        assert again.manifest.digest != former.manifest.digest
        with pytest.raises(ChangedRelease, match="was replaced since it was opened"):
            former.query("SELECT COUNT(*) FROM release")
        as_reader = place(name).replace("postgres:@", f"{role}@").replace("postgres@", f"{role}@")
        assert role in as_reader
        assert scumble.open(as_reader).query("SELECT COUNT(*) AS n FROM release").to_list()[0]["n"] == 400
        with pytest.raises(InputError, match=r"permission denied|must be owner"):
            scumble.publish(PEOPLE, as_reader, overwrite=True, **HOW)
        sql(f'CREATE VIEW public."theirs {name}" AS SELECT * FROM "{name}".release')
        with pytest.raises(ReleaseError, match="other objects depend on it"):
            scumble.publish(PEOPLE, place(name), overwrite=True, **HOW)
        sql(f'DROP VIEW public."theirs {name}"; CREATE TABLE "{name}".notes (x int)')
        with pytest.raises(ReleaseError, match="holds 'notes', which the release did not write"):
            put(folder, demand_home(place(name), True), True)
        assert scumble.open(place(name)).manifest.digest == again.manifest.digest
    finally:
        drop(name)
        sql(f'DROP OWNED BY "{role}"; DROP ROLE "{role}"')


@pytest.mark.slow
def test_a_schema_of_somebody_else_is_kept(folder: Path) -> None:
    made = new_name()
    sql(f'CREATE SCHEMA "{made}"; CREATE TABLE "{made}".release (x int)')
    try:
        with pytest.raises(ReleaseError, match="is not a release of this scumble, so it is kept"):
            demand_home(place(made), True)
        with pytest.raises(ReleaseError, match="there is no release"):
            scumble.open(place(made))
        assert sql(
            "SELECT COUNT(*) FROM pg_class WHERE relname = 'release' AND relnamespace = %s::regnamespace", made
        ) == [(1,)]
    finally:
        drop(made)


@pytest.mark.parametrize(
    "name", ["", "pg_catalog", "public", "information_schema", 'a"; DROP TABLE x; --', "x" * 64, "a/b", "a\nb", ".."]
)
def test_hostile_names_are_refused(name: str) -> None:
    from urllib.parse import quote

    with pytest.raises(ReleaseError, match="a release in a database has a name of letters"):
        scumble.open(f"postgresql://me@nowhere.invalid/db?release={quote(name)}")


@pytest.mark.parametrize(
    "url", ["postgresql://me:s3cret@h/db?release=flu", "postgresql://me@h/db?password=s3cret&release=flu"]
)
def test_a_password_in_an_address_is_refused_and_not_told(url: str, tmp_path: Path) -> None:
    for work in (lambda: scumble.open(url), lambda: scumble.publish(PEOPLE, url, **HOW)):
        with pytest.raises(TableError, match="a password does not belong") as caught:
            work()
        assert "s3cret" not in str(caught.value)


def test_what_cannot_be_done_is_refused_by_a_sentence(tmp_path: Path) -> None:
    for url in ("sqlite:///x.db?release=flu", "postgresql://h/db", "postgresql://h/db?release=flu&table=x"):
        with pytest.raises(ReleaseError, match=r"an address such as postgresql://user@host/db\?release=NAME"):
            scumble.open(url)


@pytest.mark.slow
def test_signing_is_for_folders_and_stacked_releases_are_copies(name: str, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    scumble.publish(PEOPLE, other, **HOW)
    both = scumble.open(place(name), other)
    assert both.query("SELECT COUNT(*) AS n FROM release").to_list()[0]["n"] == 800
    made = CliRunner().invoke(app, ["sign", place(name), "--new-key", str(tmp_path / "key")])
    assert "sign its folder" in str(made.exception)


@pytest.mark.parametrize("path", ["manifest.json", "a/b/c", "a"])
def test_no_file_is_fetched_in_the_place_of_another(path: str, tmp_path: Path) -> None:
    """A forged manifest may list a file below another one, a folder, or itself."""
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("a file")
    with pytest.raises(ChangedRelease, match="in the place of another file"):
        _new_file(tmp_path, path)
