"""Releases of format version 1 that were published once and are kept: they open, answer, verify, audit and report as on their first day.

tests/fixtures/v1/README.md says how they were made, and what expected.json holds.
"""

import hashlib
import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scumble
from scumble.auditing import audit
from scumble.core.errors import ScumbleError
from scumble.release.verify import verify
from scumble.reporting import report

KEPT = Path(__file__).parents[1] / "fixtures" / "v1"
RAW = KEPT / "raw.parquet"
EXPECTED: dict[str, dict[str, Any]] = json.loads((KEPT / "expected.json").read_text(encoding="utf-8"))
FOLDERS = sorted(manifest.parent.name for manifest in KEPT.glob("*/manifest.json"))
AUDITED = [name for name in FOLDERS if "audit" in EXPECTED[name]]
REPORTED = [name for name in FOLDERS if "report" in EXPECTED[name]]

NAMES = """uniform identity swapped fine_grain partitioned sps k_dgs noisy_counts columnized
    anatomy frapp alpha_beta perturbed_generalization"""
"""The mechanisms that version 1 began with."""

SAME = {"unbiased": 1e-9, "likelihood": 1e-6}
"""How far an answer may be from the kept one, relatively. Sums of floats depend on their order; the likelihood is climbed step by step."""


RAISED = ("noisy_counts_full",)
"""Releases with counts that were raised to the floor: their upper ends reach farther since then, because the truth may."""

LATER_CHECKS = (
    "bytes",
    "coins",
    "not covered",
    "taken from the data",
    "sentences",
    "folder",
    "listed files",
    "files",
    "tables",
    "values",
    "order",
)
LATER_ATTACKS = ("seeded coins", "claims", "seeds", "law", "coins", "noise", "sampling", "dealing")
"""What verify and audit look at since then: it must hold, and expected.json does not have it."""

REPLACED = ("parameters",)
"""Checks that are no longer made by themselves: the numbers of a plan are those that its guarantee is derived from."""


def asked(release: scumble.Release, sql: str, method: str) -> dict[str, Any]:
    """A question as expected.json keeps it: its rows and how each aggregate was found, or the class of the refusal."""
    try:
        answer = release.query(sql, level=0.95, method=method)
    except ScumbleError as error:
        return {"sql": sql, "method": method, "refused": type(error).__name__}
    found = {estimate.name: estimate.method for estimate in answer.estimates}
    return {"sql": sql, "method": method, "found": found, "rows": json.loads(json.dumps(answer.to_list(), default=str))}


def checked(release: scumble.Release) -> list[list[Any]]:
    """The checks of verify, each with whether it passed; what is the publisher's word, or a caution, was not told then."""
    return [[check.name, check.passed] for check in verify(release, version_1=True) if check.standing == "derived"]


def attacked(folder: Path) -> list[list[str]]:
    """The findings of an audit with the raw table, without their prose."""
    return [[finding.attack, finding.question, finding.verdict] for finding in audit(folder, RAW)]


def sections(folder: Path, out: Path, raw: Path | None) -> list[str]:
    """The sections of a report, the external edition where there is no raw table."""
    page = report(folder, out, raw=raw, external=raw is None)
    return re.findall(r'<section id="([\w-]+)"', page.read_text(encoding="utf-8"))


def same(found: Any, kept: Any, found_by: str) -> bool:
    """Counts of what is public are whole and equal; other numbers are as near as SAME says."""
    if not isinstance(found, float) or not isinstance(kept, float):
        return type(found) is type(kept) and found == kept
    if found_by == "exact" and kept.is_integer():
        return found == kept
    return math.isclose(found, kept, rel_tol=SAME.get(found_by, 1e-9), abs_tol=SAME.get(found_by, 1e-9))


def differences(found: dict[str, Any], kept: dict[str, Any], raised: bool = False) -> Iterator[str]:
    """What an answer says otherwise than the kept one; upper ends that were raised may be higher."""
    for number, (now, then) in enumerate(zip(found["rows"], kept["rows"], strict=True)):
        if list(now) != list(then):
            yield f"row {number} has {list(now)}, and had {list(then)}"
        for name, value in then.items():
            how = kept["found"].get(re.sub("_(se|low|high|least|bound)$", "", name), "exact")
            higher = raised and name.endswith("_high") and now[name] > value
            if not higher and not same(now.get(name), value, how):
                yield f"row {number}, {name}: {now.get(name)!r}, and was {value!r}"


@pytest.fixture(scope="module")
def releases() -> dict[str, scumble.Release]:
    """Each kept release, opened: its manifest is read and its files are held against their hashes."""
    return {name: scumble.open(KEPT / name) for name in FOLDERS}


def test_every_mechanism_is_kept(releases: dict[str, scumble.Release]) -> None:
    """A release of every mechanism of version 1, with fresh secure coins, and all that is expected has a folder."""
    assert set(EXPECTED) == set(FOLDERS)
    assert set(NAMES.split()) == set(REPORTED) == {release.manifest.mechanism for release in releases.values()}
    assert all(
        release.manifest.written.version == 1 and release.manifest.randomness.secure for release in releases.values()
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_a_kept_release_answers_as_it_did(name: str, releases: dict[str, scumble.Release]) -> None:
    assert len(EXPECTED[name]["questions"]) >= 5
    for kept in EXPECTED[name]["questions"]:
        found = asked(releases[name], kept["sql"], kept["method"])
        if "rows" in kept:  # what was refused then may be answered since
            assert found.get("found") is not None, kept["sql"]
            assert found["found"] == kept["found"], kept["sql"]
            assert not list(differences(found, kept, name in RAISED)), kept["sql"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_a_kept_release_verifies(name: str, releases: dict[str, scumble.Release]) -> None:
    found = checked(releases[name])
    assert all(passed for _, passed in found)
    kept = [check for check in EXPECTED[name]["verify"] if check[0] not in REPLACED]
    assert [check for check in found if check[0] not in LATER_CHECKS] == kept


def rewritten(name: str, out: Path, **changes: Any) -> Path:
    """A kept release whose record of counts says something else, with a digest that agrees."""
    folder = shutil.copytree(KEPT / name, out / "copy")
    document = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    document["counted"] = {**document.get("counted", {}), **changes}
    document.pop("digest")
    digest = hashlib.sha256(json.dumps(document, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    text = json.dumps({**document, "digest": digest}, indent=1, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("k_dgs", {"matrix": "mist"}, "the matrix 'mist', which this scumble does not know; get a newer scumble"),
        ("k_dgs", {"mist": 1}, r"'form\.mist' is a field that this scumble does not know; get a newer scumble"),
        ("k_dgs", {"k": None}, r"'form\.counting\.exact\.k' is missing; get the release again"),
        ("anatomy", {"matrix": "exact"}, r"'form\.rows' is missing"),
        ("anatomy", {"tables": 3}, "tables are not records; get the release again"),
        ("uniform", {"matrix": "exact", "k": 3}, r"'form\.counting' is a field that this scumble does not know"),
    ],
)
def test_what_has_no_place_in_version_2_is_refused(name: str, changes: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ScumbleError, match=words):
        scumble.open(rewritten(name, tmp_path, **changes))


@pytest.mark.parametrize("name", AUDITED)
@pytest.mark.slow
def test_a_kept_release_is_audited_with_the_same_verdicts(name: str) -> None:
    """Inference looks at every column since then, and at what public columns tell: where that held, it may be open now. Sub-tables are looked at by `dealing`."""
    found = attacked(KEPT / name)
    then = [finding for finding in EXPECTED[name]["audit"] if finding[0] not in ("sub-tables", "inference")]
    assert [finding for finding in found if finding[0] not in (*LATER_ATTACKS, "inference")] == then
    inferred = [finding for finding in found if finding[0] == "inference"]
    assert bool(inferred) == any(finding[0] == "inference" for finding in EXPECTED[name]["audit"])
    assert {verdict for _, _, verdict in inferred} <= {"holds", "open"}
    assert {verdict for attack, _, verdict in found if attack in LATER_ATTACKS} == {"holds"}


@pytest.mark.parametrize("name", REPORTED)
@pytest.mark.slow
def test_a_kept_release_is_reported_in_both_editions(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sections are the same. Nothing is drawn: drawings depend on no version, and take their time."""
    monkeypatch.setattr("scumble.reporting.figure.svg", lambda chart, alt: "")
    for edition, raw in (("external", None), ("internal", RAW)):
        found = sections(KEPT / name, tmp_path / f"{edition}.html", raw)
        assert found == EXPECTED[name]["report"][edition]


def test_that_version_1_says_nothing_of_persons_is_a_caution() -> None:
    (line,) = (check for check in verify(KEPT / "uniform") if check.name == "persons")
    assert line.mark == "WARN"
