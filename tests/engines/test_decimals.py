"""CSV files with decimal commas: read as the numbers that they are, and refused with what to do where they could be something else."""

from pathlib import Path

import pytest
from shell import scumble_command

import scumble
from scumble.core.errors import TableError
from scumble.sources.source import read

GERMAN = "id;gewicht;land;krank\n" + "".join(
    f"{i};{50 + i % 40},{i % 10};{'DE' if i % 2 else 'AT'};{'ja' if i % 3 else 'nein'}\n" for i in range(200)
)


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def values(path: Path, column: str, **how: list[str]) -> list[object]:
    table = read(path, **how)
    return [value for batch in table.batches([column]) for value in batch.column(0).to_pylist()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1,5;x\n-2,75;y\n", [1.5, -2.75]),
        ("a\tb\n1,5\tx\n3\ty\n", [1.5, 3.0]),
        ("a;b\n1,5;x\n;y\n", [1.5, None]),
        ("a;b\n0,125;x\n0,500;y\n", [0.125, 0.5]),
        ("a;b\n1,125;2,5\n2,500;3,25\n", [1.125, 2.5]),
        ("a;b\n1.5;x\n2.75;y\n", [1.5, 2.75]),
        ("a;b\n1,5;x\nnone;y\n", ["1,5", "none"]),
        ("a;b\n1,2,3;x\n4,5,6;y\n", ["1,2,3", "4,5,6"]),
        ('a,b\n"1,5",x\n"2,5",y\n', ["1,5", "2,5"]),
    ],
)
def test_numbers_are_read_as_they_are_meant(text: str, expected: list[object], tmp_path: Path) -> None:
    assert values(written(tmp_path, text), "a") == expected


def test_a_column_can_stay_text(tmp_path: Path) -> None:
    assert values(written(tmp_path, "a;b\n1,5;x\n2,5;y\n"), "a", text=["a"]) == ["1,5", "2,5"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "a;b\n1,234;x\n12,500;y\n",
            "'1,234' in column 'a' may have a decimal comma, or one between thousands.*--text a",
        ),
        (
            "a;b\n1.234,5;x\n2,5;y\n",
            "column 'a' has numbers with decimal commas and points between thousands.*--text a",
        ),
        ("a;b\n1,5;2.5\n2,5;3.5\n", r"decimal commas \('1,5' in 'a'\) and decimal points \(in 'b'\).*--text a"),
    ],
)
def test_what_could_be_something_else_is_refused_with_what_to_do(text: str, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(TableError, match=words):
        read(path)
    assert values(path, "a", text=["a"])


def test_a_later_value_that_is_none_names_its_line(tmp_path: Path) -> None:
    rows = "".join(f"{i % 90},5;x\n" for i in range(40_000))
    path = written(tmp_path, f"a;b\n{rows}zwei;y\n")
    with pytest.raises(TableError, match=r"line 40002: column 'a' has 'zwei' where the first rows have numbers"):
        values(path, "a")


@pytest.mark.slow
def test_from_init_to_an_answer(tmp_path: Path) -> None:
    path = written(tmp_path, GERMAN, "pat.csv")

    def run(*arguments: object) -> str:
        made = scumble_command(*arguments)
        assert made.returncode == 0, made.stderr
        return made.stdout

    run("init", path)
    assert "[columns.gewicht]\n# double" in (tmp_path / "pat.toml").read_text()
    flags = [
        "--sensitive",
        "krank",
        "--domain",
        "krank=ja,nein",
        "--drop",
        "id",
        "--public",
        "gewicht,land",
        "--retain",
        "0.5",
        "--insecure-seed",
        "1",
    ]
    run("publish", path, *flags, "-o", tmp_path / "r")
    (line,) = scumble.open(tmp_path / "r").query("SELECT AVG(gewicht) AS g FROM release").to_list()
    assert line["g"] == pytest.approx(sum(50 + i % 40 + i % 10 / 10 for i in range(200)) / 200)
