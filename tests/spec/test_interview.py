"""The questions of init: those in doubt first, back and forth, and a spec as if the roles had been written by hand."""

import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from scumble.sources.source import read
from scumble.spec.interview import MEANINGS, Question, Step, interview
from scumble.spec.spec import Role, read_spec
from scumble.spec.suggest import Suggestion, suggestions, written

ROWS = 400


def columns() -> list[Suggestion]:
    rng = np.random.default_rng(1)
    table = {
        "patient_nbr": [f"P-{7919 * i % 100_003:06}" for i in range(ROWS)],
        "sex": rng.choice(["m", "f"], ROWS),
        "lab": rng.integers(0, 40, ROWS),
        "disease": rng.choice(["flu", "cold"], ROWS),
        "zip": rng.choice(["10115", "80331", "20095"], ROWS),
    }
    return suggestions(read(pa.table(table)))


def answering(*answers: Role | Step, asked: list[Question] | None = None) -> list[Suggestion] | None:
    left = list(answers)

    def ask(question: Question) -> Role | Step:
        if asked is not None:
            asked.append(question)
        return left.pop(0) if left else question.chosen

    return interview(columns(), ask)


def roles(chosen: list[Suggestion] | None) -> dict[str, str]:
    assert chosen is not None
    return {column.seen.name: column.role for column in chosen}


def test_columns_in_doubt_come_first_and_the_spec_keeps_the_order_of_the_table() -> None:
    asked: list[Question] = []
    chosen = answering(asked=asked)
    doubts = [question.column.role == "?" for question in asked]
    assert doubts == sorted(doubts, reverse=True)
    assert any(doubts)
    assert list(roles(chosen)) == [column.seen.name for column in columns()]


def test_nothing_but_enter_leaves_every_suggestion_as_it_is_doubts_too() -> None:
    assert answering() == columns()


def test_back_asks_again_with_what_was_chosen() -> None:
    asked: list[Question] = []
    chosen = answering("back", "dropped", "back", "public", asked=asked)
    assert [question.number for question in asked[:4]] == [1, 1, 2, 1]
    assert asked[3].chosen == "dropped"
    assert roles(chosen)[asked[0].column.seen.name] == "public"


def test_quit_gives_nothing_and_rest_keeps_what_was_not_asked() -> None:
    assert answering("public", "quit") is None
    asked: list[Question] = []
    chosen = answering("sensitive", "rest", asked=asked)
    first = asked[0].column.seen.name
    assert roles(chosen) == {**roles(columns()), first: "sensitive"}


@pytest.mark.parametrize("role", MEANINGS)
def test_the_spec_is_the_one_that_is_written_by_hand(tmp_path: Path, role: Role) -> None:
    """Of a suggested spec the line of the role is edited, and a domain is there where the column is sensitive."""
    asked: list[Question] = []
    chosen = answering(role, asked=asked)
    assert chosen is not None
    name = asked[0].column.seen.name
    text = written("t.csv", chosen)
    by_hand = tomllib.loads(written("t.csv", columns()))
    made = tomllib.loads(text)
    by_hand["columns"][name]["role"] = role
    column = made["columns"][name]
    added = {key: column.pop(key) for key in set(column) - set(by_hand["columns"][name])}
    assert set(added) <= ({"from_data", "values", "low", "high", "step"} if role == "sensitive" else {"coarsen"})
    assert bool(added) >= (role == "sensitive")
    assert made == by_hand
    (tmp_path / "t.toml").write_text(text)
    assert read_spec(tmp_path / "t.toml").columns[name].role == role


def test_a_column_without_a_domain_is_not_given_half_a_one() -> None:
    """Over 500 texts: the spec says what is missing, and the question says it before."""
    table = pa.table({"diagnosis": [f"note {i} of many" for i in range(900)], "sex": ["m", "f", "f"] * 300})
    asked: list[Question] = []

    def ask(question: Question) -> Role | Step:
        asked.append(question)
        return "sensitive" if question.column.seen.name == "diagnosis" else question.chosen

    text = written("t.csv", interview(suggestions(read(table)), ask) or [])
    assert "cannot be listed" in next(q for q in asked if q.column.seen.name == "diagnosis").meaning("sensitive")
    assert "Give it a domain" in text
    assert "values" not in tomllib.loads(text)["columns"]["diagnosis"]


def test_a_question_shows_the_column_its_type_its_values_and_why() -> None:
    asked: list[Question] = []
    answering(asked=asked)
    shown = "\n".join(next(q for q in asked if q.column.seen.name == "zip").lines)
    for part in ("zip", "string", "10115", "post code", "suggested  ?"):
        assert part in shown
