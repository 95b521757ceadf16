"""Publishing fails closed: a column that nobody decided is refused, and nothing private is suggested to be public."""

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hospital import LANGUAGES, PRIVATE, born, nhs_number, wide_hospital
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import ParameterError, SchemaError, TableError, UndecidedColumns
from scumble.evaluate import compare
from scumble.publishing import roles
from scumble.publishing.arguments import Arguments, choose
from scumble.sources.source import read
from scumble.spec.looks import look
from scumble.spec.looks.seen import Seen
from scumble.spec.spec import Spec, read_spec
from scumble.spec.suggest import spec_text, suggestions

HOW: dict[str, Any] = {
    "sensitive": "ill",
    "determined": "ill",
    "domains": {"ill": ["a", "b"]},
    "retain": 0.5,
    "seed": 1,
}


@pytest.fixture
def small() -> pa.Table:
    return pa.table({"sex": ["F", "M"] * 50, "notes_1": ["x"] * 100, "notes_2": ["y"] * 100, "ill": ["a", "b"] * 50})


@pytest.fixture(scope="module")
def hospital_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hospital") / "wide.csv"
    pa.csv.write_csv(wide_hospital(), path)
    (path.parent / "wide.toml").write_text(spec_text("wide.csv", read(path)))
    return path


@pytest.mark.slow
def test_nothing_private_of_a_hospital_is_suggested_to_be_public(hospital_csv: Path) -> None:
    spec = read_spec(hospital_csv.with_suffix(".toml"))
    assert len(spec.columns) > 50
    public = [name for name, column in spec.columns.items() if column.role == "public"]
    assert public == ["gender", "age"]
    assert not set(public) & set(PRIVATE)
    assert {spec.columns[name].role for name in ("encounter_id", "patient_nbr", "nhs_number")} == {"identifier"}
    assert {spec.columns[name].role for name in ("diag_1", "cause_of_death", "race", "A1Cresult")} == {"sensitive"}
    assert (spec.columns["dob"].role, spec.columns["post_code"].role, spec.columns["notes"].role) == (
        "?",
        "?",
        "dropped",
    )


def test_the_same_table_under_names_that_say_nothing(hospital_csv: Path) -> None:
    """Only the values tell: numbers of people, births, codes of diagnoses, post codes, and texts."""
    whole = read(hospital_csv)
    (batch,) = whole.batches(["encounter_id", "patient_nbr", "nhs_number", "dob", "diag_1", "post_code", "notes"])
    mute = pa.table([pa.concat_arrays([c]) for c in batch.columns], names=list("uvwxyzt"))
    found = {each.seen.name: (each.role, each.why.split(";")[0]) for each in suggestions(read(mute))}
    assert found == {
        "u": ("identifier", "looks like something that names a person"),
        "v": ("identifier", "looks like a code of people or things"),
        "w": ("identifier", "looks like an NHS number"),
        "x": ("?", "looks like a date of birth"),
        "y": ("sensitive", "looks like a diagnosis (codes of ICD-9 or ICD-10)"),
        "z": ("?", "looks like a post code"),
        "t": ("dropped", "looks like free text"),
    }


@pytest.mark.slow
def test_a_spec_is_refused_sentence_by_sentence_until_it_is_decided(hospital_csv: Path, tmp_path: Path) -> None:
    path = hospital_csv.with_suffix(".toml")
    spec = read_spec(path)
    undecided = spec.undecided(spec.columns)
    with pytest.raises(UndecidedColumns) as refused:
        scumble.publish(path, tmp_path / "r")
    first, *sentences, ways = str(refused.value).splitlines()
    assert first.startswith(f"{len(undecided)} columns have no role")
    assert re.findall(r"^  '([^']+)' (?:has|looks like) .*\d.*\.$", "\n".join(sentences), re.MULTILINE) == undecided
    assert "  'dob' looks like a date of birth; 1,935 different dates." in sentences
    for way in ("public", "sensitive", "domain", "--drop", 'rest="drop"'):
        assert way in ways
    assert not (tmp_path / "r").exists()
    decided = path.read_text().replace('role = "?"', 'role = "dropped"')
    (hospital_csv.parent / "decided.toml").write_text(decided)
    of_all: dict[str, Any] = {"retain": 0.5, "rows_per_person": "all"}  # one of the identifiers has many rows a value
    made = scumble.publish(hospital_csv.parent / "decided.toml", tmp_path / "r", **of_all)
    assert made.manifest.public == ["gender", "age"]
    assert scumble.publish(path, rest="drop", **of_all).manifest.public == ["gender", "age"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_are_understood_in_the_languages_of_europe(language: str) -> None:
    """The values are two texts, so that nothing but the name can tell."""
    wanted = {"identifier": "identifier", "traces": "?", "secret": "sensitive", "public": "public"}
    for kind, names in LANGUAGES[language].items():
        table = pa.table({name: ["a", "b"] * 20 for name in names.split()})
        found = {each.seen.name: each.role for each in suggestions(read(table))}
        assert found == dict.fromkeys(names.split(), wanted[kind])


def looks_like(name: str, values: Any) -> tuple[str, str]:
    column = pa.array(values)
    seen = Seen(name, column.type)
    seen.add(column)
    found = look(seen)
    return found.kind, found.what


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([f"p{i % 40}@example.org" for i in range(100)], "an e-mail address"),
        ([f"+44 20 7946 0{i % 40:03}" for i in range(100)], "a telephone number"),
        ([nhs_number(400_000_000 + i % 50) for i in range(100)], "an NHS number"),
        ([f"{1930 + i % 80}-0{1 + i % 9}-1{i % 7}" for i in range(1000)], "a date of birth"),
        (["E11.9", "I10", "J45.0", "C50.9"] * 10, "a diagnosis (codes of ICD-9 or ICD-10)"),
        ([f"{i % 60:02}-{i % 50 + 100}" for i in range(1000)], "a post code"),
        ([f"thing {i % 400}" for i in range(2000)], "a code of people or things"),
        ([19300101 + 10_000 * (i % 80) for i in range(1000)], "a date of birth"),
        ([1930 + i % 80 for i in range(1000)], "a date of birth"),
        ([10_115 + 70 * (i % 200) for i in range(2000)], "a post code"),
        (["diabetes", "asthma", "broken leg"] * 20, "illness or health"),
        (["Grippe", "Krebs", "Beinbruch"] * 20, "illness or health"),
        (["grypa", "cukrzyca", "inne"] * 20, "illness or health"),
        (["asma", "diabete mellito", "influenza"] * 20, "illness or health"),
        (["röm.-katholisch", "evangelisch", "keine"] * 20, "religion or belief"),
        (["catholique", "musulman", "athée", "autre"] * 20, "religion or belief"),
        (["positive", "negative", "inconclusive"] * 20, "a result of a test"),
        (["pozytywny", "ujemny"] * 20, "a result of a test"),
        (["<=50K", ">50K"] * 20, "income or money"),
        (["1.200 €", "900 €", "15.000 €"] * 20, "income or money"),
    ],
)
def test_values_tell_by_themselves(values: list[Any], what: str) -> None:
    assert looks_like("x", values)[1] == what


def test_ordinary_values_are_not_taken_for_numbers_of_people() -> None:
    """Amounts pass a check digit by chance in one of eleven; dates of visits are no births."""
    draw = np.random.default_rng(2)
    assert looks_like("x", draw.integers(10**9, 10**10, 500) // 4 * 4 % 997)[0] == "unknown"
    assert looks_like("x", np.arange("2019-01-01", "2021-01-01", dtype="datetime64[D]"))[0] == "unknown"
    assert looks_like("region", ["north", "south"] * 20)[0] == "ordinary"
    for plain in (["red", "green"], ["low", "high"], ["A1", "B2"], ["ja", "nein"], ["1-10", "11-20"], ["5 km", "7 km"]):
        assert looks_like("x", plain * 20)[0] == "unknown", plain
    assert looks_like("region", [f"village {i % 90}" for i in range(900)])[0] == "unknown", "too many values"


@pytest.mark.parametrize("name", ["reddito", "renta_anual", "zarobki", "Bruttoeinkommen", "salary"])
def test_an_income_that_nobody_else_has_is_no_identifier(name: str) -> None:
    """Its name says more than that each number is there once."""
    (column,) = suggestions(read(pa.table({name: np.random.default_rng(1).permutation(50_000)[:400] + 10_000})))
    assert column.role == "sensitive"


def test_a_sensitive_column_without_a_domain_is_not_decided() -> None:
    many = pa.table({"diagnosis": [f"{'ABCDEFGH'[i % 8]}{i % 700:03}" for i in range(1400)]})
    ((suggested),) = suggestions(read(many))
    assert (suggested.role, suggested.why) == ("?", "looks like illness or health; 1,400 different texts")


@pytest.mark.parametrize("values", [[Decimal("1.5"), Decimal("2.5")], [b"x", b"y"], [[1], [2]], [1.5, float("nan")]])
def test_values_that_a_spec_cannot_list_are_not_decided(values: list[Any], tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(spec_text("t.parquet", read(pa.table({"income": values * 20}))))
    assert read_spec(tmp_path / "t.toml").columns["income"].role == "?"


def test_the_id_is_not_made_public_by_making_it_coarser(small: pa.Table) -> None:
    numbered = small.append_column("who", pa.array(range(100)))
    with pytest.raises(SchemaError, match="coarsen is for public columns, not for a column that is identifier"):
        scumble.publish(numbered, id="who", key=bytes(32), rest="drop", coarsen={"who": {"bins": 10}}, **HOW)


def test_a_column_that_no_argument_names_is_refused(small: pa.Table) -> None:
    with pytest.raises(UndecidedColumns, match="'sex' looks like an ordinary attribute; 2 different texts"):
        scumble.publish(small, **HOW)
    with pytest.raises(UndecidedColumns, match="1 column has no role"):
        scumble.plan(small, public="sex", drop="notes_1", **{k: v for k, v in HOW.items() if k != "seed"})
    made = scumble.publish(small, public="sex", drop=["notes_*"], **HOW)
    assert made.manifest.public == ["sex"]
    assert scumble.publish(small, public="sex", rest="drop", **HOW).manifest.public == ["sex"]


def test_the_rest_is_never_public(small: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"rest is \"drop\".*not 'public'; nobody has looked"):
        scumble.publish(small, rest="public", **HOW)
    (tmp_path / "s.toml").write_text('table = "t.csv"\nrest = "public"\n')
    with pytest.raises(SchemaError, match="not 'public'; nobody has looked at such columns"):
        read_spec(tmp_path / "s.toml")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"drop": ["memo_*"]}, "no column matches 'memo_\\*', which is to be dropped"),
        ({"public": ["*"]}, "\\* and \\? are for columns to drop alone"),
        ({"sensitive": ["i*"], "domains": {}}, "\\* and \\? are for columns to drop alone"),
        ({"public": "notes_1", "drop": "notes_*"}, "'notes_1' is named as public and as dropped"),
        ({"domains": {"sex": ["F", "M"], "ill": ["a", "b"]}}, "a domain is given for 'sex', which nobody named"),
    ],
)
def test_what_cannot_be_meant_is_refused(small: pa.Table, given: dict[str, Any], told: str) -> None:
    with pytest.raises(SchemaError, match=told):
        scumble.publish(small, **HOW | given)


def test_a_name_with_a_star_is_a_name() -> None:
    assert roles.matching("a*", ["a*", "ab"]) == ["a*"]
    assert roles.matching("?b", ["a*", "ab"]) == ["ab"]


@pytest.mark.slow
def test_transactions_name_their_columns() -> None:
    """Whose, of what, how much: naming them in the settings decides them, and nothing else."""
    rows = pa.table({"who": np.arange(400) // 8, "what": np.arange(400) % 8, "stars": [1, 2] * 200, "day": [1] * 400})
    settings = {"user": "who", "item": "what", "value": "stars", "schema": [[0, 1], [2, 3]], "k": 2, "delta": 0.01}
    how: dict[str, Any] = {"mechanism": "columnized", "epsilon": 2, "settings": settings, "seed": 1}
    with pytest.raises(UndecidedColumns, match="'day' looks like an ordinary attribute; of type int64"):
        scumble.publish(rows, **how)
    how.pop("seed")
    _, spec = choose(rows, Arguments.of({"drop": "day", **how}))
    assert {name: column.role for name, column in spec.columns.items()} == {
        "who": "identifier",
        "what": "public",
        "stars": "public",
        "day": "dropped",
    }
    assert scumble.publish(rows, drop="day", **how).manifest.mechanism == "columnized"


@pytest.mark.parametrize(
    "ask",
    [
        lambda path: scumble.publish(path),
        lambda path: scumble.plan(path),
        lambda path: compare(path, repetitions=1),
        lambda path: compare(read(path.with_suffix(".csv")), read_spec(path), repetitions=1),
        lambda path: roles.decided(Spec(), read(path.with_suffix(".csv"))),
    ],
)
def test_whatever_publishes_refuses(ask: Callable[[Path], Any], small: pa.Table, tmp_path: Path) -> None:
    pa.csv.write_csv(small, tmp_path / "t.csv")
    ill = '[columns.ill]\nrole = "sensitive"\nvalues = ["a", "b"]\n[privacy]\nretain = 0.5\n'
    (tmp_path / "t.toml").write_text(f'table = "t.csv"\n{ill}[columns.sex]\nrole = "?"\n')
    with pytest.raises(UndecidedColumns, match="'sex' looks like"):
        ask(tmp_path / "t.toml")


@pytest.mark.parametrize("command", [["publish", "-o", "r"], ["plan"], ["compare"], ["advise", "--posterior", "1/2"]])
def test_the_command_line_refuses_with_a_line_for_each(
    command: list[str], small: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(small, "t.csv")
    Path("t.toml").write_text('table = "t.csv"\n[columns.ill]\nrole = "sensitive"\nvalues = ["a", "b"]\n')
    name, *options = command
    done = CliRunner().invoke(app, [name, "t.toml", *options])
    assert isinstance(done.exception, UndecidedColumns)
    assert len(str(done.exception).splitlines()) == 5
    assert not Path("r").exists()


def test_init_shows_what_it_decided_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(1)
    pa.csv.write_csv(pa.table({"sex": ["F", "M"] * 50, "geboren": born(draw, 100), "bed": [1, 2] * 50}), "t.csv")
    told = CliRunner().invoke(app, ["init", "t.csv"]).output
    assert re.search(r"sex +public +looks like an ordinary attribute; 2 different texts +F, M", told)
    assert re.search(r"geboren +\? +looks like a date of birth; 100 different dates +\d{4}-\d\d-\d\d, ", told)
    assert '2 columns to be decided (role = "?") and no column looks sensitive, so read it' in told
    assert (
        '# int64: 2 different whole numbers; decide: "public", "sensitive" with a domain, or "dropped"\nrole = "?"'
        in (Path("t.toml").read_text())
    )


def test_a_stream_that_runs_once_is_not_spent_by_a_refusal(small: pa.Table) -> None:
    stream = small.to_reader()
    with pytest.raises(UndecidedColumns, match="'notes_1' looks like free text; of type string"):
        scumble.publish(stream, public="sex", **HOW)
    assert scumble.publish(stream, public="sex", drop="notes_*", **HOW).manifest.rows == 100


@pytest.mark.slow
@pytest.mark.parametrize("command", ["plan", "compare", "advise"])
def test_rest_is_an_option_wherever_a_spec_is_read(command: str, tmp_path: Path) -> None:
    table = pa.table({"note": ["x", "y"] * 30, "sex": ["m", "f"] * 30, "d": ["a", "b", "b"] * 20})
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    roles = '[columns.sex]\nrole = "public"\n[columns.d]\nrole = "sensitive"\nvalues = ["a", "b"]\n'
    (tmp_path / "t.toml").write_text(f'table = "t.csv"\n[privacy]\ngamma = 3\n{roles}')
    more = {"compare": ["--mechanism", "uniform", "--repetitions", "2", "--size", "3", "--processes", "1"]}
    more["advise"] = ["--posterior", "0.9", "--repetitions", "0", "--mechanism", "uniform"]
    words = [command, str(tmp_path / "t.toml"), *more.get(command, [])]
    refused, done = (CliRunner().invoke(app, [*words, *rest]) for rest in ([], ["--rest", "drop"]))
    assert isinstance(refused.exception, UndecidedColumns)
    assert done.exit_code == 0, done.output
    assert isinstance(CliRunner().invoke(app, [*words, "--rest", "public"]).exception, ParameterError)


def test_init_of_a_frame_says_what_to_do() -> None:
    with pytest.raises(TableError, match=r"write it to a file first.*sensitive=, public=, drop="):
        scumble.init(pa.table({"a": [1]}))  # type: ignore[arg-type]
