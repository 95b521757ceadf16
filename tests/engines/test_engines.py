"""Every engine gives the same answers, of every form; what one declares unsupported is marked."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from databases import drop, new_name, place
from naming import publish_openly
from sqlglot import exp

import scumble
from scumble.core.errors import ParameterError, QueryError
from scumble.engines import DEFAULT, ENGINES, open_engine
from scumble.engines.engine import Engine
from scumble.release.database import demand_home, put

ENGINES["sqlite"] = "toys.engine:SQLite"  # all that it takes

POSTGRES = "postgres"
"""Releases that live in a database have an engine of their own, which nobody names."""


def table(rows: int = 1500) -> pa.Table:
    draw = np.random.default_rng(7)
    return pa.table(
        {
            "age": draw.integers(0, 60, rows),
            "sex": draw.choice(np.array(["f", "m", None]), rows, p=[0.5, 0.4, 0.1]),
            "town": draw.choice(["Ulm", "Bonn", "Trier"], rows),
            "disease": draw.choice(["flu", "cold", "hiv", "gout", "none"], rows, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
            "visits": draw.integers(0, 8, rows),
        }
    )


DISEASES = ["flu", "cold", "hiv", "gout", "none"]
TOWNS = ["Ulm", "Bonn", "Trier"]
RELEASES: dict[str, dict[str, Any]] = {
    "rows": {
        "sensitive": ["disease", "visits"],
        "domains": {"disease": DISEASES, "visits": {"low": 0, "high": 7}},
        "retain": 0.6,
        "coarsen": {"age": {"bins": 10}},
    },
    "joint": {
        "mechanism": "frapp",
        "sensitive": ["disease", "town"],
        "drop": ["visits"],
        "domains": {"disease": DISEASES, "town": TOWNS},
        "gamma": 30,
    },
    "tuples": {"mechanism": "k_dgs", "drop": ["age"], "settings": {"k": 3}},
    "buckets": {
        "mechanism": "anatomy",
        "sensitive": ["disease"],
        "domains": {"disease": DISEASES},
        "settings": {"l": 2},
    },
    "boxes": {
        "mechanism": "perturbed_generalization",
        "sensitive": ["disease"],
        "drop": ["sex", "town"],
        "domains": {"disease": DISEASES},
        "gamma": 4,
        "settings": {"k": 5},
    },
    "sets": {
        "mechanism": "perturbed_generalization",
        "sensitive": ["disease"],
        "drop": ["sex", "visits"],
        "domains": {"disease": DISEASES},
        "gamma": 4,
        "settings": {"k": 5},
    },
    "tuple_set": {
        "mechanism": "alpha_beta",
        "drop": ["age", "visits", "sex"],
        "sensitive": ["disease", "town"],
        "domains": {"disease": DISEASES, "town": TOWNS},
        "rho1": 0.1,
        "rho2": 0.5,
    },
}


QUESTIONS: dict[str, list[str]] = {
    "rows": [
        "COUNT(*) AS n",
        "COUNT(*) AS n WHERE disease IN ('flu', 'hiv') AND age >= 20",
        "COUNT(*) AS n WHERE (disease = 'flu' AND sex = 'f') OR visits > 3",
        "sex, disease, COUNT(*) AS n GROUP BY sex, disease ORDER BY sex, n DESC LIMIT 7",
        "town, SUM(visits) AS s, AVG(visits) AS a WHERE disease <> 'flu' GROUP BY town",
        "town, AVG(age) AS a, SUM(age * 2) AS s, COUNT(sex) AS n GROUP BY town ORDER BY a",
        "CASE WHEN age < 30 THEN 'young' ELSE 'old' END AS who, COUNT(*) AS n GROUP BY 1",
        "town, COUNT(*) AS n WHERE town = 'Rome' GROUP BY town",
    ],
    "joint": [
        "COUNT(*) AS n WHERE disease = 'flu' AND town = 'Ulm' AND age < 30",
        "sex, town, COUNT(*) AS n WHERE disease IN ('flu', 'cold') GROUP BY sex, town",
        "disease, COUNT(*) AS n GROUP BY disease",
        "sex, town, COUNT(*) AS n WHERE disease = 'flu' AND sex = 'x' GROUP BY sex, town",
    ],
    "tuples": [
        "COUNT(*) AS n WHERE disease = 'flu'",
        "sex, COUNT(*) AS n, SUM(visits) AS s, AVG(visits + 1) AS a, COUNT(sex) AS c GROUP BY sex",
        "town, disease, COUNT(*) AS n WHERE visits BETWEEN 2 AND 5 GROUP BY town, disease ORDER BY n DESC LIMIT 4",
        "SUM(CASE WHEN disease = 'flu' THEN 1 ELSE 0 END) AS s",
        "town, COUNT(*) AS n WHERE town = 'Rome' GROUP BY town",
    ],
    "buckets": [
        "COUNT(*) AS n WHERE disease = 'flu'",
        "sex, COUNT(*) AS n WHERE disease IN ('flu', 'hiv') OR age > 40 GROUP BY sex",
        "town, disease, COUNT(*) AS n GROUP BY town, disease ORDER BY n",
        "town, COUNT(*) AS n WHERE town = 'Rome' GROUP BY town",
    ],
    "boxes": [
        "COUNT(*) AS n",
        "COUNT(*) AS n WHERE age BETWEEN 13 AND 40 AND disease = 'flu'",
        "disease, COUNT(*) AS n WHERE visits > 3 AND age < 21 GROUP BY disease",
        "visits, COUNT(*) AS n WHERE age > visits GROUP BY visits ORDER BY n",
        "visits, COUNT(*) AS n WHERE visits > 99 GROUP BY visits",
    ],
    "sets": ["town, COUNT(*) AS n WHERE disease = 'flu' GROUP BY town"],
    "tuple_set": [
        "COUNT(*) AS n",
        "town, COUNT(*) AS n WHERE disease <> 'flu' GROUP BY town",
        "town, COUNT(*) AS n WHERE town = 'Rome' GROUP BY town",
    ],
}
ASKED = [(release, question) for release, questions in QUESTIONS.items() for question in questions]
UNSUPPORTED = {("sqlite", "sets"): "SQLite has no lists"}


def sql(question: str) -> str:
    """The question with its FROM, before whichever clause comes first."""
    places = [question.find(clause) for clause in (" WHERE ", " GROUP BY ", " ORDER BY ") if clause in question]
    place = min(places, default=len(question))
    return f"SELECT {question[:place]} FROM release{question[place:]}"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return published_in(tmp_path_factory.mktemp("releases"))


def published_in(folder: Path) -> dict[str, Path]:
    """A release of each form."""
    rows = table()
    for name, how in RELEASES.items():
        own = rows.drop_columns(how.get("drop", []))
        own = own.group_by(own.column_names).aggregate([]) if name == "tuple_set" else own
        publish_openly(own, folder / name, seed=3, **{key: value for key, value in how.items() if key != "drop"})
    return {name: folder / name for name in RELEASES}


@pytest.fixture(scope="module")
def schemas(folders: dict[str, Path]) -> Iterator[dict[str, str]]:
    """The same releases, in a database."""
    names = {release: new_name() for release in folders}
    for release, name in names.items():
        put(folders[release], demand_home(place(name), False), False)
    yield {release: place(name) for release, name in names.items()}
    for name in names.values():
        drop(name)


def numbers(answer: scumble.Estimates) -> list[tuple[Any, ...]]:
    return [tuple(line.values()) for line in answer.to_list()]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "question"), ASKED)
@pytest.mark.parametrize("engine", [POSTGRES, *sorted(set(ENGINES) - {DEFAULT})])
def test_engines_agree(
    engine: str, name: str, question: str, folders: dict[str, Path], request: pytest.FixtureRequest
) -> None:
    if (engine, name) in UNSUPPORTED:
        request.applymarker(pytest.mark.xfail(reason=UNSUPPORTED[engine, name], strict=True, raises=Exception))
    expected = scumble.open(folders[name]).query(sql(question))
    if engine == POSTGRES:
        opened = scumble.open(request.getfixturevalue("schemas")[name])
    else:
        opened = scumble.open(folders[name], engine=engine)
    found = opened.query(sql(question))
    assert found.notes == expected.notes
    assert found.columns == expected.columns
    assert len(found) == len(expected)
    for line, true in zip(numbers(found), numbers(expected), strict=True):
        for a, b in zip(line, true, strict=True):
            assert a == b if isinstance(b, str | None) else a == pytest.approx(b, rel=1e-9, abs=1e-9), (line, true)


@pytest.mark.slow
@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_joined_and_stacked_releases_are_asked_by_any_engine(engine: str, tmp_path: Path) -> None:
    rows = table(300).append_column("id", pa.array(range(300)))
    how: dict[str, Any] = {"public": "id", "retain": 0.5, "seed": 1}
    publish_openly(
        rows.select(["id", "disease"]), tmp_path / "a", sensitive="disease", domains={"disease": DISEASES}, **how
    )
    publish_openly(rows.select(["id", "town"]), tmp_path / "b", sensitive="town", domains={"town": TOWNS}, **how)
    joined = scumble.open(tmp_path / "a", tmp_path / "b", on="id", engine=engine)
    answer = joined.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'flu' AND town = 'Ulm' AND id < 200")
    assert (
        answer.to_list()
        == scumble.open(tmp_path / "a", tmp_path / "b", on="id")
        .query("SELECT COUNT(*) AS n FROM release WHERE disease = 'flu' AND town = 'Ulm' AND id < 200")
        .to_list()
    )
    publish_openly(
        rows.select(["id", "disease"]),
        tmp_path / "c",
        sensitive="disease",
        domains={"disease": DISEASES},
        **(how | {"seed": 2}),
    )
    stacked = scumble.open(tmp_path / "a", tmp_path / "c", engine=engine)
    assert stacked.query("SELECT COUNT(*) AS n FROM release")["n"].value[0] == 600


@pytest.mark.slow
def test_an_engine_is_a_name_a_class_or_one_that_is_open(folders: dict[str, Path]) -> None:
    from toys.engine import SQLite

    ask = "SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'"
    named, made = scumble.open(folders["rows"], engine="sqlite"), scumble.open(folders["rows"], engine=SQLite)
    opened = scumble.open(folders["rows"], engine=named.engine)
    assert isinstance(made.engine, SQLite)
    assert opened.engine is named.engine
    assert named.query(ask).to_list() == made.query(ask).to_list() == opened.query(ask).to_list()


def test_an_unknown_engine_is_refused_with_those_there_are(folders: dict[str, Path]) -> None:
    with pytest.raises(ParameterError, match=r"there is no engine 'duckdbb'.*duckdb"):
        scumble.open(folders["rows"], engine="duckdbb")
    with pytest.raises(ParameterError, match=r"7 is no engine; give a name \(duckdb"):
        scumble.open(folders["rows"], engine=cast(Any, 7))


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_what_cannot_be_computed_is_an_error_of_the_question(engine: str, folders: dict[str, Path]) -> None:
    with pytest.raises(QueryError, match="cannot be answered"):
        scumble.open(folders["rows"], engine=engine).query("SELECT COUNT(*) FROM release WHERE nonsense(age) = 1")


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_registered_tables_come_and_go(engine: str) -> None:
    opened: Engine = open_engine({"release": pa.table({"x": [1, 2]})}, engine)
    count = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(exp.Table(this=exp.to_identifier("more")))
    for rows in ([1], [1, 2, 3]):
        opened.register("more", pa.table({"y": rows}))
        assert opened.run(count).to_pylist() == [{"n": len(rows)}]
    opened.unregister("more")
    with pytest.raises(QueryError):
        opened.run(count)


def _statement(expression: exp.Expression, *_: Any) -> str | None:
    """What is a statement, and no part of one that is told to people."""
    return type(expression).__name__ if isinstance(expression, exp.Query) else None


@pytest.fixture
def trace(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What sqlglot reads and writes."""
    seen: dict[str, list[str]] = {"parsed": [], "written": []}

    def kept(which: str, real: Callable[..., Any], told: Callable[..., str | None]) -> Callable[..., Any]:
        def call(self: Any, *arguments: Any, **more: Any) -> Any:
            seen[which] += [text] if (text := told(*arguments)) is not None else []
            return real(self, *arguments, **more)

        return call

    tokenizer, generator = sqlglot.tokens.Tokenizer, sqlglot.generator.Generator
    monkeypatch.setattr(tokenizer, "tokenize", kept("parsed", tokenizer.tokenize, lambda sql, *_: sql))
    monkeypatch.setattr(generator, "generate", kept("written", generator.generate, _statement))
    return seen


DOMAIN_FIRST = {"rows", "joint", "boxes", "sets", "tuple_set"}
"""Where what a condition on perturbed columns is true of is asked of their domains, in a statement of its own before."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "question"), [a for a in ASKED if "Rome" not in a[1]])
def test_a_question_is_parsed_once_and_one_statement_is_written(
    name: str, question: str, folders: dict[str, Path], trace: dict[str, list[str]]
) -> None:
    """Before it at most one over the values of domains; of tuples, one for the ends of what is summed, and one for constants in it.

    What is asked of a column in steps is asked three times: as published, as it surely holds, and as it may.
    """
    release = scumble.open(folders[name])
    release.query(sql(question))  # tuples are counted, buckets numbered and boxes laid out once, for all questions
    for seen in trace.values():
        seen.clear()
    release.query(sql(question))
    assert trace["parsed"] == [sql(question)]
    before = 2 if "SUM(CASE" in question else int(name in DOMAIN_FIRST or "SUM" in question)
    times = 3 if name == "rows" and re.search("age [<>]", question) else 1
    assert len(trace["written"]) <= times + before, trace["written"]
