"""docs/architecture.md: the two paths are what a trace of a real publication and a real question shows."""

import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from sqlglot import exp
from sqlglot.generator import Generator
from sqlglot.tokens import Tokenizer
from test_layout import ORDER

import scumble

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "scumble"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST_STEPS = 8


def section(title: str) -> str:
    """What stands below a heading."""
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def functions(title: str) -> list[str]:
    """The functions that the steps of a path name, in their order."""
    return re.findall(r"`([\w/]+\.py:[\w.]+)`", section(title))


def called(work: Callable[[], Any]) -> list[str]:
    """The functions of ours that a piece of work calls, as file:function, in the order of their first calls."""
    seen: dict[str, None] = {}

    def look(frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and SOURCE in path.parents:
            seen[f"{path.relative_to(SOURCE).as_posix()}:{frame.f_code.co_qualname}"] = None

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(seen)


def in_order(named: list[str], trace: list[str]) -> list[str]:
    """What was called of the named functions, as it was called."""
    return [function for function in trace if function in named]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV file of 300 people."""
    path = tmp_path_factory.mktemp("walk") / "people.csv"
    people = pa.table({"sex": ["F", "M", "F"] * 100, "disease": ["flu", "cold", "gout"] * 100})
    pyarrow.csv.write_csv(people, path)
    return path


@pytest.fixture(scope="module")
def publishing(table: Path) -> list[str]:
    """The functions that a publication calls."""
    domains = {"disease": ["flu", "cold", "gout"]}
    out = table.with_suffix(".release")
    return called(
        lambda: scumble.publish(table, out, sensitive="disease", public="sex", domains=domains, gamma=3),
    )


@pytest.fixture(scope="module")
def path(table: Path, publishing: list[str]) -> Path:
    """The release of that publication."""
    return table.with_suffix(".release")


QUESTION = "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex"


def ask(path: Path) -> scumble.Estimates:
    return scumble.open(path).query(QUESTION)


def test_publishing_takes_the_steps_of_the_document(publishing: list[str]) -> None:
    named = functions("Publish")
    assert in_order(named, publishing) == named


def test_a_question_takes_the_steps_of_the_document(path: Path) -> None:
    named = functions("Query")
    assert in_order(named, called(lambda: ask(path))) == named


def test_a_question_is_parsed_once_and_written_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the rows one statement is written, and before it one over the values of a domain."""
    parsed, written = list[str](), list[set[str]]()
    tokenize, generate = Tokenizer.tokenize, Generator.generate

    def read(self: Tokenizer, sql: str, *more: Any) -> Any:
        parsed.append(sql)
        return tokenize(self, sql, *more)

    def write(self: Generator, expression: exp.Expression, *more: Any, **named: Any) -> Any:
        if isinstance(expression, exp.Query):
            written.append({found.name for found in expression.find_all(exp.Table)})
        return generate(self, expression, *more, **named)

    monkeypatch.setattr(Tokenizer, "tokenize", read)
    monkeypatch.setattr(Generator, "generate", write)
    ask(path)
    assert parsed.count(QUESTION) == 1
    assert [sql for sql in parsed if "release" in sql and sql != QUESTION] == []
    assert sum("release" in names for names in written) == 1
    assert len(written) <= 2


@pytest.mark.parametrize("title", ["Publish", "Query"])
def test_a_path_has_eight_steps_at_most_and_each_names_a_function(title: str) -> None:
    steps = re.split(r"\n(?=\d+\. )", section(title))[1:]
    assert 5 <= len(steps) <= MOST_STEPS
    assert all(re.search(r"`[\w/]+\.py:[\w.]+`", step) for step in steps)


def test_the_trace_tells_another_order(publishing: list[str]) -> None:
    named = functions("Publish")
    assert in_order(named, publishing) != named[::-1]


def test_the_order_of_imports_is_the_one_that_is_tested() -> None:
    assert section("The order of imports").split("```")[1].strip() == textwrap.dedent(ORDER).strip()


def test_every_file_and_folder_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.py)?|\w+\.py)(?::[\w.]+)?`", TEXT))
    assert len(named) > 30
    exact = [each for each in named if "NAME" not in each]
    assert [each for each in exact if not (SOURCE / each).exists() and not (ROOT / each).exists()] == []
