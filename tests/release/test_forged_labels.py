"""Labels, recodings and keys that somebody exchanged in the manifest, with everything else in order: found where files or a key can tell, and said to be the publisher's word where not."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import Document, with_care
from naming import publish_openly
from shell import scumble_command
from tables import DISEASES

import scumble
from scumble.release.manifest import read_manifest
from scumble.release.terms import records_of, terms_of

pytestmark = pytest.mark.filterwarnings("ignore")

ILL: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": DISEASES}}
HOW: dict[str, dict[str, Any]] = {
    "uniform": {**ILL, "gamma": 3, "coarsen": {"age": {"bins": 10}}},
    "fine_grain": {**ILL, "mechanism": "fine_grain", "gamma": 4, "settings": {"scores": {"hiv": 2}}},
    "shaped": {**ILL, "mechanism": "shaped", "rho2": 0.6, "gamma": 9},
    "partitioned": {**ILL, "mechanism": "partitioned", "rho2": 0.6},
    "design": {**ILL, "mechanism": "design", "gamma": 1.2},
    "numbers": {"mechanism": "fine_grain", "gamma": 4, "settings": {"scores": {"2": 2}}, "sensitive": "code", "domains": {"code": [1, 2, 3]}},
    "anatomy": {**ILL, "mechanism": "anatomy", "settings": {"l": 2}},
}  # fmt: skip
KEYED = {
    "keyed": {**ILL, "gamma": 3, "id": "pid", "attributes": {"disease": "illness"}},
    "staged": {**ILL, "gamma": 3, "id": "pid", "fresh": 0.8, "again": True},
}
ROWS = 3000


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A release of each kind, published once, by secret coins."""
    draw, folder = np.random.default_rng(11), tmp_path_factory.mktemp("releases")
    table = pa.table(
        {
            "pid": range(ROWS),
            "age": draw.integers(0, 100, ROWS),
            "code": draw.choice([1, 2, 3], ROWS),
            "disease": draw.choice(DISEASES, ROWS, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        }
    )
    (folder / "key").write_text("9a" * 32)

    def made(name: str) -> Path:
        if not (folder / name).exists():
            other = "disease" if name == "numbers" else "code"
            how = (
                {**KEYED[name], "key": folder / "key", "drop": "code"}
                if name in KEYED
                else HOW[name] | {"drop": [other, "pid"]}
            )
            publish_openly(table, folder / name, **how)
        return folder / name

    return made


@pytest.fixture
def copied(folders: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: Path(shutil.copytree(folders(name), tmp_path / name))


def restated(folder: Path, change: Callable[[Document], object]) -> None:
    """A change, and every claim as it follows from the changed manifest: the most careful forger."""
    with_care(folder, change)
    manifest = read_manifest(folder)
    claims = manifest.model_copy(update=records_of(terms_of(manifest)))
    with_care(folder, lambda document: document.update(json.loads(claims.text())))


def column(document: Document, name: str) -> Document:
    return next(each for each in document["columns"] if each["name"] == name)


def failed(folder: Path, **more: Any) -> set[str]:
    return {check.name for check in scumble.verify(folder, **more) if not check.passed}


def marks(folder: Path) -> dict[str, str]:
    return {check.name: check.mark for check in scumble.verify(folder)}


def exchanged(name: str, one: int = 0, other: int = 1) -> Callable[[Document], None]:
    """Two labels of a domain in each other's place."""

    def change(document: Document) -> None:
        values = column(document, name)["domain"]["values"]
        values[one], values[other] = values[other], values[one]

    return change


@pytest.mark.parametrize("name", ["uniform", "fine_grain", "shaped", "partitioned"])
def test_labels_exchanged_in_the_manifest_are_found_by_the_words_of_the_files(
    name: str, copied: Callable[[str], Path]
) -> None:
    """Whatever two are exchanged: the files list all in the order of the domain."""
    folder = copied(name)
    assert failed(folder) == set()
    one, other = random.Random(name).sample(range(len(DISEASES)), 2)
    restated(folder, exchanged("disease", one, other))
    assert "values of disease" in failed(folder)


@pytest.mark.parametrize(("name", "about"), [("design", "disease"), ("numbers", "code")])
def test_labels_that_no_file_lists_are_the_publishers_word(
    name: str, about: str, copied: Callable[[str], Path]
) -> None:
    """The forgery verifies, and answers are exchanged; what was believed is said, before and after."""
    folder = copied(name)
    assert marks(folder)[f"values of {about}"] == "SAID"
    restated(folder, exchanged(about))
    assert (failed(folder), marks(folder)[f"values of {about}"]) == (set(), "SAID")


def test_a_column_that_is_no_longer_called_coarse_is_the_publishers_word_and_its_steps_are_told(
    copied: Callable[[str], Path],
) -> None:
    folder = copied("uniform")
    assert marks(folder)["recoding of age"] == "SAID"
    with_care(folder, lambda document: column(document, "age").pop("coarsened"))
    (line,) = (check for check in scumble.verify(folder) if check.name == "public values")
    assert (line.mark, "all of age are multiples of 10" in line.detail) == ("SAID", True)


def test_another_writer_than_the_files_name_is_found(copied: Callable[[str], Path]) -> None:
    """By it an audit would compare layouts, where it compares bytes."""
    folder = copied("uniform")
    with_care(folder, lambda document: document.update(writer="scumble layout 1, parquet-cpp-arrow 3.0.0"))
    assert failed(folder) == {"writer"}


def halved(document: Document) -> None:
    """A channel that keeps half as much, in all numbers."""
    channel = column(document, "disease")["channel"]
    whole, size = 1 << channel["bits"], channel["size"]
    channel["threshold"] = whole - (whole - channel["threshold"] // 2) // size * size
    channel["retain"] = channel["threshold"] / whole


def turned(document: Document) -> None:
    """The memoised stage in the place of the fresh one: their product is the same."""
    stages = column(document, "disease")["channel"]["stages"]
    stages["memoised"], stages["fresh"] = stages["fresh"], stages["memoised"]


def renamed(document: Document) -> None:
    document["randomness"]["streams"][0]["attribute"] = "diagnosis"


def relabelled(document: Document) -> None:
    column(document, "disease")["domain"]["values"][0] = "gout"


KEY_FORGERIES = {
    "attribute": ("keyed", renamed),
    "domain": ("keyed", relabelled),
    "retention": ("keyed", halved),
    "stages": ("staged", turned),
}


@pytest.mark.parametrize("what", KEY_FORGERIES)
def test_what_keyed_coins_were_drawn_for_is_checked_by_the_key(
    what: str, copied: Callable[[str], Path], folders: Callable[[str], Path]
) -> None:
    name, change = KEY_FORGERIES[what]
    folder, key = copied(name), folders(name).parent / "key"
    assert failed(folder, key=key) == set()
    restated(folder, change)
    assert "key of disease" in failed(folder, key=key)
    assert marks(folder)["keyed coins"] == "SAID"


def test_verify_takes_a_key_and_refuses_what_is_none(
    folders: Callable[[str], Path], copied: Callable[[str], Path], tmp_path: Path
) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        done = scumble_command("verify", *arguments)
        return done.returncode, done.stdout

    keyed, key = str(folders("keyed")), str(folders("keyed").parent / "key")
    code, output = run(keyed, "--key", key)
    assert (code, "ok    key of disease: attribute 'illness'" in output) == (0, True)
    assert "SAID is what a release cannot show" in output
    (tmp_path / "other").write_text("8b" * 32)
    assert run(keyed, "--key", str(tmp_path / "other"))[0] == 1
    assert run(keyed, "--key", str(tmp_path / "none"))[0] == 2
    code, output = run(str(folders("uniform")), "--key", key)
    assert (code, "were not drawn by a key" in output) == (1, True)


def test_buckets_promise_nothing_of_a_person_with_several_rows(
    folders: Callable[[str], Path], copied: Callable[[str], Path]
) -> None:
    """What two buckets have in common tells the value of who is in both."""
    guarantee = scumble.open(folders("anatomy")).terms.guarantees[0]
    assert guarantee.conditions[0].code == "one_row_unanswered"
    folder = copied("anatomy")
    restated(folder, lambda document: document.update(persons={"how": "counted", "rows": 3}))
    (promise,) = scumble.open(folder).terms.guarantees
    assert promise.conditions[0].code == "one_of_rows"
    with_care(folder, lambda document: document["guarantees"][0]["condition_codes"].pop(0))
    assert failed(folder) != set()
