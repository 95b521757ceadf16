"""Counts with noise: one noise for two tables, and the seeds that are tried. Seeds fixed; a sound release is called broken with probability at most 1e-5."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from auditing.planted import small_seed_of_counts
from naming import publish_openly

from scumble.auditing import case_of, run
from scumble.auditing.attacks import seeds
from scumble.auditing.evidence import excerpt
from scumble.auditing.evidence.excerpt import Excerpt
from scumble.auditing.evidence.tuple_counts import declared_tuples
from scumble.auditing.finding import Finding
from scumble.core.entropy import Entropy, Stream
from scumble.core.errors import ParameterError
from scumble.forms.records import DomainRecord
from scumble.forms.tuples.record import Full

VALUES = 300


def shuffled(seed: int) -> tuple[list[int], list[int]]:
    """A domain in any order, and the values of it that people have: three in ten have none."""
    draw = np.random.default_rng(seed)
    domain = draw.permutation(VALUES).tolist()
    return domain, draw.choice(domain, VALUES * 7 // 10, replace=False).tolist()


def noise_of_two_tables() -> Finding:
    """6,000 people, counted by two columns."""
    parts, draw = {name: shuffled(seed) for seed, name in enumerate("ab")}, np.random.default_rng(5)
    raw = pa.table({name: draw.choice(there, 6000) for name, (_, there) in parts.items()})
    release = publish_openly(
        raw,
        seed=3,
        mechanism="marginals",
        epsilon=0.5,
        sensitive=["a", "b"],
        domains={name: domain for name, (domain, _) in parts.items()},
        settings={"marginals": [["a"], ["b"]]},
    )
    (found,) = run(case_of(release, raw), only=["noise"])
    return found


@pytest.mark.filterwarnings("ignore")
def test_one_noise_for_two_tables_is_found_by_the_places_in_the_domain() -> None:
    """It is drawn for all values, of anybody or nobody, in the order in which they were declared."""
    original = Entropy.stream

    def stream(self: Entropy, *name: str | int) -> Stream:
        return original(self, *name[:1] if name[0] == "counts" else name)

    assert noise_of_two_tables().verdict == "holds"
    with patch.object(Entropy, "stream", stream):
        found = noise_of_two_tables()
    assert found.verdict == "broken"
    assert "the same tuple, of" in found.detail


@pytest.mark.filterwarnings("ignore")
def test_small_numbers_are_tried_however_many_counts_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed is 12: 13 numbers are enough, whatever time it is."""
    planted = small_seed_of_counts(1000, 1)
    case = case_of(planted.release, planted.raw)
    tuples = declared_tuples(case, planted.release.manifest.form.counting_of(0))  # type: ignore[attr-defined]
    monkeypatch.setattr(seeds, "WORK", 13 * tuples)
    (found,) = run(case, only=["seeds"])
    assert found.verdict == "broken"
    monkeypatch.setattr(seeds, "WORK", 12 * tuples)
    (found,) = run(case, only=["seeds"])
    assert found.verdict == "holds"
    assert "none of 24 small numbers" in found.detail


@pytest.mark.filterwarnings("ignore")
def test_of_an_excerpt_no_seed_is_tried_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """No seed makes some of the counts, not even the right one."""
    monkeypatch.setattr(excerpt, "MOST_ROWS", 300)
    planted = small_seed_of_counts(1000, 1)
    (found,) = run(case_of(planted.release, planted.raw, seed=1), only=["seeds"])
    assert found.verdict == "holds"
    assert found.detail.startswith("no seed was tried")


@pytest.mark.parametrize("bits", [0, 1])
def test_a_domain_that_cannot_be_listed_is_refused_and_not_built(bits: int) -> None:
    """A manifest may say anything."""
    wide = DomainRecord(kind="grid", low="0", high="8999999", step="1")
    columns = [SimpleNamespace(name=name, type="int64") for name in "ab"]
    publication = SimpleNamespace(manifest=SimpleNamespace(columns=columns), excerpt=Excerpt(["a"], bits))
    case: Any = SimpleNamespace(publication=publication)
    with pytest.raises(ParameterError, match="81,000,000,000,000 tuples"):
        declared_tuples(case, Full(epsilon=1, domains={"a": wide, "b": wide}))
