"""Which rows of a large table an audit looks at: nobody knows beforehand, and a seed repeats it."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from auditing.attacked import people, publish
from naming import publish_openly

from scumble.auditing import case_of, run
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


def test_a_table_of_another_tool_is_looked_at_whole_up_to_a_million_rows() -> None:
    """How many rows it has is known when it was read."""
    case = case_of(TABLE, TABLE, quasi=["age"], sensitive=["town"])
    assert case.publication.excerpt.whole
    assert case.publication.table.num_rows == len(case.place) == 4000


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


def frequent(rows: int = 3000) -> pa.Table:
    """Of whom six in ten have the first value: where it is in an excerpt, that is too large."""
    draw = np.random.default_rng(1)
    days = np.where(draw.random(rows) < 0.6, 0, draw.integers(1, 50, rows))
    return pa.table({"d": days, "h": draw.integers(0, 100, rows)})


BOTH = {"d": {"low": 0, "high": 49}, "h": {"low": 0, "high": 99}}
TABLES = {
    "mechanism": "marginals",
    "epsilon": 8.0,
    "sensitive": ["d", "h"],
    "domains": BOTH,
    "settings": {"marginals": [["h", "d"], ["d"]]},
}
ROWS = {"sensitive": "h", "domains": {"h": BOTH["h"]}, "retain": 0.4}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", [TABLES, ROWS], ids=["tables", "rows"])
def test_where_one_table_is_too_large_all_are_thinned_as_it_is(
    monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    """Where a choice has the frequent day, most of these do, raw table and release are thinned alike, and a sound release is not broken: 1e-5 for each."""
    monkeypatch.setattr(excerpt, "MOST_ROWS", 800)
    raw = frequent()
    release = publish_openly(raw, seed=1, **how)
    first = Excerpt.of(["d"], release.manifest.rows).bits
    thinned = 0
    for seed in (0, 1, 3, 15, 19):
        case = case_of(release, raw, seed=seed)
        chosen = case.publication.excerpt
        if chosen.bits == first:
            continue
        thinned += 1
        for table, place in zip(case.publication.tables, case.publication.places, strict=True):
            assert len(chosen.by(table.column_names).rows(table)) == table.num_rows == len(place)
        assert all(found.verdict == "holds" for found in run(case, only=["noise", "law"]))
    assert thinned >= 3


@pytest.mark.filterwarnings("ignore")
def test_two_releases_are_thinned_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one is too large, and the first one was read before it."""
    monkeypatch.setattr(excerpt, "MOST_ROWS", 800)
    raw = frequent()
    few, many = (publish_openly(table, seed=1, **ROWS) for table in (raw.filter(pc.not_equal(raw["d"], 0)), raw))
    thinned = 0
    for seed in (0, 1, 3, 15, 19):
        case = case_of(few, None, [many], seed=seed)
        thinned += case.publication.excerpt.bits > 2
        for one in (case.publication, *case.others):
            assert len(case.publication.excerpt.rows(one.table)) == one.table.num_rows
    assert thinned >= 3
