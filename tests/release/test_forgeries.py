"""Forgeries by somebody careful: hashes, digest and README fit what was forged. Each is found, or what it is about is said to be the publisher's word."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged import FOLLOWING, Document, refiled, rewritten, with_care
from naming import publish_openly
from tables import DISEASES
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.channel import Channel
from scumble.core.errors import ReleaseError
from scumble.privacy.guarantee import Clause
from scumble.release.beliefs import at_least
from scumble.release.manifest import read_manifest
from scumble.release.terms import records_of, terms_of
from scumble.release.verify import verify

pytestmark = pytest.mark.filterwarnings("ignore")

ILL: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}}
HOW: dict[str, dict[str, Any]] = {
    "coarse": {**ILL, "gamma": 3, "coarsen": {"age": {"bins": 10}, "area": {"prefix": 2}, "town": {"groups": {"x": ["a", "b"], "y": ["c"]}}}},
    "edges": {**ILL, "gamma": 3, "coarsen": {"age": {"edges": [18, 65]}}},
    "sps": {**ILL, "mechanism": "sps", "retain": 0.4, "drop": ["age", "area"], "settings": {"generalize": True}},
    "partitioned": {**ILL, "mechanism": "partitioned", "rho2": 0.6},
    "fine_grain": {**ILL, "mechanism": "fine_grain", "settings": {"theta": 1.8}},
    "swapped": {**ILL, "mechanism": "swapped", "rho1": 0.1, "rho2": 0.5},
    "alpha_beta": {"mechanism": "alpha_beta", "sensitive": ["disease", "town"], "drop": ["age", "area"], "rho1": 0.1, "rho2": 0.5,
                   "domains": {"disease": DISEASES, "town": ["a", "b", "c"]}},
    "anatomy": {**ILL, "mechanism": "anatomy", "settings": {"l": 2}},
    "columnized": {"mechanism": "columnized", "epsilon": 2, "drop": ["age", "area"],
                   "settings": {"k": 5, "delta": 0.01, "schema": [["town"], ["disease"]]}},
    "full": {"mechanism": "noisy_counts", "epsilon": 1, "drop": ["age", "area"], "sensitive": ["disease", "town"],
             "domains": {"disease": DISEASES, "town": ["a", "b", "c"]}, "settings": {"matrix": "full"}},
    "ages": {"mechanism": "noisy_counts", "epsilon": 1, "drop": ["area", "town"], "sensitive": ["disease", "age"],
             "domains": {"disease": DISEASES, "age": {"low": 0, "high": 100, "step": 20}}, "settings": {"k": 5, "delta": 0.01}},
}  # fmt: skip
ROWS = 6000


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A release of each kind, published once."""
    draw, folder = np.random.default_rng(11), tmp_path_factory.mktemp("releases")
    table = pa.table(
        {
            "age": draw.integers(0, 100, ROWS),
            "area": draw.choice(["1010", "1020", "2030"], ROWS),
            "town": draw.choice(["a", "b", "c"], ROWS),
            "disease": draw.choice(DISEASES, ROWS, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        }
    )

    def made(name: str) -> Path:
        if not (folder / name).exists():
            small = table.select(["town", "disease"])
            rows = small.group_by(small.column_names).aggregate([]) if name == "alpha_beta" else table
            how = {**HOW[name], "drop": []} if name == "alpha_beta" else HOW[name]
            publish_openly(rows, folder / name, seed=5, **how)
        return folder / name

    return made


@pytest.fixture
def copied(releases: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: Path(shutil.copytree(releases(name), tmp_path / name))


def failed(folder: Path) -> dict[str, str]:
    return {check.name: check.detail for check in verify(folder) if not check.passed}


def standing(folder: Path) -> dict[str, str]:
    return {check.name: check.standing for check in verify(folder)}


def column(document: Document, name: str) -> Document:
    return next(each for each in document["columns"] if each["name"] == name)


def of(name: str, **fields: Any) -> Callable[[Document], object]:
    return lambda document: column(document, name).update(fields)


@pytest.mark.parametrize("name", HOW)
def test_a_sound_release_verifies_and_says_what_is_its_publishers_word(
    name: str, releases: Callable[[str], Path]
) -> None:
    checks = verify(releases(name))
    assert [check for check in checks if not check.passed] == []
    assert any(check.standing == "word" for check in checks)


RECODED: dict[str, tuple[str, Callable[[Document], object]]] = {
    "wider bins": ("coarse", of("age", coarsened={"bins": 25})),
    "bins of text": ("coarse", of("town", coarsened={"bins": 5})),
    "a shorter prefix": ("coarse", of("area", coarsened={"prefix": 1})),
    "a prefix of numbers": ("coarse", of("age", coarsened={"prefix": 2})),
    "dates of numbers": ("coarse", of("age", coarsened={"date": "year"})),
    "other groups": ("coarse", of("town", coarsened={"groups": {"z": ["a", "b"], "y": ["c"]}})),
    "other edges": ("edges", of("age", coarsened={"edges": [18, 50]})),
    "merged by somebody else": ("sps", of("town", merged=[{"published": "q", "values": ["q"]}])),
    "merged into another": ("sps", of("town", merged=[{"published": "a", "values": ["a", "b", "c"]}])),
    "merged twice": ("sps", of("town", merged=[{"published": "a", "values": ["a"]}] * 2)),
}  # fmt: skip


@pytest.mark.parametrize("what", RECODED)
def test_another_recoding_than_the_published_values_show_is_found(what: str, copied: Callable[[str], Path]) -> None:
    name, change = RECODED[what]
    folder = copied(name)
    rewritten(folder, change)  # the README of a rule that does not fit cannot even be made
    assert any(check.startswith("recoding of ") for check in failed(folder))


@pytest.mark.parametrize(
    "change",
    [
        of("age", coarsened={"hierarchy": "/etc/passwd"}),
        of("age", merged=[{"published": "0", "values": ["0"]}]),
        of("age", coarsened={"bins": True}),
        of("age", coarsened={"edges": ["1", "2"]}),
    ],
)
def test_a_recoding_that_no_release_has_is_refused(change: Any, copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    rewritten(folder, change)
    with pytest.raises(ReleaseError):
        scumble.open(folder)


def test_a_readme_that_somebody_wrote_in_is_found(copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    text = (
        (folder / "README.md")
        .read_text()
        .replace("## What is guaranteed", "## What is guaranteed\n\n- epsilon = 0.0001\n")
    )
    refiled(folder, "README.md", text.encode())
    assert failed(folder).keys() == {"README.md"}


@pytest.mark.parametrize("software", ["scumble 99.0", "scumble 0.0.9", "another"])
def test_a_readme_that_cannot_be_compared_fails(software: str, copied: Callable[[str], Path]) -> None:
    """A forger would name software whose words nobody here knows."""
    folder = copied("coarse")
    rewritten(folder, lambda document: document.update(software=software))
    assert failed(folder).keys() == FOLLOWING


def test_the_readme_of_an_earlier_version_is_not_compared_and_that_is_said(
    copied: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied("coarse")
    rewritten(folder, lambda document: document.update(software="scumble 0.0.9"))
    monkeypatch.setattr("scumble.release.folder.EARLIER", ("scumble 0.0.9",))
    assert failed(folder) == {}
    assert standing(folder)["README.md"] == "caution"


@pytest.mark.parametrize("path", ["raw.csv", ".hidden", "more/raw.csv", "data/part-009.parquet"])
def test_a_file_that_is_not_the_releases_is_found(path: str, copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text("name,disease\n")
    assert "the manifest does not list it" in failed(folder)["folder"]


@pytest.mark.parametrize("name", ["coarse", "columnized", "anatomy"])
@pytest.mark.parametrize("path", ["raw.csv", "notes.md", "data/more/raw.parquet"])
def test_a_listed_file_that_is_no_part_of_a_release_is_found(
    name: str, path: str, copied: Callable[[str], Path]
) -> None:
    """With its hash, its bytes and the README in order, and without rows, so that no count is wrong."""
    folder, raw = copied(name), b"name,disease\nAnn,flu\n"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(raw)
    listed = {"path": path, "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    with_care(folder, lambda document: document["files"].append(listed))
    assert failed(folder).keys() == {"listed files"}


def test_a_table_that_the_form_does_not_name_is_found(copied: Callable[[str], Path]) -> None:
    folder = copied("columnized")
    with_care(folder, lambda document: document["form"]["schema"]["tables"].pop())
    assert "listed files" in failed(folder)


def domains_of(document: Document) -> Document:
    """Those that the form declares."""
    form = document["form"]
    held: Document = form.get("domains") or form.get("declared") or form["counting"]["domains"]
    return held


@pytest.mark.parametrize("name", ["full", "alpha_beta"])
@pytest.mark.parametrize("instead", [[], ["x"], [""]])
def test_a_domain_that_published_values_are_not_of_is_found(
    name: str, instead: list[str], copied: Callable[[str], Path]
) -> None:
    """Of a smaller one more is promised and estimated than there is."""
    folder = copied(name)
    published = scumble.open(folder).table().column("town")[0].as_py()

    def change(document: Document) -> None:
        town = domains_of(document)["town"]
        town["values"] = [value for value in town["values"] if value != published] + instead

    with_care(folder, change)
    assert "'town' that is not of its domain" in failed(folder)["values"]


def test_a_declared_range_that_published_numbers_are_not_of_is_found(copied: Callable[[str], Path]) -> None:
    folder = copied("ages")
    with_care(folder, lambda document: domains_of(document)["age"].update(high="40"))
    assert "values" in failed(folder)


@pytest.mark.parametrize("name", ["full", "alpha_beta", "ages"])
def test_a_declared_domain_is_not_taken_from_the_data(name: str, copied: Callable[[str], Path]) -> None:
    folder = copied(name)
    rewritten(folder, lambda document: next(iter(domains_of(document).values())).update(from_data=True))
    with pytest.raises(ReleaseError, match="that a domain was declared, and that it was taken from the data"):
        scumble.open(folder)


def test_a_folder_of_signatures_is_no_stray(copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    (folder / "signatures").mkdir()
    (folder / "signatures" / "officer.sig").write_text("{}")
    assert failed(folder) == {}


def to_version_1(document: Document) -> None:
    document.update(version=1)
    document.pop("form")
    for name in ("not_covered_codes", "depends_on_data_codes"):
        document.pop(name)
    for guarantee in document["guarantees"]:
        guarantee.pop("condition_codes")
        guarantee["statement"] = "Nobody can learn anything."


def test_a_manifest_that_went_back_to_version_1_fails(copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    rewritten(folder, to_version_1)
    assert failed(folder).keys() == {"version"}
    assert "Nobody can learn" not in str(scumble.open(folder))
    assert CliRunner().invoke(app, ["verify", str(folder)]).exit_code == 1


def test_whoever_knows_that_a_release_is_old_says_so(copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    rewritten(folder, to_version_1)
    checks = scumble.verify(folder, version_1=True)
    assert all(check.passed for check in checks)
    assert [check.mark for check in checks if check.name == "version"] == ["WARN"]
    assert CliRunner().invoke(app, ["verify", "--version-1", str(folder)]).exit_code == 0


@pytest.mark.parametrize("name", ["swapped", "alpha_beta"])
def test_a_release_whose_only_promise_was_taken_out_says_that_none_follows(
    name: str, copied: Callable[[str], Path]
) -> None:
    folder = copied(name)
    with_care(folder, lambda document: document.update(guarantees=[]))
    assert failed(folder) == {}
    assert standing(folder)["no guarantee"] == "caution"


def test_a_chosen_pair_is_said_to_be_chosen(releases: Callable[[str], Path]) -> None:
    details = [check.detail for check in verify(releases("swapped")) if check.name == "chosen numbers"]
    assert details == [
        "the publisher's word: rho1 = 0.1, rho2 = 0.5 for disease; that the guarantee holds for them was derived"
    ]


@pytest.mark.parametrize("name", ["partitioned", "fine_grain"])
def test_a_largest_belief_below_what_published_counts_show_is_found(name: str, copied: Callable[[str], Path]) -> None:
    folder = copied(name)
    assert standing(folder)["largest belief about disease"] == "word"

    def lowered(document: Document) -> None:
        record = document["guarantees"][0]
        old = record["parameters"]["largest_posterior"]
        record["parameters"]["largest_posterior"] = old * 0.6
        if "smallest_posterior" in record["parameters"]:
            record["parameters"]["smallest_posterior"] = 0.0

    rewritten(folder, lowered)
    assert "the published counts show" in failed(folder)["largest belief about disease"]


def test_the_bound_on_a_belief_holds_for_a_sound_table_and_nearly_reaches_it() -> None:
    """20,000 rows, 400 tries: the bound passes the true belief with probability 1e-9 each; a tenth below the truth is found in nearly all."""
    draw, channel = np.random.default_rng(8), Channel(0.4, size=5)
    prior = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    seen = channel.apply(prior)
    true = prior * (channel.retention + (1 - channel.retention) * channel.replace) / seen
    tries = np.array([at_least(draw.multinomial(20_000, seen), channel, 1e-9) for _ in range(400)])
    assert (tries <= true).all()
    assert (tries.max(axis=1) > 0.9 * true.max()).mean() > 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("anatomy", "domain_from_data", "whether the values that there can be were taken from the data"),
        ("anatomy", "left_out", "whether rows of the most frequent values were left out"),
        ("sps", "merged", "that no values of public columns were merged"),
        ("partitioned", "rho1_tells", "rho1 = "),
        ("columnized", "computed_schema", "that the schema was fixed without looking at the data"),
    ],
)
def test_a_disclosure_that_leaves_no_trace_is_the_publishers_word(
    name: str, code: str, said: str, copied: Callable[[str], Path]
) -> None:
    """Whether or not it stands in the manifest, the reader is told on whose word that is."""
    folder = copied(name)

    def silent(document: Document) -> None:
        codes = document["depends_on_data_codes"]
        kept = [place for place, clause in enumerate(codes) if clause["code"] != code]
        document["depends_on_data_codes"] = [codes[place] for place in kept]
        document["depends_on_data"] = [document["depends_on_data"][place] for place in kept]
        for each in document["columns"]:
            each.pop("merged", None)

    with_care(folder, silent)
    assert any(check.standing == "word" and said in check.detail for check in verify(folder))


def test_a_seed_that_is_kept_quiet_leaves_no_trace_and_that_is_said(copied: Callable[[str], Path]) -> None:
    coins = next(check for check in verify(copied("coarse")) if check.name == "coins")
    assert (coins.standing, "leaves no trace" in coins.detail) == ("word", True)


def test_another_order_is_found(copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    rewritten(folder, lambda document: document.update(order="sorted"))
    assert "order" in failed(folder)


LOOSE: list[Callable[[Document], object]] = [
    lambda document: document.update(rows="6000"),
    lambda document: document.update(rows=6000.0),
    lambda document: document.update(rows=True),
    lambda document: document["randomness"].update(secure="yes"),
    lambda document: document["randomness"].update(secure=1),
    lambda document: document["files"][0].update(bytes="12"),
    lambda document: document["guarantees"][0]["parameters"].update(gamma="3"),
    lambda document: column(document, "disease")["domain"].update(from_data="no"),
    lambda document: column(document, "disease")["channel"].update(bits="32"),
    lambda document: column(document, "disease")["channel"].update(threshold=1.0),
]


@pytest.mark.parametrize("change", LOOSE)
def test_a_value_of_another_type_is_refused(change: Any, copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    rewritten(folder, change)
    with pytest.raises(ReleaseError, match=r"manifest\.json"):
        scumble.open(folder)


@pytest.mark.parametrize(("field", "check"), [("bytes", "files"), ("rows", "hashes")])
def test_a_file_of_another_length_is_found(field: str, check: str, copied: Callable[[str], Path]) -> None:
    folder = copied("coarse")
    rewritten(folder, lambda document: document["files"][-1].update({field: 17}))
    assert "17 in the manifest" in failed(folder)[check]


@pytest.mark.parametrize("change", [{"rows": 17}, {"name": "values"}, {"name": "persons"}])
def test_a_table_of_another_name_or_length_is_found(change: Document, copied: Callable[[str], Path]) -> None:
    folder = copied("anatomy")
    rewritten(folder, lambda document: document["form"]["rows"].update(change))
    assert "tables" in failed(folder)


def without_persons(folder: Path) -> None:
    """No word about persons, and what is claimed as it is derived without one."""
    with_care(folder, lambda document: document.pop("persons"))
    manifest = read_manifest(folder)
    claims = manifest.model_copy(update=records_of(terms_of(manifest)))
    with_care(folder, lambda document: document.update(json.loads(claims.text())))


@pytest.mark.parametrize("name", ["coarse", "anatomy"])
def test_a_manifest_that_says_nothing_of_persons_fails(name: str, copied: Callable[[str], Path]) -> None:
    folder = copied(name)
    without_persons(folder)
    assert failed(folder).keys() == {"persons"}


SAID_OF_PERSONS = {
    "stated": "each person is one row",
    "unanswered": "nothing was said",
    "counted": "up to 3 rows",
    "capped": "up to 3 rows",
}


@pytest.mark.parametrize("name", ["coarse", "anatomy"])
@pytest.mark.parametrize("how", SAID_OF_PERSONS)
def test_how_many_rows_a_person_has_is_always_said_to_be_the_publishers_word(
    how: str, name: str, copied: Callable[[str], Path]
) -> None:
    folder = copied(name)
    rows = {"rows": 3} if how in ("counted", "capped") else {}
    rewritten(folder, lambda document: document.update(persons={"how": how, **rows}))
    (line,) = (check for check in verify(folder) if check.name == "persons")
    assert (line.mark, SAID_OF_PERSONS[how] in line.detail) == ("SAID", True)


@pytest.mark.parametrize("name", ["coarse", "fine_grain"])
def test_fresh_coins_that_are_called_keyed_fail(name: str, copied: Callable[[str], Path]) -> None:
    folder = copied(name)

    def keyed(document: Document) -> None:
        document["randomness"]["keyed"] = True
        for guarantee in document["guarantees"]:
            fresh, by_key = Clause(code="fresh_coins"), Clause(code="keyed_coins")
            for clause in guarantee["condition_codes"]:
                clause["code"] = clause["code"].replace("fresh_coins", "keyed_coins")
            guarantee["conditions"] = [s.replace(fresh.sentence, by_key.sentence) for s in guarantee["conditions"]]

    with_care(folder, keyed)
    assert failed(folder).keys() == {"coins"}
    assert "no commitment for 'disease'" in failed(folder)["coins"]


@pytest.mark.slow
def test_that_coins_are_keyed_is_the_publishers_word(releases: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "key").write_text("9a" * 32)
    table = pa.table({"pid": range(500), "disease": [DISEASES[i % 5] for i in range(500)]})
    scumble.publish(table, tmp_path / "r", **ILL, gamma=3, key=tmp_path / "key", id="pid")
    assert failed(tmp_path / "r") == {}
    assert standing(tmp_path / "r")["keyed coins"] == "word"
    with_care(tmp_path / "r", lambda document: document["randomness"]["streams"][0].update(column="age"))
    assert failed(tmp_path / "r").keys() == {"coins"}


def of_claim(**numbers: Any) -> Callable[[Document], object]:
    """The first guarantee with another parameter; without it where the number is None."""

    def change(document: Document) -> None:
        given = document["guarantees"][0]["parameters"]
        given.update({name: value for name, value in numbers.items() if value is not None})
        for gone in [name for name, value in numbers.items() if value is None]:
            given.pop(gone)

    return change


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("fine_grain", of_claim(downward=None), "guarantee 'value_odds' lacks the parameter 'downward'"),
        ("fine_grain", of_claim(zeta=1.0), "'zeta', which is none of its kind"),
        ("coarse", of_claim(gamma=-1.0), "nothing can be said"),
        ("coarse", of_claim(epsilon=None), "lacks the parameter 'epsilon'"),
        ("anatomy", lambda d: d["depends_on_data_codes"][0].update(parameters={}), "lacks the parameter 'column'"),
        ("anatomy", lambda d: d["not_covered_codes"][0].update(parameters={"x": 1}), "'x', which is none of its kind"),
        ("coarse", lambda d: column(d, "disease")["domain"].update(values=[]), "a domain without a value"),
        ("coarse", lambda d: column(d, "disease")["domain"].update(values=[None]), "a domain without a value"),
    ],
)
def test_a_claim_without_its_parameters_is_refused_in_a_sentence(
    name: str, change: Callable[[Document], object], sentence: str, copied: Callable[[str], Path]
) -> None:
    folder = copied(name)
    rewritten(folder, change)
    with pytest.raises(ReleaseError, match=sentence):
        scumble.open(folder)


LEFT_OUT: dict[str, tuple[str, Callable[[Document], object]]] = {
    "the order of rows": ("coarse", lambda document: document.pop("order")),
    "the writer": ("anatomy", lambda document: document.pop("writer")),
    "rows without a place": ("ages", lambda document: document["form"].pop("outside")),
    "rows without a place in a full count": ("full", lambda document: document["form"].pop("outside")),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_scumble_writes_cannot_be_left_out(what: str, copied: Callable[[str], Path]) -> None:
    name, change = LEFT_OUT[what]
    folder = copied(name)
    with_care(folder, change)
    assert "leaves out" in failed(folder)["manifest"]


@pytest.mark.parametrize("where", ["before the footer", "between two footers"])
def test_bytes_that_no_column_has_are_found(where: str, copied: Callable[[str], Path]) -> None:
    """Readers begin at the end of a file and go where its footer sends them. What they never come by was published all the same."""
    folder = copied("coarse")
    (data,) = (path for path in folder.glob("*.parquet"))
    written = data.read_bytes()
    footer = 8 + int.from_bytes(written[-8:-4], "little")
    hidden = b"patient 4711 has flu"
    if where == "before the footer":
        forged = written[:-footer] + hidden + written[-footer:]
    else:  # both send readers to the same columns
        forged = written + written[-footer:]
    refiled(folder, data.name, forged)
    with_care(folder, lambda document: None)
    assert pq.read_table(data).num_rows == ROWS
    assert "beside its columns" in failed(folder)["bytes"]
