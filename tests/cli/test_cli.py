"""The command line, as a person types it."""

import json
import math
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from naming import publish_openly
from shell import scumble_command
from typer.testing import CliRunner

import scumble
from scumble.__main__ import main
from scumble.cli import app
from scumble.cli.output import print_json
from scumble.cli.shown import singling_out

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PUBLISH = [
    "publish",
    "patients.csv",
    "--sensitive",
    "disease",
    "--drop",
    "name",
    "--public",
    "age,sex,smoker,visits,cost",
    "--retain",
    "0.5",
    "--domain-from-data",
    "-o",
    "r",
]


@pytest.fixture
def csv(patients: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(patients, tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


def run(*arguments: str, code: int = 0) -> str:
    """Runs `scumble` as a shell would, and returns what it printed."""
    result = scumble_command(*arguments)
    assert result.returncode == code, result.stderr + result.stdout
    return result.stdout if code == 0 else result.stderr + result.stdout


def test_the_whole_road(csv: Path) -> None:
    assert "wrote patients.toml" in run("init", "patients.csv")
    text = (csv.parent / "patients.toml").read_text()
    assert "[columns.name]\n# string: looks like" in text
    assert 'role = "identifier"' in text
    assert "from_data = true" in text
    assert "'cost' has 2,960 different numbers" in run("publish", "patients.toml", "-o", "flu.release", code=2)
    (csv.parent / "patients.toml").write_text(text.replace('role = "?"', 'role = "public"'))
    made = run("publish", "patients.toml", "-o", "flu.release")
    assert "wrote flu.release" in made
    assert re.search(r"left out +1 +name *\npublic +4 +age, sex, visits, cost *\nsensitive +2 +disease, smoker", made)
    shown = run("show", "flu.release")
    for part in ("not covered", "Singling out", "rows", "alone with the values", "taken from the data", "digest"):
        assert part in shown
    question = "SELECT sex, disease, COUNT(*) AS patients, AVG(cost) AS cost FROM release WHERE age BETWEEN 30 AND 45 GROUP BY sex, disease"
    assert "95% interval" in run("query", "flu.release", question)
    rows = json.loads(run("query", "flu.release", question, "--format", "json", "--level", "0.9"))
    assert len(rows) == 10
    assert set(rows[0]) == {"sex", "disease"} | {
        f"{a}{s}" for a in ("patients", "cost") for s in ("", "_se", "_low", "_high")
    }
    verified = run("verify", "flu.release")
    assert verified.count("ok  ") > 10
    assert "FAIL" not in verified
    assert json.loads(run("verify", "flu.release", "--format", "json"))[0]["passed"]
    assert json.loads(run("show", "flu.release", "--format", "json"))["unique_rows"] > 0


def test_all_by_flags(csv: Path) -> None:
    flags = [
        "--sensitive",
        "disease",
        "--drop",
        "na*",
        "--public",
        "sex,smoker,visits,cost,age",
        "--rho1",
        "1/13",
        "--rho2",
        "1/6",
        "-o",
        "flu.release",
    ]
    assert "--domain-from-data" in run("publish", "patients.csv", *flags, code=2)
    assert "wrote flu.release" in run("publish", "patients.csv", *flags, "--domain-from-data")
    run(
        "publish",
        "patients.csv",
        *flags,
        "--domain",
        "disease=flu,cold,asthma,diabetes,hiv",
        "--coarsen",
        "age=bins:10",
        "--overwrite",
    )
    release = scumble.open("flu.release")
    assert release.manifest.channels["disease"].amplification == pytest.approx(2.4, rel=1e-6)
    assert release.manifest.column("age").coarsened.bins == "10"


def test_flags_take_the_domain_of_the_spec_beside_the_table(csv: Path) -> None:
    run("init", "patients.csv")
    flags = ["--sensitive", "disease", "--public", "age,sex", "--rest", "drop", "--retain", "0.5", "-o", "r"]
    told = run("publish", "patients.csv", *flags)
    assert "taken from patients.toml" in told
    assert scumble.open("r").manifest.column("disease").domain.from_data


def test_grids_and_seeds_by_flags(csv: Path) -> None:
    run("publish", "patients.csv", "--sensitive", "visits,age", "--rest", "drop", "--domain", "visits=0..10", "--domain", "age=0..100:0.5",
        "--epsilon", "2", "--insecure-seed", "3", "-o", "r", code=2)  # fmt: skip
    run("publish", "patients.csv", "--sensitive", "visits,age", "--rest", "drop", "--domain", "visits=0..10", "--domain", "age=0..100:1",
        "--epsilon", "2", "--insecure-seed", "3", "-o", "r")  # fmt: skip
    assert "INSECURE" in run("show", "r")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["publish", "patients.csv", "--sensitive", "dis", "-o", "r"], "did you mean 'disease'"),
        (["publish", "none.csv", "--sensitive", "dis", "-o", "r"], "no table"),
        (
            ["publish", "patients.csv", "--sensitive", "disease", "--drop", "name", "--domain", "disease", "-o", "r"],
            "--domain takes",
        ),
        (
            ["publish", "patients.csv", "--sensitive", "disease", "--drop", "name", "--coarsen", "age=10", "-o", "r"],
            "--coarsen takes",
        ),
        (["query", "none", "SELECT COUNT(*) FROM release"], "not a release"),
        (["show", "patients.csv"], "not a release"),
        (["verify", "."], "not a release"),
        (["init", "none.csv"], "no table"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments: list[str], message: str, csv: Path) -> None:
    printed = run(*arguments, code=2)
    assert message in printed
    assert printed.startswith("scumble: ")
    assert len(printed.strip().splitlines()) == 1
    assert not (csv.parent / "r").exists()


def test_init_keeps_an_existing_spec(csv: Path) -> None:
    (csv.parent / "patients.toml").write_text("mine")
    assert "exists and is kept" in run("init", "patients.csv", code=2)
    assert (csv.parent / "patients.toml").read_text() == "mine"


def test_a_verification_that_fails_exits_with_1(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scumble.release import verify as module

    run(*PUBLISH)
    monkeypatch.setattr(module, "FALSE_ALARM", 2.0)
    result = CliRunner().invoke(app, ["verify", "r"])
    assert result.exit_code == 1
    assert "FAIL" in result.output


def test_an_interruption_exits_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("scumble.cli.run", interrupt)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["publish"], ["publish", "x.csv"], ["query", "r", "q", "--format", "csv"], ["nonsense"], ["demo", "--rows", "5"]],
)
def test_wrong_use_is_one_line_and_exit_code_2(arguments: list[str]) -> None:
    assert len(run(*arguments, code=2).strip().splitlines()) == 1


def test_the_first_screen_says_whole_sentences_and_where_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = CliRunner().invoke(app, ["--help"]).output
    assert "..." not in text.split("Commands:")[1]
    assert "scumble demo" in text


def test_the_version_is_printed() -> None:
    assert run("--version").strip() == f"scumble {scumble.__version__}"


def test_a_changed_release_fails_its_verification(csv: Path) -> None:
    run(*PUBLISH)
    (csv.parent / "r" / "README.md").write_text("other words")
    assert "FAIL  hashes: README.md" in run("verify", "r", code=1)
    assert "was changed after it was written" in run("query", "r", "SELECT COUNT(*) FROM release", code=2)


def test_the_demo_prints_truth_beside_estimates_and_ends_with_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run("demo", "--rows", "1000")
    assert "report.html: the report of this release" in printed
    assert "Internal edition" in (tmp_path / "demo" / "report.html").read_text()
    assert printed.count("true patients") == 3
    assert "demo/patients.release" in printed
    assert re.search(r"\d\d of 24 intervals hold the truth; of many, 19 of 20 do", printed)
    assert "holds" in printed


def test_every_command_and_option_is_documented() -> None:
    """docs/cli.md names each command and each of its options."""
    import typer

    text = (ROOT / "docs" / "cli.md").read_text()
    group = typer.main.get_command(app)
    commands = dict(group.commands)  # type: ignore[attr-defined]
    inner = getattr(commands.pop("collect"), "commands", {})
    commands |= {f"collect {name}": command for name, command in inner.items()}
    assert len(inner) > 0
    for name, command in commands.items():
        assert f"scumble {name}" in text, name
        section = text.split(f"## scumble {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and option != "--help":
                    assert f"`{option}" in section, (name, option)


def test_a_csv_value_that_does_not_fit_its_column_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The types of a CSV file are found from its beginning; what comes later and differs is shown with its line."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 90},flu\n" for i in range(30_000))
    Path("t.csv").write_text(f"age,disease\n{rows}old,flu\n")
    told = run("init", "t.csv", code=2)
    assert "line 30002: column 'age' has 'old' where the first rows have whole numbers" in told
    assert "--text age" in told
    assert "wrote t.toml" in run("init", "t.csv", "--text", "age")
    assert "text = true" in Path("t.toml").read_text()
    assert "did you mean 'age'?" in run("init", "t.csv", "--text", "agee", "--overwrite", code=2)
    Path("t.csv").write_text(f"age,disease\n{rows}4,flu,3\n")
    assert "line 30002 has 3 fields, and the first line names 2" in run("init", "t.csv", "--overwrite", code=2)


def test_a_table_without_rows_has_no_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age,disease\n")
    assert "the table has no rows" in run("init", "t.csv", code=2)
    assert not Path("t.toml").exists()


def test_numbers_that_differ_in_every_row_are_suggested_to_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("patient,age\n" + "".join(f"{7000 + 3 * i},{i % 9}\n" for i in range(100)))
    run("init", "t.csv")
    assert (
        'a person; 100 different whole numbers; it will not be published\nrole = "identifier"'
        in Path("t.toml").read_text()
    )


def test_what_has_no_bound_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Infinity and NaN are no JSON, and no other program reads them."""
    print_json([{"amplification": math.inf, "rows": 3, "ends": (math.nan, 0.5)}])
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == [
        {"amplification": None, "rows": 3, "ends": [None, 0.5]}
    ]


def test_nearly_all_rows_are_not_said_to_be_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [*range(1998), 0, 0]
    table = pa.table(
        {"ward": [i // 50 for i in places], "bed": [i % 50 for i in places], "disease": ["flu", "cold"] * 1000}
    )
    singling_out(publish_openly(table, sensitive="disease", domains={"disease": ["flu", "cold"]}, retain=0.5, seed=1))
    assert "1,997 of 2,000 rows (99.85%) are alone" in capsys.readouterr().out
