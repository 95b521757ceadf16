"""Lines that are chosen by their estimates have intervals that hold for all that might have been chosen; answers are written in several formats."""

import csv
import io
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.forms import find_form
from scumble.query.ask import ask
from scumble.query.estimates import Estimates
from scumble.query.form_answer import Answer
from scumble.query.model import Query
from scumble.query.parse import parse
from scumble.query.rewrites import Recoding
from scumble.query.simultaneous import both_miss, level_of_each

COUNTS = "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease"
CHOSEN = {
    "ORDER BY n DESC LIMIT 2": "ORDER BY and LIMIT",
    "HAVING COUNT(*) > 400": "HAVING",
    "QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 2": "QUALIFY",
    "ORDER BY disease LIMIT 2": "",
    "ORDER BY n DESC": "",
    "HAVING disease = 'flu'": "",
    "LIMIT 2": "",
}


@pytest.mark.parametrize("clause", CHOSEN)
def test_lines_that_estimates_choose_have_wider_intervals_and_say_so(clause: str, release: scumble.Release) -> None:
    chosen = release.query(f"{COUNTS} {clause}")
    own, fifth = ({row["disease"]: row for row in release.query(COUNTS, level=level)} for level in (0.95, 0.99))
    assert chosen.level == 0.95
    for row in chosen:
        if CHOSEN[clause]:
            assert own[row["disease"]]["n_low"] > row["n_low"] >= fifth[row["disease"]]["n_low"] - 1e-6
        else:
            assert row["n_low"] == pytest.approx(own[row["disease"]]["n_low"], rel=1e-6)
    said = [note for note in chosen.notes if "hold together" in note]
    assert len(said) == bool(CHOSEN[clause])
    assert all(f"chosen by {CHOSEN[clause]} from 5" in note for note in said)


def test_lines_that_can_never_have_been_chosen_are_not_paid_for() -> None:
    """Three values are far ahead of 47 others: whoever asks for the first two chooses among the three."""
    values = [f"v{i}" for i in range(50)]
    table = pa.table({"v": np.repeat(values, [9000, 9100, 9200, *[10] * 47])})
    release = publish_openly(table, sensitive="v", domains={"v": values}, retain=0.7, seed=4)
    first = release.query("SELECT v, COUNT(*) AS n FROM release GROUP BY v ORDER BY n DESC LIMIT 2")
    assert "from 50, the luckiest first, and 3 might have been chosen" in first.notes[-1]
    assert "each with 98.5%" in first.notes[-1]  # 0.9 of 0.05, for three
    last = release.query("SELECT v, COUNT(*) AS n FROM release GROUP BY v ORDER BY n LIMIT 2")
    assert "and 47 might have been chosen" in last.notes[-1]
    having = release.query(
        "SELECT v, COUNT(*) AS n FROM release GROUP BY v HAVING COUNT(*) > 5000 AND NOT COUNT(*) < 2"
    )
    assert "and 3 might have been chosen" in having.notes[-1]


def test_groupings_that_are_ranked_together_hold_together(release: scumble.Release) -> None:
    answer = release.query(
        "SELECT disease, smoker, COUNT(*) AS n FROM release GROUP BY CUBE (disease, smoker) ORDER BY n DESC LIMIT 3"
    )
    assert "chosen by ORDER BY and LIMIT from 18" in answer.notes[-1]
    parts = "SELECT 'a' AS w, disease, COUNT(*) AS n FROM release GROUP BY disease UNION ALL SELECT 'b', disease, COUNT(*) FROM release WHERE smoker GROUP BY disease ORDER BY n LIMIT 3"
    assert "chosen by ORDER BY and LIMIT from 10" in release.query(parts).notes[-1]


def test_all_lines_hold_together_on_request(release: scumble.Release) -> None:
    answer = release.query(COUNTS, simultaneous=True)
    assert answer["n"].low == pytest.approx(release.query(COUNTS, level=0.99)["n"].low)
    assert "each with 99%" in answer.notes[-1]


def test_columns_that_say_the_same_are_paid_for_once(release: scumble.Release) -> None:
    """A share of all rows has the error of its count; an average of something else has its own."""
    both = "SELECT disease, COUNT(*) AS n, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS p FROM release GROUP BY disease"
    assert "each with 99%" in release.query(both, simultaneous=True).notes[-1]
    other = "SELECT disease, COUNT(*) AS n, 1.0 * SUM(visits) AS p FROM release GROUP BY disease"
    level = float(release.query(other, simultaneous=True).notes[-1].split("each with ")[1].rstrip("%"))
    assert 99 < level < 99.5


def test_exact_lines_need_nothing(release: scumble.Release) -> None:
    answer = release.query("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex ORDER BY n DESC LIMIT 1")
    assert answer.notes == []


def test_the_bound_of_hunter_and_worsley_lies_between_one_column_and_bonferroni() -> None:
    alone, bonferroni = 1 - 0.05 / 7, 1 - 0.05 / 21
    levels = [
        level_of_each(0.05, 7, 3, np.full((3, 3, 7), r) + (1 - r) * np.eye(3)[..., None]) for r in (0, 0.5, 0.9, 1)
    ]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] <= bonferroni
    assert levels[-1] == pytest.approx(alone, abs=1e-9)
    draws = np.random.default_rng(1).multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 400_000)
    share = float(np.mean((np.abs(draws) > 1.5).all(axis=1)))
    assert share == pytest.approx(float(both_miss(1.5, np.array([0.8]))[0]), abs=5 * np.sqrt(0.08 / 400_000))


RUNS, MISSED = 600, 60
"""At 95% more than 60 misses of 600 happen once in 10^7 tables (Bin(600, 0.05)); at 86% nearly always."""
TOP = ["ORDER BY n DESC LIMIT 5", "HAVING COUNT(*) > 60"]
VALUES = [f"v{i}" for i in range(40)]
COUNTED = np.rint(800 / np.arange(3, 43) / np.sum(1 / np.arange(3, 43))).astype(int)


class Repeated:
    """The same 800 rows of 40 values so many times, published with coins of their own: what each publication answers by itself, from one question to all."""

    def __init__(self) -> None:
        rows = np.repeat(VALUES, COUNTED)
        table = pa.table({"v": np.tile(rows, RUNS), "run": np.arange(RUNS).repeat(len(rows))})
        release = publish_openly(table, sensitive="v", domains={"v": VALUES}, retain=0.3, seed=5)
        query = parse("SELECT run, v, COUNT(*) AS n FROM release GROUP BY run, v", ["run", "v"])
        self._at = {0.95: find_form("rows").answer(release, query, 0.95, "unbiased")}

    def answer(self, run: int, level: float, query: Query) -> Answer:
        """The lines of one publication."""
        if level not in self._at:
            again = self._at[0.95].at
            assert again is not None
            self._at[level] = again(level)
        lines = self._at[level].estimates.take(np.arange(run * 40, run * 40 + 40))
        counts = replace(lines.estimates[0], name=query.aggregates[0].name)
        names = [output.name for output in query.outputs]
        estimates = Estimates(names, lines.groups.select(["v"]), [counts], level, [])
        return Answer(estimates, at=lambda other: self.answer(run, other, query))


@pytest.fixture(scope="module")
def repeated() -> Repeated:
    return Repeated()


@pytest.mark.slow
@pytest.mark.parametrize("clause", TOP)
def test_all_lines_of_a_top_list_hold_together(clause: str, repeated: Repeated) -> None:
    """And the intervals of single lines do not: that is what they are wider for."""
    true = dict(zip(VALUES, COUNTED.tolist(), strict=True))
    sql = "SELECT v, COUNT(*) AS n FROM release GROUP BY v"
    misses = {"together": 0, "alone": 0}
    for run in range(RUNS):
        answer = partial(repeated.answer, run, 0.95)
        chosen = list(ask(f"{sql} {clause}", ["v", "run"], Recoding(), answer))
        alone = {row["v"]: row for row in ask(sql, ["v", "run"], Recoding(), answer)}
        misses["together"] += not all(row["n_low"] <= true[row["v"]] <= row["n_high"] for row in chosen)
        misses["alone"] += not all(alone[v]["n_low"] <= true[v] <= alone[v]["n_high"] for v in (r["v"] for r in chosen))
    assert misses["together"] <= MISSED
    assert misses["alone"] > MISSED


def test_formats_hold_the_same_numbers(release: scumble.Release) -> None:
    answer: Any = release.query("SELECT disease, COUNT(*) AS n, AVG(visits) AS v FROM release GROUP BY disease")
    rows = list(csv.DictReader(io.StringIO(answer.to_csv())))
    assert [float(row["n_high"]) for row in rows] == pytest.approx([row["n_high"] for row in answer])
    lines = answer.to_markdown().splitlines()
    assert lines[0].startswith("| disease | n | ± se | 95% interval")
    assert len(lines) == 7
