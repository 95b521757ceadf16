"""The laws of forms, engines, sources and attacks, for every one that is registered."""

from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.csv
import pytest
from homes import HOMES
from laws.commands import LAWS, QUESTION, Things, call
from laws.examples import distinct, people
from laws.registered import ENGINES, FORMS, MECHANISMS, SOURCES, example_of

import scumble
from scumble.auditing import ATTACKS, audit, case_of, run
from scumble.auditing.finding import Finding, Question
from scumble.core.errors import QueryError, SchemaError
from scumble.mechanisms import find_mechanism
from scumble.release import soundness
from scumble.release.release import Release
from scumble.release.verify import verify
from scumble.sources.source import read

QUESTIONS = [
    QUESTION,
    QUESTION + " WHERE disease = 'flu'",
    "SELECT sex, COUNT(*) AS n FROM release GROUP BY sex ORDER BY sex",
    "SELECT disease, COUNT(*) AS n FROM release WHERE town <> 'Ulm' GROUP BY disease ORDER BY n DESC LIMIT 3",
]
UNSUPPORTED = {("sqlite", "boxes"): "SQLite has no lists"}
"""What an engine says that it cannot hold."""


def of_form(name: str) -> list[str]:
    """The mechanisms whose releases have a form."""
    return [mechanism for mechanism in MECHANISMS if find_mechanism(mechanism).form == name]


def demand_same(line: dict[str, Any], true: dict[str, Any]) -> None:
    """Sums of floats depend on their order."""
    assert list(line) == list(true)
    for found, expected in zip(line.values(), true.values(), strict=True):
        assert (
            found == pytest.approx(expected, rel=1e-9, abs=1e-9) if isinstance(expected, float) else found == expected
        )


@pytest.mark.parametrize("name", FORMS)
def test_a_form_answers_with_intervals(name: str) -> None:
    """Every number has an interval, which may be open on one side; with `cut` it holds the number. What is not a column is refused."""
    assert of_form(name), "no mechanism publishes it"
    release = example_of(of_form(name)[0]).release
    for sql in QUESTIONS:
        answer = release.query(sql, cut=True)
        for line in answer.to_list():
            ends = [
                end for end in (line["n_low"], line["n"], line["n_high"]) if end is not None
            ]  # one may be unbounded
            assert len(ends) >= 2, (sql, line)
            assert ends == sorted(ends), (sql, line)
    with pytest.raises(QueryError, match="nothing"):
        release.query("SELECT COUNT(*) FROM release WHERE nothing = 1")


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_answers_every_form_as_the_default_does(
    engine: str, name: str, request: pytest.FixtureRequest
) -> None:
    if (engine, name) in UNSUPPORTED:
        request.applymarker(pytest.mark.xfail(reason=UNSUPPORTED[engine, name], strict=True, raises=Exception))
    path = example_of(of_form(name)[0]).release.path
    for sql in QUESTIONS:
        found, expected = scumble.open(path, engine=engine).query(sql), scumble.open(path).query(sql)
        assert found.columns == expected.columns
        for line, true in zip(found.to_list(), expected.to_list(), strict=True):
            demand_same(line, true)


@pytest.mark.parametrize("name", ["rows", "tuples"])
def test_an_aggregate_that_is_registered_is_answered(name: str) -> None:
    """COUNT_IF is what its sum is."""
    release = example_of(of_form(name)[0]).release
    toy = release.query("SELECT COUNT_IF(town = 'Ulm') AS n FROM release").to_list()
    assert toy == release.query("SELECT SUM(CASE WHEN town = 'Ulm' THEN 1 ELSE 0 END) AS n FROM release").to_list()


@pytest.fixture(params=SOURCES, ids=lambda reference: reference.partition(":")[2])
def given(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return HOMES[request.param.partition(":")[2]](people(), tmp_path)


@pytest.mark.slow
def test_a_source_gives_its_rows_and_says_what_it_is(given: Any) -> None:
    """The columns that are asked for, in their order; the same again where it is stable; files only where it has some."""
    source, expected = read(given), people()
    assert source.schema.names == expected.column_names
    assert source.rows in (None, expected.num_rows)
    for _ in range(2 if source.stable else 1):
        rows = pa.Table.from_batches(list(source.batches(["town", "sex"])))
        assert rows.column_names == ["town", "sex"]
        assert [[str(v) for v in column] for column in rows.to_pydict().values()] == [
            [str(v) for v in column] for column in expected.select(["town", "sex"]).to_pydict().values()
        ]
    assert all(Path(file).is_file() for file in source.files)


def ratings() -> pa.Table:
    """400 users with two items each: what is told of a user stands in several rows."""
    users = [user for user in range(400) for _ in range(2)]
    items = [name for user in range(400) for name in (("tea", "milk") if user % 3 else ("beer", "nuts"))]
    return pa.table({"who": users, "item": items, "stars": [user % 2 + 3 for user in users]})


def text_of(table: pa.Table) -> pa.Table:
    return pa.table({name: table.column(name).cast(pa.string()) for name in table.column_names})


def stream(table: pa.Table, folder: Path) -> Any:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=100))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*(reference.partition(":")[2] for reference in SOURCES), "stream"])
def test_transactions_are_read_from_every_source_in_one_reading(kind: str, tmp_path: Path) -> None:
    """Whoever reads once is served too; the files are those of the same rows in a frame."""
    settings = {"user": "who", "item": "item", "value": "stars", "schema": [["tea", "milk"], ["beer", "nuts"]]}
    how: dict[str, Any] = {
        "mechanism": "columnized",
        "epsilon": 2,
        "settings": {"k": 5, "delta": 1e-5, **settings},
        "seed": 1,
    }
    given = (HOMES | {"stream": stream})[kind](ratings(), tmp_path)
    guesses = getattr(read(given), "guesses", "") if kind != "stream" else ""
    if guesses == "always":
        with pytest.raises(SchemaError, match="promises that no single row shows in a type"):
            scumble.publish(given, tmp_path / "r", **how)
        return
    release = scumble.publish(given, tmp_path / "r", **how)
    # what nobody declared is text where a type would be guessed from the rows
    same = scumble.publish(text_of(ratings()) if guesses else ratings(), **how)
    assert [file.sha256 for file in release.manifest.files] == [file.sha256 for file in same.manifest.files]
    assert all(check.passed for check in verify(release))


@pytest.mark.parametrize("mechanism", ["uniform", "k_dgs", "coin"])
@pytest.mark.slow
def test_a_source_is_published_verified_and_audited(given: Any, mechanism: str, tmp_path: Path) -> None:
    """The release is that of the same rows in a frame."""
    it = example_of(mechanism)
    how: dict[str, Any] = {
        "mechanism": mechanism,
        "sensitive": it.spec.sensitive,
        "domains": {name: it.spec.columns[name].values for name in it.spec.sensitive},
        "public": [name for name in it.spec.columns if name not in it.spec.sensitive],
        "settings": dict(it.spec.settings),
        **it.spec.privacy.model_dump(exclude_none=True),
    }
    if getattr(read(given), "guesses", "") == "always" and find_mechanism(mechanism).traits.every_output:
        with pytest.raises(SchemaError, match="promises that no single row shows in a type"):
            scumble.publish(given, tmp_path / "r", seed=1, **how)
        return
    if str(given).endswith(".dta"):
        pytest.skip("its files hold doubles where the frame has truth values")
    release = scumble.publish(given, tmp_path / "r", seed=1, **how)
    same: Release = scumble.publish(people(), seed=1, **how)
    for line, true in zip(release.query(QUESTIONS[1]).to_list(), same.query(QUESTIONS[1]).to_list(), strict=True):
        demand_same(line, true)
    assert all(check.passed for check in verify(release))
    assert audit(release, given).passed


@pytest.fixture(scope="module")
def findings() -> dict[str, list[Finding]]:
    """What every attack gets of every mechanism's release, with the raw table. That they are seeded is no news here."""
    found: dict[str, list[Finding]] = {name: [] for name in ATTACKS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soundness, "coins_problem", lambda manifest: "")
        for mechanism in MECHANISMS:
            it = example_of(mechanism)
            case = case_of(it.release, it.table)
            for name in ATTACKS:
                found[name] += run(case, only=[name])
    return found


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.slow
def test_an_attack_measures_and_no_sound_release_is_called_broken(
    attack: str, findings: dict[str, list[Finding]]
) -> None:
    """Its rate lies in its interval, on a scale from 0 to 1, and answers one of the questions."""
    for finding in findings[attack]:
        assert 0 <= finding.low <= finding.success <= finding.high <= 1
        assert 0 <= finding.baseline <= 1
        assert finding.question in get_args(Question)
        assert finding.detail
        assert finding.passed, finding.detail
        assert finding.attack == attack


@pytest.mark.slow
def test_the_demonstration_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one command that is about no table of ours. Its report, which takes most of its time, is drawn by the tests of the command line."""
    monkeypatch.chdir(tmp_path)
    nothing = Things("", tmp_path, tmp_path, tmp_path, tmp_path)
    monkeypatch.setattr("scumble.cli.hospital.report", lambda release, out: None)
    code, out, error = call("demo", LAWS["demo"][0](nothing), monkeypatch, capsys)
    assert (code, "truth" in out) == (0, True), error


def test_the_examples_are_what_they_say() -> None:
    """A set has every row once; the people have some twice."""
    for rows, repeated in ((people(), True), (distinct(), False)):
        assert (rows.group_by(rows.column_names).aggregate([]).num_rows < rows.num_rows) == repeated
