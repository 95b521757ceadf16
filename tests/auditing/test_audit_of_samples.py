"""Attacks on sampled releases: they succeed where the paper's sizes are used, and stay at their baseline by default."""

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naming import publish_openly
from shell import scumble_command

import scumble
from scumble.auditing import audit
from scumble.auditing.attacks.reconstruction import attack as reconstruction
from scumble.auditing.attacks.scale import attack as scale
from scumble.auditing.finding import Finding
from scumble.core.errors import ParameterError
from scumble.publishing.write import file_record
from scumble.release.manifest import NAME, read_manifest
from scumble.release.release import open_release
from scumble.sources.source import read

pytestmark = pytest.mark.slow

VALUES = [f"d{i}" for i in range(10)]


def skewed(groups: int = 200) -> pa.Table:
    """200 groups of 200 to 900 people, each with frequencies of its own: the largest from 0.15 to 0.95."""
    draw = np.random.default_rng(1)
    rows = []
    for group in range(groups):
        size = int(draw.integers(200, 900))
        rows.append((np.full(size, group), draw.choice(VALUES, size, p=draw.dirichlet(np.full(10, 0.5)))))
    place, value = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return pa.table({"place": place, "disease": value})


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return skewed()


def publish(table: pa.Table, **settings: Any) -> scumble.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return publish_openly(
            table,
            sensitive="disease",
            domains={"disease": VALUES},
            mechanism="sps",
            retain=0.5,
            settings=settings,
            seed=1,
        )


PAPER = {"sizes": "paper", "tail": "chernoff", "delta": 0.3}


@pytest.mark.parametrize("more", [{}, {"duplicates": True}])
def test_the_scale_attack_reads_f_off_a_release_made_the_papers_way(more: dict[str, Any], table: pa.Table) -> None:
    found = scale(publish(table, **PAPER, **more), read(table))
    assert found.success > 0.9
    assert found.baseline < 0.4
    assert not found.passed


def test_the_scale_attack_needs_no_raw_table(table: pa.Table) -> None:
    assert scale(publish(table, **PAPER)).success > 0.9
    assert scale(publish(table)).success == 0


def test_exact_sizes_of_single_groups_leak_too(table: pa.Table) -> None:
    found = scale(publish(table, sizes="paper", tail="exact"), read(table))
    assert found.success > 0.8
    assert not found.passed


@pytest.mark.parametrize("settings", [{}, {"duplicates": True}, {"generalize": True}])
@pytest.mark.parametrize("scored", [False, True])
def test_a_release_made_by_default_keeps_every_audit_at_its_baseline(
    settings: dict[str, Any], scored: bool, table: pa.Table
) -> None:
    findings = audit(publish(table, **settings), read(table) if scored else None)
    assert {"scale", "not sampled", "reconstruction"} <= {found.attack for found in findings}
    for found in findings:
        assert found.passed, found
        if found.attack in ("scale", "not sampled", "reconstruction"):
            assert found.success == found.baseline, found


def test_a_group_that_was_not_sampled_tells_that_nothing_is_frequent_in_it(table: pa.Table) -> None:
    findings = {f.attack: f for f in audit(publish(table, **PAPER), read(table))}
    assert findings["not sampled"].success > 0
    assert not findings["not sampled"].passed
    assert findings["reconstruction"].success > 0.9, "Chernoff's sizes fail the exact test"


def test_a_ladder_tells_less_than_the_papers_sizes(table: pa.Table) -> None:
    ladder, paper = (
        scale(publish(table, **s), read(table)).success
        for s in ({"sizes": "ladder"}, {"sizes": "paper", "tail": "exact"})
    )
    assert ladder < paper / 3


def test_frequencies_that_are_estimated_stay_within_what_the_sample_size_tells() -> None:
    """20 ladders of 30 groups of 150 people, each made by its sizes: none fails its own test, however the estimates fall. (Scaled beyond the rung, one in some dozens did.)"""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        values = draw.choice(VALUES, 4500, p=[0.25, *[0.75 / 9] * 9])
        raw = pa.table({"place": np.repeat(np.arange(30), 150), "disease": values})
        release = publish(raw, sizes="ladder")
        assert reconstruction(release).success == 0, seed


def test_what_a_ladder_tells_is_said_and_open() -> None:
    """Groups of 60 people in which nothing is frequent are published whole, and the release says what that shows."""
    draw = np.random.default_rng(1)
    raw = pa.table({"place": np.repeat(np.arange(30), 60), "disease": draw.choice(VALUES, 1800)})
    raw = pa.concat_tables([raw, pa.table({"place": np.full(90, 30), "disease": ["d1"] * 90})])
    findings = {found.attack: found for found in audit(publish(raw, sizes="ladder"), raw)}
    assert findings["not sampled"].success > 0.5
    assert findings["not sampled"].verdict == "open"
    assert all(found.passed for found in findings.values())


def test_a_raw_table_that_is_another_is_refused(table: pa.Table) -> None:
    other = table.set_column(0, "place", pa.array(table.column("place").to_numpy() + 1000))
    with pytest.raises(ParameterError, match="is it the table that was published"):
        scale(publish(table), read(other))


def test_a_table_without_public_columns_is_one_group(table: pa.Table) -> None:
    """And merged dates, booleans and missing values find their groups again in the raw table."""
    alone = table.select(["disease"])
    assert all(found.passed for found in audit(publish(alone), read(alone)))
    days = pa.array(np.arange(table.num_rows) % 5).cast(pa.int32()).cast(pa.date32())
    odd = pa.array([None if i % 7 == 0 else i % 2 == 0 for i in range(table.num_rows)])
    more = alone.append_column("day", days).append_column("odd", odd)
    assert all(found.passed for found in audit(publish(more, generalize=True), read(more)))


def test_a_finding_passes_at_its_baseline_and_fails_above_it() -> None:
    assert Finding.of_share("a", 30, 100, 0.3, "").passed
    assert not Finding.of_share("a", 60, 100, 0.3, "").passed
    assert Finding.of_share("a", 0, 0, 0.0, "").passed


@pytest.fixture
def folder(table: pa.Table, tmp_path: Path) -> Path:
    pq.write_table(table, tmp_path / "t.parquet")
    listed = ", ".join(f'"{v}"' for v in VALUES)
    (tmp_path / "t.toml").write_text(
        f'table = "t.parquet"\n[privacy]\nretain = 0.5\n[columns.place]\nrole = "public"\n[columns.disease]\nrole = "sensitive"\nvalues = [{listed}]\n'
    )
    return tmp_path


def test_the_command_tests_a_table_before_and_a_release_after(folder: Path) -> None:
    before = scumble_command("audit", "--reconstruction", "t.toml", "--format", "json", cwd=folder)
    assert before.returncode == 1
    (found,) = json.loads(before.stdout)
    assert found["exact"]["v_g"] == 1.0
    assert 0 < found["chernoff"]["v_g"] < 1
    assert len(found["worst"]) == 10
    assert found["worst"][0]["exact"]["lower"] < found["worst"][0]["chernoff"]["lower"]
    text = scumble_command("audit", "--reconstruction", "t.toml", "--lambda", "0.2", cwd=folder).stdout
    assert "v_g = 100.00%" in text
    assert "lambda = 0.2" in text

    assert scumble_command("publish", "t.toml", "-o", "u.release", cwd=folder).returncode == 0
    after = scumble_command(
        "audit", "--reconstruction", "u.release", "--raw", "t.parquet", "--format", "json", cwd=folder
    )
    assert after.returncode == 1
    assert json.loads(after.stdout)[0]["exact"]["v_r"] == 1.0
    assert json.loads(scumble_command("audit", "--reconstruction", "u.release", "--format", "json", cwd=folder).stdout)[
        0
    ]["estimated"]

    assert (
        scumble_command(
            "publish", "t.toml", "-o", "s.release", "--mechanism", "sps", "--duplicates", cwd=folder
        ).returncode
        == 0
    )
    sound = scumble_command("audit", "s.release", "--raw", "t.parquet", cwd=folder)
    assert sound.returncode == 0, sound.stdout
    assert "baseline" in sound.stdout


def test_the_command_tells_what_noisy_answers_disclose(tmp_path: Path) -> None:
    disclosed = scumble_command("audit", "--ratio", "501", "420", "--epsilon", "0.5", "--format", "json", cwd=tmp_path)
    assert disclosed.returncode == 1
    found = json.loads(disclosed.stdout)
    assert found["ratio"] == pytest.approx(0.8383, abs=1e-4)
    assert found["expectation"] == pytest.approx(0.8384, abs=1e-4)
    assert found["simulated"]["median"] == pytest.approx(0.8383, abs=0.01)
    assert scumble_command("audit", "--ratio", "501", "420", "--epsilon", "1/100", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what to audit"),
        (["--ratio", "5", "4"], "needs --epsilon"),
        (["--ratio", "4", "5", "--epsilon", "1"], "0 <= y <= x"),
        (["nowhere.release"], "not a release"),
        (["--reconstruction", "t.toml", "--delta", "1"], "delta must lie in (0, 1)"),
        (["--reconstruction", "t.toml", "--lambda", "5"], "lambda must lie in (0, "),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], words: str, folder: Path) -> None:
    found = scumble_command("audit", *arguments, cwd=folder)
    assert found.returncode == 2
    assert words in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize("more", [{}, {"duplicates": True}])
def test_corruption_of_samples_is_looked_at(more: dict[str, Any], table: pa.Table) -> None:
    """Rows stand for the people of their group; taking the others away gives less than a known row would."""
    (found,) = (each for each in audit(publish(table, **more), table) if each.attack == "corruption")
    assert found.verdict == "holds"
    assert 0 < found.success < found.baseline


def test_samples_that_were_not_perturbed_fall_to_corruption(tmp_path: Path) -> None:
    """Groups of six are published whole; of true values the last one is always left. The release says that it does not protect from who knows the others."""
    draw = np.random.default_rng(1)
    rows = pa.table({"place": np.repeat(np.arange(400), 6), "disease": draw.choice(VALUES, 2400)})
    many = pa.table({"place": np.full(300, 400), "disease": draw.choice(VALUES, 300)})
    raw = pa.concat_tables([rows, many])
    release = publish(raw)
    folder = shutil.copytree(release.path, tmp_path / "a.release")
    true = raw.append_column("weight", pa.array(np.ones(2700)))
    true = true.take(pa.array(draw.permutation(2700))).select(release.table().column_names)
    pq.write_table(true.cast(release.table().schema), folder / "data.parquet")
    said = read_manifest(folder)
    files = [f for f in said.files if f.rows is None] + [file_record(folder, "data.parquet", 2700)]
    (folder / NAME).write_text(said.model_copy(update={"files": files, "rows": 2700}).text())
    found = {each.attack: each for each in audit(open_release(folder), raw)}
    assert found["corruption"].success == 1
    assert found["corruption"].verdict == "open"
    assert found["retention"].verdict == "broken"
