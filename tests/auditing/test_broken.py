"""Releases that are broken on purpose are caught, each by its own attack; the same releases unbroken are in test_sound."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from auditing.attacked import JOBS, ONE, in_order_of, people, publish, write_parquet
from naming import publish_openly

from scumble.auditing import Finding, audit
from scumble.auditing.attacks.rare import duplicated
from scumble.core.design import Design
from scumble.release.manifest import NAME, read_manifest
from scumble.release.release import Release, open_release

pytestmark = pytest.mark.slow

Forge = Callable[[Release, pa.Table], Release]


def caught(*arguments: Any, **options: Any) -> dict[str, Finding]:
    """The attacks that succeed."""
    return {found.attack: found for found in audit(*arguments, **options) if found.verdict != "holds"}


def broken(*arguments: Any, **options: Any) -> set[str]:
    """The names of those that succeed against what was promised."""
    return {found.attack for found in audit(*arguments, **options) if found.verdict == "broken"}


@pytest.mark.parametrize("how", ["uniform that keeps little", "uniform", "identity", "swapped"])
def test_a_channel_weaker_than_the_manifest(how: str, raw: pa.Table, forge: Forge) -> None:
    """15 points more are kept than the manifest says."""
    release = publish(raw, how, 1)
    weaker = publish(raw, how, 2, retain=0.2 if how == "uniform that keeps little" else 0.55)
    found = broken(forge(release, weaker.table()), raw)
    assert "retention" in found
    assert found <= {"retention", "law", "coins", "inference", "corruption", "whole rows"}


@pytest.mark.parametrize("how", ["fine_grain", "partitioned"])
def test_values_that_were_not_perturbed(how: str, raw: pa.Table, forge: Forge) -> None:
    """Every third row has its true value, whatever the coins of its value or of its sub-table say."""
    release = publish(raw, how, 1)
    (name,) = release.manifest.sensitive
    table = in_order_of(raw, release, np.arange(len(raw), dtype=float))
    values = table[name].to_pylist()
    values[::3] = raw[name].to_pylist()[::3]
    table = table.set_column(table.column_names.index(name), name, pa.array(values))
    found = broken(forge(release, table.take(pa.array(np.random.default_rng(1).permutation(len(table))))), raw)
    assert "retention" in found
    assert found <= {"retention", "law", "coins", "inference", "corruption"}


def test_a_channel_that_was_not_applied_shows_without_the_raw_table(raw: pa.Table, forge: Forge) -> None:
    release = publish(raw, "uniform", 1, **ONE)
    assert broken(forge(release, publish(raw, "uniform", 1, **ONE, retain=0.9).table())) == {"retention"}


def test_codes_that_hold_the_true_value_too_often(raw: pa.Table, forge: Forge) -> None:
    """Codes of gamma = 400 under a manifest of gamma = 3: who reads them as the likeliest value is right too often."""
    release = publish(raw, "design", 1, sensitive="job", domains={"job": JOBS}, drop=["disease", "visits"], gamma=3)
    design = release.manifest.channels["job"]
    assert isinstance(design, Design)
    matrix, draw = Design(len(JOBS), 400, design.blocks).matrix(), np.random.default_rng(1)
    codes = [draw.choice(design.codes, p=matrix[:, job]) for job in raw.column("job").to_pylist()]
    table = release.table()
    columns = {name: codes if name == "job" else raw.column(name).to_pylist() for name in table.column_names}
    rows = pa.table(columns, schema=table.schema).take(pa.array(draw.permutation(len(codes))))
    assert {"retention", "law"} <= broken(forge(release, rows), raw)


def test_rows_in_the_order_of_the_source(raw: pa.Table, forge: Forge) -> None:
    release = publish(raw, "uniform", 1)
    assert broken(forge(release, in_order_of(raw, release, np.arange(len(raw), dtype=float))), raw) == {"order"}


@pytest.mark.parametrize("given", [True, False])
def test_rows_in_the_order_of_the_true_values(given: bool, raw: pa.Table, forge: Forge) -> None:
    """Sorted by diagnosis before the coins fell: neighbours are alike, and the raw table is not needed to see it."""
    release = publish(raw, "uniform", 1)
    _, order = np.unique(raw.column("disease").to_numpy(zero_copy_only=False), return_inverse=True)
    sorted_rows = forge(release, in_order_of(raw, release, order + np.random.default_rng(1).random(len(raw))))
    assert broken(sorted_rows, raw if given else None) == {"order"}


def test_rows_in_an_order_that_tells_which_were_replaced(raw: pa.Table, forge: Forge) -> None:
    release = publish(raw, "uniform", 1)
    table = in_order_of(raw, release, np.arange(len(raw), dtype=float))
    kept = np.array([a == b for a, b in zip(table["disease"].to_pylist(), raw["disease"].to_pylist(), strict=True)])
    draw = np.random.default_rng(1)
    told = table.take(pa.array(np.argsort(kept + 0.5 * draw.random(len(kept)))))
    assert "order" in broken(forge(release, told), raw)


@pytest.mark.parametrize("disguise", ["number", "from 1000 in tens", "text", "md5", "sha256"])
@pytest.mark.parametrize("given", [True, False])
def test_a_leaked_index(disguise: str, given: bool, raw: pa.Table) -> None:
    """The release is shuffled, and its index puts it back into the order of the source."""
    numbers = np.arange(len(raw))
    column: Any = {
        "number": numbers,
        "from 1000 in tens": 1000 + 10 * numbers,
        "text": [f"row-{i:06d}" for i in numbers],
        "md5": [hashlib.md5(str(i).encode()).hexdigest() for i in numbers],
        "sha256": [hashlib.sha256(str(i).encode()).hexdigest() for i in numbers],
    }[disguise]
    table = raw.append_column("key", pa.array(column))
    release = publish(table, "uniform", 1, public=["age", "sex", "zip", "key"])
    assert broken(release, table if given else None) == {"leaked index"}


def test_an_index_that_the_publisher_added(raw: pa.Table, tmp_path: Path) -> None:
    """Jumbled a little, so that it is no plain sequence: it goes with the order of the raw table all the same."""
    draw = np.random.default_rng(1)
    order = draw.permutation(len(raw))
    key = np.cumsum(draw.integers(1, 50, len(raw)))
    path = write_parquet(raw.append_column("key", pa.array(key)).take(pa.array(order)), tmp_path / "t.parquet")
    found = {f.attack: f for f in audit(path, raw, quasi=["age", "sex", "zip"], sensitive=["disease"])}
    assert found["leaked index"].verdict == "broken"
    assert found["order"].verdict == "holds"


def test_an_id_that_is_a_random_number_is_no_index(raw: pa.Table) -> None:
    table = raw.append_column("key", pa.array(np.random.default_rng(1).integers(0, 2**40, len(raw))))
    assert broken(publish(table, "uniform", 1, public=["age", "sex", "zip", "key"]), table) == set()


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("how", ["uniform", "identity", "fine_grain", "partitioned"])
def test_fresh_coins_twice(how: str, given: bool, raw: pa.Table) -> None:
    found = caught(publish(raw, how, 1), raw if given else None, others=[publish(raw, how, 2)])
    assert found["averaging"].verdict == "broken"
    assert {name for name, each in found.items() if each.verdict == "broken"} <= {"averaging", "linkability by values"}


def test_more_releases_tell_more(raw: pa.Table) -> None:
    two, six = (
        caught(
            publish(raw, "uniform", 1),
            raw,
            others=[publish(raw, "uniform", s) for s in range(2, 1 + n)],
            only=["averaging"],
        )["averaging"]
        for n in (2, 6)
    )
    assert two.baseline < two.success < six.success
    assert six.success > 0.8


@pytest.mark.parametrize("changed", [0.0, 0.02])
@pytest.mark.parametrize("given", [True, False])
def test_keyed_coins_are_not_averaged(changed: float, given: bool, raw: pa.Table) -> None:
    """Also where some people have another value by the second time."""
    table = raw.append_column("id", pa.array(np.arange(len(raw))))
    later = np.where(
        np.random.default_rng(1).random(len(raw)) < changed, "flu", raw["disease"].to_numpy(zero_copy_only=False)
    )
    again = table.set_column(3, "disease", pa.array(later))
    key = bytes(range(32))
    first, second = (
        publish_openly(t, **ONE, retain=0.4, key=key, id="id", seed=s) for s, t in ((1, table), (2, again))
    )
    found = caught(first, raw if given else None, others=[second])
    assert "averaging" not in found
    assert {each.verdict for each in found.values()} == {"open"}


@pytest.mark.parametrize("given", [True, False])
def test_anatomy_under_corruption(given: bool, raw: pa.Table) -> None:
    """The release says so itself, so it is open; and the attack gets everybody."""
    found = caught(publish(raw, "anatomy", 1), raw if given else None, only=["corruption"])["corruption"]
    assert found.success == 1
    assert found.baseline == pytest.approx(1 / 3, abs=0.01)
    assert found.verdict == "open"
    assert found.uncovered.startswith("Corruption")


@pytest.mark.parametrize("given", [True, False])
def test_buckets_of_fewer_values_than_the_manifest_says(given: bool, raw: pa.Table, tmp_path: Path) -> None:
    made = publish(raw, "anatomy", 1, settings={"l": 2}).path
    folder = shutil.copytree(made, tmp_path / "a.release")
    said = read_manifest(folder)
    claimed = said.model_copy(update={"form": said.form.model_copy(update={"diversity": 3})})
    (folder / NAME).write_text(claimed.text())
    found = broken(open_release(folder), raw if given else None)
    assert found == {"inference", "claims", "bytes"}, "the page is not of this manifest"


@pytest.mark.parametrize("given", [True, False])
def test_swapped_values_under_corruption(given: bool, raw: pa.Table) -> None:
    """Their counts are the true ones, so the whole table but one person tells that person's; the release says so."""
    found = caught(publish(raw, "swapped", 1), raw if given else None, only=["corruption"])["corruption"]
    assert found.success == 1
    assert found.baseline == pytest.approx(0.4 + 0.6 * 0.2, abs=0.03)
    assert found.verdict == "open"
    assert found.uncovered.startswith("Corruption")


def test_identity_perturbation_does_not_keep_counts(raw: pa.Table) -> None:
    """3,000 draws from 8 values: all counts are the true ones with probability below 1e-6."""
    release = publish(raw, "identity", 1)
    published, true = (sorted(table["disease"].to_pylist()) for table in (release.table(), raw))
    assert published != true
    assert not release.manifest.not_covered[-1].startswith("Corruption")


@pytest.mark.parametrize("how", ["uniform", "fine_grain", "identity", "partitioned"])
def test_corruption_does_not_help_on_perturbation(how: str, raw: pa.Table) -> None:
    (found,) = audit(publish(raw, how, 1), raw, only=["corruption"])
    assert found.verdict == "holds"
    assert found.success < found.baseline


@pytest.mark.parametrize("given", [True, False])
def test_records_that_stand_k_times(given: bool, raw: pa.Table, forge: Forge) -> None:
    release = publish(raw, "uniform", 1)
    thrice = pa.concat_tables([release.table()] * 3)
    shuffled = thrice.take(pa.array(np.random.default_rng(1).permutation(len(thrice))))
    found = broken(forge(release, shuffled), raw if given else None)
    assert "duplicates" in found
    assert found <= {"duplicates", "law"}


def test_a_table_is_k_anonymous_because_it_repeats_itself(raw: pa.Table, tmp_path: Path) -> None:
    table = duplicated(raw.select(["age", "sex", "zip", "disease"]), 5)
    table = table.take(pa.array(np.random.default_rng(1).permutation(len(table))))
    pa.csv.write_csv(table, tmp_path / "t.csv")
    found = caught(tmp_path / "t.csv", quasi=["age", "sex", "zip"], sensitive=["disease"])
    assert "crowds" not in found, "every row has four others like it"
    assert found["duplicates"].success == pytest.approx(0.8)


def test_a_tuple_of_alpha_beta_that_is_there_twice(forge: Forge) -> None:
    table = people(300).group_by(["age", "zip"]).aggregate([])
    domains = {"age": {"low": 0, "high": 99}, "zip": {"low": 0, "high": 29}}
    release = publish_openly(
        table, sensitive=["age", "zip"], domains=domains, mechanism="alpha_beta", rho1=0.1, rho2=0.5, seed=1
    )
    assert broken(release, table) == set()
    twice = pa.concat_tables([release.table(), release.table().slice(0, 7)]).sort_by(
        [("age", "ascending"), ("zip", "ascending")]
    )
    found = caught(forge(release, twice))["duplicates"]
    assert found.success == pytest.approx(7 / release.manifest.rows)


def test_rare_tuples_in_a_release_that_promises_crowds(raw: pa.Table, forge: Forge) -> None:
    release = publish(raw, "k_dgs", 1)
    one = release.table().slice(0, 1).set_column(0, "age", pa.array([95])).cast(release.table().schema)
    assert {"rare rows", "linking"} <= broken(forge(release, pa.concat_tables([release.table(), one])))
