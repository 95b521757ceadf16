"""The audit of rare rows catches algorithms that publish them, and lets those pass that do not."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

from scumble.auditing import audit
from scumble.auditing.attacks.rare import duplicated, leaking, rare_rows
from scumble.core.entropy import Entropy
from scumble.sources.source import read

K = 5


@pytest.fixture(scope="module")
def raw() -> pa.Table:
    """10,000 people, most of whom are alone with their tuple."""
    draw = np.random.default_rng(1)
    return pa.table({"zip": draw.integers(0, 4000, 10_000), "age": draw.integers(0, 100, 10_000)})


def test_a_k_anonymous_table_that_publishes_every_row_is_caught(raw: pa.Table) -> None:
    published = duplicated(raw, K)
    counts = published.group_by(["zip", "age"]).aggregate([([], "count_all")])["count_all"].to_numpy()
    assert counts.min() >= K, "it is k-anonymous"
    finding = rare_rows(published, raw, K)
    assert not finding.passed
    assert finding.success == 1


def test_a_differentially_private_table_that_publishes_some_rows_is_caught(raw: pa.Table) -> None:
    """Each row with probability 0.01: about 100 people are published as they are (none with probability e^-100)."""
    published = leaking(raw, 0.01, Entropy.seeded(1).stream("leak"))
    finding = rare_rows(published, raw, K)
    assert not finding.passed
    assert finding.success == pytest.approx(0.01, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "settings", "epsilon"),
    [
        ("k_dgs", {"k": K}, None),
        ("noisy_counts", {"k": K, "delta": 0.01}, 2),
        ("columnized", {"k": K, "delta": 0.01, "schema": [["age"], ["zip", "age"]]}, 2),
    ],
)
def test_releases_pass_with_and_without_the_raw_table(
    raw: pa.Table, mechanism: str, settings: dict[str, Any], epsilon: Any
) -> None:
    release = publish_openly(
        raw,
        mechanism=mechanism,
        settings=settings,
        epsilon=epsilon,
        coarsen={"zip": {"bins": 500}, "age": {"bins": 10}},
        seed=1,
    )
    for table in (None, read(raw)):
        findings = audit(release, table)
        assert findings
        assert all(finding.passed for finding in findings)


def test_a_release_that_counts_every_tuple_of_a_domain_promises_no_k_and_breaks_none() -> None:
    """Tuples of one person are published with noise, as are tuples of nobody: neither linking nor rare rows is a breach."""
    draw = np.random.default_rng(2)
    people = pa.table({"zip": draw.integers(0, 40, 300), "age": draw.integers(0, 20, 300)})
    domains = {"zip": {"low": 0, "high": 39}, "age": {"low": 0, "high": 19}}
    release = publish_openly(
        people,
        mechanism="noisy_counts",
        settings={"matrix": "full"},
        epsilon=2,
        sensitive=["zip", "age"],
        domains=domains,
        seed=1,
    )
    for given in (None, people):
        found = {finding.attack: finding for finding in audit(release, given)}
        assert found.keys() >= {"linking", "rare rows"}
        assert [name for name, finding in found.items() if not finding.passed] == []
