"""What a release comes to: words that depend on numbers alone."""

from fractions import Fraction

import pytest
from reporting.reported import made

from scumble.privacy.guarantee import amplification_guarantee
from scumble.reporting.sections.verdict import found, learnt, verdict
from scumble.reporting.subject import Subject


@pytest.mark.parametrize(
    ("gamma", "word", "most"),
    [
        ("3/2", "little", "60%"),
        ("2", "some", "66.7%"),
        ("3", "some", "75%"),
        ("9", "much", "90%"),
        ("10", "nearly all", "91%"),
    ],
)
def test_how_much_is_learnt_is_read_from_an_even_belief(gamma: str, word: str, most: str) -> None:
    line = learnt([amplification_guarantee(["disease"], Fraction(gamma))], public=True)
    assert line.word == word
    assert f"can become {most} at most, beyond what public columns tell." in line.sentence


@pytest.mark.parametrize(
    ("alone", "word"),
    [
        (0, "nobody"),
        (1, "few"),
        (9, "few"),
        (10, "some"),
        (99, "some"),
        (100, "many"),
        (499, "many"),
        (500, "most"),
        (997, "most"),
    ],
)
def test_how_many_are_found_is_the_share_of_rows_that_are_alone(alone: int, word: str) -> None:
    assert found(alone, 1000).word == word


@pytest.mark.parametrize("kind", ["k_dgs", "anatomy", "partitioned"])
def test_what_bounds_no_belief_of_everybody_says_so(kind: str) -> None:
    """Crowds and buckets are no bound on what an attacker believes who knows something."""
    assert verdict(Subject(made(kind)[0]))[0].word == "no bound"


def test_counts_say_nothing_of_rows_that_are_alone() -> None:
    first, *others = verdict(Subject(made("full")[0]))
    assert others == []
    assert "that a row is in the table" in first.sentence


def test_a_bound_for_some_attackers_names_them() -> None:
    assert "for whoever believes the table's own shares" in verdict(Subject(made("swapped")[0]))[0].sentence
