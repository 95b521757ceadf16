"""What a release promises is derived: a manifest that was rewritten is found out, a sound one verifies, and no sentence decides anything."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from every_mechanism import EVERY, HOW, published
from forged import FOLLOWING, forged, restated
from typer.testing import CliRunner

from scumble.auditing import audit
from scumble.cli import app
from scumble.privacy import words
from scumble.privacy.guarantee import Clause
from scumble.release.manifest import NAME, FileVersion
from scumble.release.release import Release
from scumble.release.verify import verify

pytestmark = pytest.mark.filterwarnings("ignore")

MORE: dict[str, dict[str, Any]] = {
    "swapped": {"rho1": 0.1, "rho2": 0.5, "retain": None},
    "identity": {"rho1": 0.1, "rho2": 0.5, "retain": None},
}
"""So that each has a guarantee to forge."""

Publish = Callable[[str], Release]


@pytest.fixture(scope="module")
def made(patients: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Publish:
    """A release of each mechanism, published once."""
    folder, found = tmp_path_factory.mktemp("releases"), {}

    def publish(name: str) -> Release:
        if name not in found:
            found[name] = published(name, patients, folder / name, seed=3, **MORE.get(name, {}))
        return found[name]

    return publish


def failed(release: Release) -> dict[str, str]:
    return {check.name: check.detail for check in verify(release) if not check.passed}


def first(release: Release, **changes: Any) -> Release:
    """The first guarantee with other fields."""
    records = release.manifest.guarantees
    return forged(release, guarantees=[records[0].model_copy(update=changes), *records[1:]])


def without(lines: list[Any]) -> list[Any]:
    return lines[1:]


def rewritten(release: Release) -> Release:
    return first(release, statement="Differential privacy with epsilon = 0.0001.")


def of_no_column(release: Release) -> Release:
    return first(release, columns=[], parameters={"gamma": 1.0})


def smaller(release: Release) -> Release:
    """Every number a little better than it is; of sub-tables the factors, because their beliefs follow from counts that nobody sees."""
    record = release.manifest.guarantees[0]
    if record.kind == "subtable_posterior":
        return first(release, bounds=[[each and each * 0.99 for each in row] for row in record.bounds or []])
    less = {n: v * 0.99 for n, v in record.parameters.items() if v}
    return restated(release, 0, **less)


def unconditional(release: Release) -> Release:
    record = release.manifest.guarantees[0]
    return first(release, conditions=without(record.conditions), condition_codes=without(record.condition_codes or []))


def silent(release: Release) -> Release:
    """A line that says what is not covered, gone in words and in code."""
    manifest = release.manifest
    codes = without(manifest.not_covered_codes or [])
    return forged(release, not_covered=without(manifest.not_covered), not_covered_codes=codes)


def reworded(release: Release) -> Release:
    return forged(release, not_covered=["Nothing: all is covered.", *release.manifest.not_covered[1:]])


def dropped(release: Release) -> Release:
    return forged(release, guarantees=[])


def repeated(release: Release) -> Release:
    return forged(release, guarantees=[*release.manifest.guarantees, release.manifest.guarantees[0]])


def half_coded(release: Release) -> Release:
    return forged(release, not_covered_codes=None)


def invented(release: Release) -> Release:
    codes = [*(release.manifest.depends_on_data_codes or []), Clause(code="harmless")]
    told = [*release.manifest.depends_on_data, "What was taken from the data is harmless."]
    return forged(release, depends_on_data=told, depends_on_data_codes=codes)


def claimed_secure(release: Release) -> Release:
    return forged(release, randomness=release.manifest.randomness.model_copy(update={"secure": True}))


FORGERIES = [
    rewritten, of_no_column, smaller, unconditional, silent, reworded, repeated, half_coded, invented, claimed_secure
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_a_sound_release_verifies_and_a_forged_one_does_not(name: str, made: Publish) -> None:
    release = made(name)
    assert failed(release) == {}
    assert release.doubts == []
    for forge in FORGERIES:
        assert failed(forge(release)), forge.__name__


OPTIONAL = {"swapped", "identity"}
"""Mechanisms whose guarantees were all asked for: a release may claim none."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVERY if name not in OPTIONAL])
def test_guarantees_that_follow_cannot_be_left_out(name: str, made: Publish) -> None:
    found = failed(dropped(made(name))).keys() - FOLLOWING
    assert bool(found) == (name != "alpha_beta"), "its one guarantee was asked for, and verify says that none follows"


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_another_mechanism_does_not_give_the_same(name: str, made: Publish) -> None:
    release = made(name)
    for other in set(HOW) - {release.manifest.mechanism}:
        assert failed(forged(release, mechanism=other)), other


@pytest.mark.parametrize("name", ["uniform", "fine_grain", "sps", "frapp", "perturbed_generalization", "partitioned"])
def test_another_threshold_gives_another_factor(name: str, made: Publish) -> None:
    """Also where the retention is rewritten to fit it."""
    release = made(name)

    def moved(record: Any) -> Any:
        many = isinstance(record.threshold, list)
        step = record.size * 2**16
        thresholds = [t + step if t else t for t in (record.threshold if many else [record.threshold])]
        retain = [t / 2**record.bits for t in thresholds]
        return record.model_copy(
            update={"threshold": thresholds if many else thresholds[0], "retain": retain if many else retain[0]}
        )

    columns = [
        c.model_copy(
            update={
                "channel": c.channel and moved(c.channel),
                "channels": c.channels and [moved(each) for each in c.channels],
            }
        )
        for c in release.manifest.columns
    ]
    assert failed(forged(release, columns=columns)).keys() & {"guarantee", "guarantees"}


def test_the_message_says_which(made: Publish) -> None:
    release = made("uniform")
    assert [g.kind for g in release.manifest.guarantees] == ["rho", "amplification", "breach"]
    assert (
        "gamma = 1 for amplification of disease, and gamma = " in failed(restated(release, 1, gamma=1.0))["guarantee"]
    )
    assert "amplification of no column with gamma = 1, which does not follow" in str(
        failed(
            forged(
                release,
                guarantees=[of_no_column(release).manifest.guarantees[0].model_copy(update={"kind": "amplification"})],
            )
        )
    )
    assert "does not name as not covered: Singling out" in failed(silent(release))["not covered"]
    assert "epsilon = 0.0001" in failed(rewritten(release))["sentences"]
    assert "does not claim what follows" in failed(dropped(release))["guarantee"]


def sealed(release: Release, folder: Path) -> Path:
    """A forged release on disk, with its digest."""
    for file in release.path.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / NAME).write_text(release.manifest.text(), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_commands_print_what_follows_and_say_that_something_else_is_claimed(made: Publish, tmp_path: Path) -> None:
    release = made("uniform")
    records = [g.model_copy(update={"statement": "epsilon = 0.0001"}) for g in release.manifest.guarantees]
    folder = sealed(forged(release, guarantees=records), tmp_path)
    run = CliRunner()
    assert run.invoke(app, ["verify", str(folder)]).exit_code == 1
    shown = run.invoke(app, ["show", str(folder)]).stdout
    assert "DO NOT TRUST" in shown
    assert "guaranteed: epsilon = 0.0001" not in shown
    assert "guaranteed: Whatever about the row's disease" in " ".join(shown.split())
    told = run.invoke(app, ["show", str(folder), "--format", "json"]).stdout
    assert '"statement": "epsilon = 0.0001"' not in told
    assert "claims_that_do_not_follow" in told
    assert "DO NOT TRUST" in run.invoke(app, ["query", str(folder), "SELECT COUNT(*) AS n FROM release"]).stdout
    assert run.invoke(app, ["audit", str(folder)]).exit_code == 1


@pytest.mark.slow
@pytest.mark.real_coins
def test_a_release_from_a_seed_is_never_sound(made: Publish, tmp_path: Path) -> None:
    release = made("uniform")
    assert failed(release).keys() == {"coins"}
    run = CliRunner()
    verified = run.invoke(app, ["verify", str(release.path)])
    assert verified.exit_code == 1
    assert "FAIL  coins: the coins were drawn from a seed" in verified.stdout
    audited = run.invoke(app, ["audit", str(release.path)])
    assert audited.exit_code == 1
    assert "seeded coins" in audited.stdout
    assert [f.attack for f in audit(release) if not f.passed] == ["seeded coins"]


@pytest.mark.slow
def test_releases_without_codes_are_read_and_their_prose_is_not(made: Publish) -> None:
    """As they were made before there were codes, with numbers that came later left out; another number is found out in them too."""
    for name in EVERY:
        manifest = made(name).manifest
        later = ("by_factor", "anything", "asked", "theta", "protected", "sets")
        records = [
            g.model_copy(
                update={
                    "condition_codes": None,
                    "statement": "Lorem ipsum",
                    "parameters": {n: v for n, v in g.parameters.items() if n not in later},
                }
            )
            for g in manifest.guarantees
        ]
        old = forged(made(name), guarantees=records, not_covered_codes=None, depends_on_data_codes=None)
        assert failed(old), "codes are left out of a manifest of version 2 by whoever rewrote it"
        old.manifest._written = FileVersion(version=1, digest=manifest.digest)
        old = Release(old.path, old.manifest)
        assert failed(old).keys() == {"version"}, name
        assert "Lorem" not in str(old)
        assert [g.kind for g in old.terms.guarantees] == [g.kind for g in manifest.guarantees]
        (changed, *_), columns = records, manifest.guarantees[0].columns
        parameters = {n: v * 0.99 if v else v for n, v in changed.parameters.items()}
        bounds = [[each and each * 0.99 for each in row] for row in changed.bounds] if changed.bounds else None
        wrong = changed.model_copy(update={"parameters": parameters, "columns": columns, "bounds": bounds})
        assert failed(forged(old, guarantees=[wrong, *records[1:]])), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["uniform", "swapped", "sps", "anatomy", "noisy_counts", "k_dgs"])
def test_nothing_is_decided_by_a_sentence(name: str, made: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence and every heading another one: attacks and the page come to the same verdicts."""
    from scumble.reporting.sections.questions import answered
    from scumble.reporting.subject import Subject

    release = made(name)

    def verdicts() -> list[Any]:
        subject = Subject(Release(release.path, release.manifest))
        answers = [(a.name, a.verdict, len(a.says)) for a in answered(subject)]
        return [answers, [(f.attack, f.verdict, bool(f.uncovered)) for f in subject.findings if f.attack != "claims"]]

    before = verdicts()
    monkeypatch.setattr(words, "STATEMENTS", {kind: lambda g: f"Lorem {g.kind}." for kind in words.STATEMENTS})
    monkeypatch.setattr(words, "CLAUSES", {code: f"ipsum {place}" for place, code in enumerate(words.CLAUSES)})
    monkeypatch.setattr(words, "HEADINGS", {})
    assert verdicts() == before
    assert set(failed(Release(release.path, release.manifest))) == {"sentences"}
