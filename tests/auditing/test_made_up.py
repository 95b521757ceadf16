"""Releases of the (alpha, beta) algorithm that publish more of the table, or make up less, than the manifest says.

About 290 and 1,500 true tuples in a domain of 3,000, seeds fixed; a sound release is called broken with probability at most 1e-5.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from auditing.attacked import people
from naming import publish_openly

from scumble.auditing import Finding, audit
from scumble.release.release import Release

Forge = Callable[[Release, pa.Table], Release]
DOMAINS = {"age": {"low": 0, "high": 99}, "zip": {"low": 0, "high": 29}}


def tuples(rows: int) -> pa.Table:
    return people(rows).group_by(["age", "zip"]).aggregate([])


def publish(table: pa.Table, seed: int = 1) -> Release:
    how = {"mechanism": "alpha_beta", "rho1": 0.1, "rho2": 0.5}
    return publish_openly(table, sensitive=["age", "zip"], domains=DOMAINS, seed=seed, **how)


def with_more(release: Release, more: pa.Table) -> pa.Table:
    """The published tuples and some others, each once, in the order of their values."""
    table = pa.concat_tables([release.table(), more.cast(release.table().schema)])
    return table.group_by(["age", "zip"]).aggregate([]).sort_by([("age", "ascending"), ("zip", "ascending")])


def retention(release: Release, raw: pa.Table) -> Finding:
    assert all(each.passed for each in audit(release))
    (found,) = audit(release, raw, only=["retention"])
    return found


def shared(release: Release, raw: pa.Table) -> np.ndarray:  # type: ignore[type-arg]
    """Which published tuples are true."""
    true = {tuple(row.values()) for row in raw.to_pylist()}
    return np.array([tuple(row.values()) in true for row in release.table().to_pylist()])


@pytest.mark.slow
@pytest.mark.parametrize("rows", [300, 2000])
def test_sound_releases_hold(rows: int) -> None:
    table = tuples(rows)
    for seed in range(10):
        assert retention(publish(table, seed), table).verdict == "holds"


def test_more_of_the_table_is_published(forge: Forge) -> None:
    """Every third true tuple, whatever the coins say."""
    table = tuples(2000)
    release = publish(table)
    third = table.take(pa.array(range(0, len(table), 3)))
    found = retention(forge(release, with_more(release, third)), table)
    assert found.verdict == "broken"
    assert found.baseline == pytest.approx(0.5)


def test_one_value_is_published_more_often(forge: Forge) -> None:
    table = tuples(2000)
    release = publish(table)
    one = table.filter(pa.compute.equal(table["zip"], 7))
    found = retention(forge(release, with_more(release, one)), table)
    assert found.verdict == "broken"
    assert "zip = 7" in found.detail


def test_half_of_the_made_up_tuples_are_missing(forge: Forge) -> None:
    """What is there is then true more often than is promised."""
    table = tuples(300)
    release = publish(table)
    left = shared(release, table) | (np.random.default_rng(1).random(release.manifest.rows) < 0.5)
    found = retention(forge(release, release.table().filter(pa.array(left))), table)
    assert found.verdict == "broken"
    assert "missing" in found.detail
