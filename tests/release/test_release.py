"""Opening and verifying: any changed byte shows, and a channel that was not applied is found."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged import FOLLOWING, with_care
from naming import publish_openly

import scumble
from scumble.core.errors import ReleaseError
from scumble.privacy.guarantee import rho_guarantee
from scumble.publishing.write import file_record
from scumble.release.manifest import read_manifest
from scumble.release.records import GuaranteeRecord
from scumble.release.verify import least_probable, verify

Publish = Callable[..., scumble.Release]


@pytest.fixture
def copy(release: scumble.Release, tmp_path: Path) -> Path:
    return Path(shutil.copytree(release.path, tmp_path / "copy"))


def reseal(folder: Path, **changes: object) -> None:
    """What a publisher's broken software might write: a consistent manifest around other content."""
    manifest = scumble.open(folder).manifest if not changes.pop("blind", False) else None
    if manifest is None:
        manifest = read_manifest(folder)
    files = [file_record(folder, f.path, f.rows) for f in manifest.files]
    (folder / "manifest.json").write_text(manifest.model_copy(update={"files": files, **changes}).text())


def test_a_sound_release_passes_every_check(release: scumble.Release) -> None:
    checks = verify(release)
    assert all(check.passed for check in checks)
    assert {c.name for c in checks} >= {
        "hashes",
        "columns",
        "rows",
        "guarantee",
        "channel of disease",
        "channel of visits",
    }


@pytest.mark.parametrize("name", ["manifest.json", "README.md", "data.parquet"])
def test_any_changed_byte_is_refused(name: str, copy: Path) -> None:
    path = copy / name
    content = bytearray(path.read_bytes())
    for place in (3, len(content) // 2, len(content) - 2):
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises(ReleaseError):
            scumble.open(copy)
    path.write_bytes(content)
    scumble.open(copy)


def test_a_missing_file_an_unknown_version_and_no_release_are_refused(copy: Path, tmp_path: Path) -> None:
    document = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**document, "version": 7}))
    with pytest.raises(ReleaseError, match="version 7"):
        scumble.open(copy)
    (copy / "manifest.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(ReleaseError, match="not the manifest"):
        scumble.open(copy)
    with pytest.raises(ReleaseError, match="not a release"):
        scumble.open(tmp_path / "nothing")


def test_an_unknown_field_is_refused_not_skipped(copy: Path) -> None:
    from scumble.release.manifest import _text

    document = json.loads((copy / "manifest.json").read_text())
    document.pop("digest")
    (copy / "manifest.json").write_text(_text({**document, "correction": 1}))
    with pytest.raises(ReleaseError, match="'correction' is a field that this scumble does not know; get a newer"):
        scumble.open(copy)


def test_a_mechanism_that_this_software_does_not_know_is_refused(copy: Path) -> None:
    """Its rows follow a law of their own, which answers by another one would miss."""
    reseal(copy, mechanism="uniform_with_a_twist")
    with pytest.raises(
        ReleaseError, match="'uniform_with_a_twist', which this scumble does not know; get a newer scumble"
    ):
        scumble.open(copy)


@pytest.mark.slow
def test_a_column_that_was_not_perturbed_is_found(publish_simply: Publish, patients: pa.Table, tmp_path: Path) -> None:
    """The manifest says p = 0.2; the data is the raw column, whose rare value is far rarer than replacement makes it."""
    release = publish_simply(out=tmp_path / "r", retain=0.2)
    assert all(check.passed for check in verify(release))
    published = release.table()
    raw = published.set_column(published.column_names.index("disease"), "disease", patients.column("disease"))
    pq.write_table(raw, tmp_path / "r" / "data.parquet")
    reseal(tmp_path / "r", blind=True)
    with_care(tmp_path / "r", lambda _: None)
    failed = [check for check in verify(scumble.open(tmp_path / "r")) if not check.passed]
    assert [check.name for check in failed] == ["values of disease", "channel of disease"]


def test_a_balanced_column_that_was_not_perturbed_is_found_by_what_it_goes_with(tmp_path: Path) -> None:
    """All values are equally common, so the counts alone fit any retention; within a public column they do not."""
    draw = np.random.default_rng(8)
    kind = draw.integers(0, 4, 8000)
    table = pa.table(
        {
            "kind": [f"k{i}" for i in kind],
            "ward": [f"w{i}" for i in np.where(draw.random(8000) < 0.5, kind, draw.integers(0, 4, 8000))],
        }
    )
    domains = {"kind": ["k0", "k1", "k2", "k3"]}
    release = publish_openly(table, tmp_path / "r", sensitive="kind", domains=domains, retain=0.2)
    assert all(check.passed for check in verify(release))
    pq.write_table(table, tmp_path / "r" / "data.parquet")
    reseal(tmp_path / "r", blind=True)
    failed = {c.name for c in verify(scumble.open(tmp_path / "r")) if not c.passed}
    assert failed == {"explore.html", "values of kind", "channel of kind"}


def test_the_channel_check_has_its_false_alarm_rate_and_power() -> None:
    """Sound counts of 20,000 rows pass in 300 tries; counts kept at 0.4 instead of 0.2 are improbable in all of 50."""
    draw = np.random.default_rng(2)
    prior = np.array([0.6, 0.3, 0.09, 0.01, 0.0])
    sound = scumble.Channel(0.2, size=5)
    for _ in range(300):
        counts = draw.multinomial(20_000, sound.apply(prior))
        assert least_probable(counts, sound) > 1e-9
    for _ in range(50):
        counts = draw.multinomial(20_000, scumble.Channel(0.4, size=5).apply(prior))
        assert least_probable(counts, sound) < 1e-9


def test_values_outside_the_domain_and_lost_rows_are_found(publish_simply: Publish, tmp_path: Path) -> None:
    release = publish_simply(out=tmp_path / "r")
    published = release.table()
    odd = pa.array(["measles", *published.column("disease").to_pylist()[1:]])
    pq.write_table(published.set_column(2, "disease", odd).slice(0, 2999), tmp_path / "r" / "data.parquet")
    reseal(tmp_path / "r", blind=True)
    assert "2,999 rows, and 3,000 in the manifest" in verify(tmp_path / "r")[0].detail
    manifest = read_manifest(tmp_path / "r")
    short = [file.model_copy(update={"rows": file.rows and 2999}) for file in manifest.files]
    (tmp_path / "r" / "manifest.json").write_text(manifest.model_copy(update={"files": short}).text())
    failed = {check.name: check.detail for check in verify(scumble.open(tmp_path / "r")) if not check.passed}
    assert "measles" in failed["channel of disease"]
    assert "2,999" in failed["rows"]


def test_a_guarantee_that_the_channel_does_not_give_is_found(publish_simply: Publish, tmp_path: Path) -> None:
    release = publish_simply(out=tmp_path / "r", retain=0.5)
    stronger = GuaranteeRecord.of(rho_guarantee(["disease"], 0.1, 0.2))
    reseal(tmp_path / "r", guarantees=[*release.manifest.guarantees, stronger])
    failed = {check.name: check.detail for check in verify(scumble.open(tmp_path / "r")) if not check.passed}
    told = "the manifest claims rho of disease with rho1 = 0.1, rho2 = 0.2, which does not follow"
    assert failed.pop("guarantee") == told
    assert failed.keys() == FOLLOWING


def test_the_readme_lets_a_stranger_count(release: scumble.Release) -> None:
    """The statement in the release's README, copied and run, is the estimate and the standard error that scumble gives."""
    text = (release.path / "README.md").read_text()
    sql = text.split("```sql")[1].split("```")[0].replace("'data.parquet'", f"'{release.path / 'data.parquet'}'")
    estimate, error = duckdb.sql(sql).fetchall()[0]
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'")["n"]
    assert estimate == pytest.approx(answer.value[0], rel=1e-9)
    assert error == pytest.approx(answer.se[0], rel=1e-9)


def test_unique_rows_are_counted_on_public_columns(publish_simply: Publish, patients: pa.Table) -> None:
    release = publish_simply(public=["age", "sex"], drop=["name", "smoker", "visits", "cost"])
    frame = patients.to_pandas()
    assert release.unique_rows() == int((frame.groupby(["age", "sex"]).size() == 1).sum())
    assert publish_simply().unique_rows() > 2900
