"""Which rows of a large table an audit looks at: nobody knows beforehand, and a seed repeats it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from auditing.attacked import people, publish

from scumble.auditing import case_of
from scumble.auditing.evidence import excerpt
from scumble.auditing.evidence.excerpt import Excerpt

TABLE = pa.table({"age": np.arange(4000) % 400, "town": [f"town {n % 7}" for n in range(4000)]})


def test_a_choice_is_drawn_afresh_and_repeated_by_its_salt() -> None:
    """Of 400 groups of which one in 4 is taken, two choices are the same with probability below 1e-100."""
    one, other = (Excerpt(["age", "town"], 2).rows(TABLE) for _ in range(2))
    assert not np.array_equal(one, other)
    again = [Excerpt(["age", "town"], 2, salt=7).rows(TABLE).tolist() for _ in range(2)]
    assert again[0] == again[1]


def test_alike_rows_come_together_and_about_as_many_as_were_asked_for() -> None:
    """400 groups of 10 rows, one in 4: 60 to 140 of them but with probability below 1e-5."""
    chosen = Excerpt(["age"], 2, salt=11).rows(TABLE)
    ages, times = np.unique(np.asarray(TABLE["age"])[chosen], return_counts=True)
    assert set(times.tolist()) == {10}
    assert 60 <= len(ages) <= 140


@pytest.mark.filterwarnings("ignore")
def test_a_seed_repeats_which_people_are_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Raw table and release are taken by the same choice, so that people meet their rows."""
    monkeypatch.setattr(excerpt, "MOST_ROWS", 500)
    raw = people(2000)
    release = publish(raw, "uniform", 1)
    first, again, other = (case_of(release, raw, seed=seed) for seed in (1, 1, 2))
    assert first.publication.table.equals(again.publication.table)
    assert not first.publication.table.equals(other.publication.table)
    assert 0 < first.publication.table.num_rows < 2000
    assert len(first.known[0]) > 0
