"""An answer is a table of rows: it has a length, an order, and a dictionary for each row."""

import pytest

import scumble

SQL = "SELECT sex, COUNT(*) AS n, AVG(visits) AS mean FROM release GROUP BY sex ORDER BY sex"


def test_an_answer_iterates_over_its_rows_as_dictionaries(release: scumble.Release) -> None:
    answer = release.query(SQL)
    rows = list(answer)
    assert rows == answer.to_list()
    assert len(answer) == len(rows) == 2
    assert [row["sex"] for row in rows] == ["F", "M"]
    assert rows[0].keys() >= {"n", "n_se", "n_low", "n_high", "mean", "mean_se", "mean_low", "mean_high"}


def test_an_answer_gives_a_row_by_its_place_and_an_estimate_by_its_name(release: scumble.Release) -> None:
    answer = release.query(SQL)
    assert answer[0]["sex"] == "F"
    assert answer[-1] == list(answer)[1]
    assert answer["n"].value[0] == answer[0]["n"]
    with pytest.raises(IndexError):
        answer[2]
    with pytest.raises(KeyError, match="did you mean 'mean'"):
        answer["means"]
