"""Lines that are chosen by their estimates have intervals that hold for all that were chosen from; answers are written in several formats."""

import csv
import io

import pytest

import scumble

COUNTS = "SELECT disease, COUNT(*) AS n, AVG(visits) AS v FROM release GROUP BY disease"
CHOSEN = {
    "ORDER BY n DESC LIMIT 2": "ORDER BY and LIMIT",
    "HAVING COUNT(*) > 400": "HAVING",
    "QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 2": "QUALIFY",
}


@pytest.mark.parametrize("clause", CHOSEN)
def test_what_is_chosen_from_five_lines_has_the_interval_of_a_fifth_of_the_misses(
    clause: str, release: scumble.Release
) -> None:
    chosen, all_lines = release.query(f"{COUNTS} {clause}"), release.query(COUNTS, level=0.99)
    assert len(chosen) < 5
    assert chosen.level == 0.95
    wide = {row["disease"]: row for row in all_lines}
    for row in chosen:
        for name in ("n_low", "n_high", "v_low", "v_high"):
            assert row[name] == pytest.approx(wide[row["disease"]][name], rel=1e-6)
    assert any(f"chosen by {CHOSEN[clause]} from 5" in note for note in chosen.notes)


@pytest.mark.parametrize("clause", ["ORDER BY disease LIMIT 2", "ORDER BY n DESC", "HAVING disease = 'flu'", "LIMIT 2"])
def test_what_no_estimate_chose_has_its_own_interval(clause: str, release: scumble.Release) -> None:
    wide = {row["disease"]: row for row in release.query(COUNTS)}
    answer = release.query(f"{COUNTS} {clause}")
    for row in answer:
        assert row["n_low"] == pytest.approx(wide[row["disease"]]["n_low"], rel=1e-6)
    assert not any("hold together" in note for note in answer.notes)


def test_all_lines_hold_together_on_request(release: scumble.Release) -> None:
    answer = release.query(COUNTS, simultaneous=True)
    assert answer["n"].low == pytest.approx(release.query(COUNTS, level=0.99)["n"].low)
    assert "each with 99%" in answer.notes[-1]


def test_exact_lines_need_nothing(release: scumble.Release) -> None:
    answer = release.query("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex ORDER BY n DESC LIMIT 1")
    assert answer.notes == []


def test_formats_hold_the_same_numbers(release: scumble.Release) -> None:
    answer = release.query(COUNTS)
    rows = list(csv.DictReader(io.StringIO(answer.to_csv())))
    assert [float(row["n_high"]) for row in rows] == pytest.approx([row["n_high"] for row in answer])
    lines = answer.to_markdown().splitlines()
    assert lines[0].startswith("| disease | n | ± se | 95% interval")
    assert len(lines) == 7
