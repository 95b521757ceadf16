"""Rows of persons that were drawn, with weights: answers are for all rows of the table, or for persons, and say so."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import with_care
from scipy import stats
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import ParameterError, QueryError, ReleaseError, SchemaError

ILLS = ["a", "b", "c"]
HOW: dict[str, Any] = {"sensitive": "ill", "public": ["ward", "age"], "domains": {"ill": ILLS}, "person": "pid"}
CAPS = [(1, "rows"), (2, "rows"), (2, "persons")]


@cache
def visits() -> pa.Table:
    """400 persons of one to eight rows; whoever comes often is ill and in the first ward more often, so that rows and persons differ."""
    draw = np.random.default_rng(6)
    times = 1 + np.minimum(draw.poisson(1.2, 400), 7)
    who = np.repeat(np.arange(400), times)
    often = np.minimum(times[who], 6) / 8
    ward = np.where(draw.random(len(who)) < often, "A", "B")
    ill = np.where(draw.random(len(who)) < often, "a", draw.choice(ILLS, len(who)))
    age = draw.integers(20, 80, len(who)) + 10 * (ward == "A")
    return pa.table({"pid": who, "ward": ward, "age": age, "ill": ill})


def weights(answers: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What each row of the table counts."""
    who = visits().column("pid").to_numpy()
    return np.ones(len(who)) if answers == "rows" else 1 / np.bincount(who)[who]


def truths(answers: str) -> dict[str, float]:
    """Questions, and the answers of the table."""
    table, w = visits(), weights(answers)
    ward, ill = (table.column(name).to_numpy(zero_copy_only=False) for name in ("ward", "ill"))
    age = table.column("age").to_numpy()
    return {
        "SELECT COUNT(*) AS x FROM release": w.sum(),
        "SELECT COUNT(*) AS x FROM release WHERE ward = 'A'": w[ward == "A"].sum(),
        "SELECT COUNT(*) AS x FROM release WHERE ill = 'a'": w[ill == "a"].sum(),
        "SELECT AVG(age) AS x FROM release": (w * age).sum() / w.sum(),
        "SELECT SUM(age) AS x FROM release WHERE ill = 'b'": (w * age)[ill == "b"].sum(),
        "SELECT 100.0 * COUNT(*) FILTER (WHERE ill = 'a') / COUNT(*) AS x FROM release": 100
        * w[ill == "a"].sum()
        / w.sum(),
    }


RUNS = 40


@pytest.mark.slow
@pytest.mark.parametrize(("most", "answers"), CAPS)
def test_answers_are_unbiased_and_their_intervals_hold(most: int, answers: str) -> None:
    """40 publications: means lie within 7 of their standard errors (2e-8 each, by t of 39 degrees), and a 95% interval misses as often as Bin(40, 0.05)
    may (1e-8 each): 18 of both come to 6e-7."""
    asked = truths(answers)
    seen: dict[str, list[tuple[float, float, float]]] = {sql: [] for sql in asked}
    for seed in range(RUNS):
        how = {**HOW, "retain": 0.7, "rows_per_person": most, "answers": answers, "determined": "ill"}
        release = scumble.publish(visits(), seed=seed, **how)
        for sql in asked:
            (line,) = release.query(sql).to_list()
            seen[sql].append((line["x"], line["x_low"], line["x_high"]))
    for sql, truth in asked.items():
        values, low, high = np.array(seen[sql]).T
        spread = values.std(ddof=1) / np.sqrt(RUNS)
        assert abs(values.mean() - truth) <= 7 * spread + 1e-9 * abs(truth), sql
        assert ((low > truth) | (high < truth)).sum() <= stats.binom.isf(1e-8, RUNS, 0.05), sql


def test_without_weights_rows_and_persons_are_told_apart() -> None:
    """The table is such that one is not the other: in the first ward are 44% of the rows, and of the persons fewer."""
    rows, persons = (list(truths(answers).values()) for answers in ("rows", "persons"))
    assert rows[1] / rows[0] > persons[1] / persons[0] + 0.05


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("weighted")
    for most, answers in CAPS:
        scumble.publish(visits(), place / f"{most}{answers}", **HOW, epsilon=1, rows_per_person=most, answers=answers)
    return place


@pytest.mark.parametrize(("most", "answers"), CAPS)
def test_it_is_said_what_answers_are_for_and_what_weights_tell(most: int, answers: str, folder: Path) -> None:
    release = scumble.open(folder / f"{most}{answers}")
    about = {"rows": "all rows of the table", "persons": "persons, each of whom counts 1"}[answers]
    assert about in str(release)
    assert about in release.query("SELECT COUNT(*) AS n FROM release").notes[0]
    assert about in (release.path / "README.md").read_text(encoding="utf-8")
    assert [clause.code for clause in release.terms.depends_on_data] == ["weights_tell"]
    assert all(check.passed for check in scumble.verify(release))
    assert [check.mark for check in scumble.verify(release) if check.name == "weights"] == ["ok  "]


def test_the_readme_computes_what_we_do(folder: Path) -> None:
    """The statement of the README, run by hand, gives the estimate and the standard error."""
    import duckdb

    for most, answers in CAPS:
        release = scumble.open(folder / f"{most}{answers}")
        text = (release.path / "README.md").read_text(encoding="utf-8")
        sql = text[text.index("SELECT SUM(weight") : text.index(";", text.index("SELECT SUM(weight"))]
        ((estimate, error),) = duckdb.sql(sql.replace("data.parquet", str(release.path / "data.parquet"))).fetchall()
        (line,) = release.query("SELECT COUNT(*) AS n FROM release WHERE ill = 'a'").to_list()
        assert (estimate, error) == pytest.approx((line["n"], line["n_se"]))


def test_what_single_rows_decide_is_not_answered(folder: Path) -> None:
    release = scumble.open(folder / "2rows")
    for asked in ("MAX(age)", "COUNT(DISTINCT ward)", "MEDIAN(age)"):
        with pytest.raises(QueryError, match="rows of persons were drawn"):
            release.query(f"SELECT {asked} AS x FROM release")
    with pytest.raises(QueryError, match="SELECT DISTINCT cannot be answered: rows of persons were drawn"):
        release.query("SELECT DISTINCT ward FROM release")
    with pytest.raises(QueryError, match="the likelihood is of rows that are all there"):
        release.query("SELECT COUNT(*) AS n FROM release WHERE ill = 'a'", method="likelihood")


def test_the_page_of_the_release_answers_nothing_that_the_draw_decides(folder: Path) -> None:
    """Its intervals would not count the draw; what it says of the release stands."""
    from scumble.release.explore_facts import facts_of

    assert [facts_of(scumble.open(path).manifest)["asked"] for path in sorted(folder.iterdir())] == [False] * 3


def test_one_of_each_for_persons_needs_no_weights() -> None:
    release = scumble.publish(visits(), **HOW, epsilon=1, rows_per_person=1, answers="persons", seed=1)
    assert "weight" not in release.table().column_names
    assert release.manifest.persons is not None
    assert release.manifest.persons.answers is None


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"answers": "rows"}, ParameterError, "say how many of a person are, by rows_per_person"),
        ({"answers": "people", "rows_per_person": 1}, ParameterError, "answers cannot be 'people'"),
        ({"answers": "rows", "rows_per_person": "all"}, ParameterError, "say how many of a person are"),
        ({"answers": "rows", "rows_per_person": 2, "mechanism": "sps"}, ParameterError, "and sps does not"),
        ({"answers": "rows", "rows_per_person": 2, "mechanism": "identity"}, ParameterError, "and identity does not"),
    ],
)
def test_what_does_not_fit_is_refused(more: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        scumble.publish(visits(), **HOW, retain=0.5, seed=1, **more)


def test_a_column_that_is_called_so_is_in_the_way() -> None:
    table = visits().rename_columns(["pid", "ward", "weight", "ill"])
    how = {**HOW, "public": ["ward", "weight"]}
    with pytest.raises(SchemaError, match="gets a column 'weight' for weights, and the table has one"):
        scumble.publish(table, **how, epsilon=1, seed=1, rows_per_person=2, answers="rows")


def test_forged_weights_and_words_are_found(folder: Path, tmp_path: Path) -> None:
    """The other kind of answers; a cap that the weights are none of; no word of answers at all."""
    import shutil

    def forged(**persons: Any) -> Path:
        copy = tmp_path / str(len(list(tmp_path.iterdir())))
        shutil.copytree(folder / "2rows", copy)
        with_care(copy, lambda document: document["persons"].update(persons))
        return copy

    for persons in ({"answers": "persons"}, {"rows": 3}):
        failed = {check.name for check in scumble.verify(forged(**persons)) if not check.passed}
        assert "weights" in failed
    with pytest.raises(ReleaseError, match="weights are not those of its samples or of persons"):
        scumble.open(forged(answers=None))


def test_the_command_and_the_spec(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(visits(), tmp_path / "t.parquet")
    flags = ["--sensitive", "ill", "--domain", "ill=a,b,c", "--public", "ward,age", "--person", "pid", "--epsilon", "1"]
    out = str(tmp_path / "r")
    done = CliRunner().invoke(
        app,
        ["publish", str(tmp_path / "t.parquet"), "-o", out, *flags, "--rows-per-person", "2", "--answers", "persons"],
    )
    assert done.exit_code == 0, done.output
    assert "answers are for persons, each of whom counts 1 over all of his rows" in " ".join(done.output.split())
