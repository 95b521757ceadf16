"""What a release comes to: words that depend on numbers alone."""

from fractions import Fraction

import pytest
from forged import forged
from reporting.reported import made

from scumble.privacy.guarantee import amplification_guarantee
from scumble.publishing.dependence import Dependence
from scumble.reporting.promises import headline, says_nothing
from scumble.reporting.raw import read_raw
from scumble.reporting.sections.promise import promise
from scumble.reporting.sections.verdict import Judgement, Opinion, found, learnt, told, verdict
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
    first = verdict(Subject(made(kind)[0])).lines[0]
    assert first.word == "no bound"
    assert first.gravity >= 2


def test_counts_say_nothing_of_rows_that_are_alone() -> None:
    first, *others = verdict(Subject(made("full")[0])).lines
    assert others == []
    assert "that a row is in the table" in first.sentence


def test_a_bound_for_some_attackers_names_them() -> None:
    assert "for whoever believes the table's own shares" in verdict(Subject(made("swapped")[0])).lines[0].sentence


@pytest.mark.parametrize(
    ("right", "without", "word"),
    [(0.76, 0.75, "little"), (0.80, 0.75, "some"), (0.875, 0.75, "much"), (0.9, 0.75, "nearly all")],
)
def test_what_public_columns_tell_is_the_share_of_wrong_guesses_that_they_put_right(
    right: float, without: float, word: str
) -> None:
    weak = Dependence("sex", ("age",), 0.51, 0.5, False, 1000)
    line = told([weak, Dependence("income", ("job", "age"), right, without, False, 1000)])
    assert line.word == word
    assert "guesses income by job and age" in line.sentence


def test_public_columns_are_looked_at_where_the_truth_is_given() -> None:
    release, raw = made("rho")
    inside, outside = (verdict(Subject(release, given)) for given in (read_raw(raw, release.manifest), None))
    assert [line.question for line in inside.lines][-1] == "What public columns tell"
    assert len(outside.lines) == len(inside.lines) - 1


@pytest.mark.parametrize(
    ("gravities", "broken", "tone"),
    [([0, 0], False, "calm"), ([0, 1], False, "watch"), ([2, 0], False, "grave"), ([0, 3], False, "severe"), ([0, 0], True, "severe")],
)  # fmt: skip
def test_a_page_looks_as_its_gravest_judgement(gravities: list[int], broken: bool, tone: str) -> None:
    lines = [Judgement("q", "1%", "word", "s", gravity) for gravity in gravities]
    assert Opinion("", lines, broken).tone == tone


def test_belief_and_number_stand_in_one_sentence() -> None:
    release, _ = made("rho")
    assert (
        verdict(Subject(release)).sentence == "Some can be learnt of a row, and nobody can be found by public columns."
    )


def test_the_headline_names_what_the_coins_do_not_hide() -> None:
    release, _ = made("rho")
    assert headline(release.terms.guarantees, public=True).endswith(
        "after seeing the row, beyond what public columns tell."
    )
    assert "public columns" not in headline(release.terms.guarantees)
    assert Subject(made("generalized")[0]).beside_public, "ranges of other columns tell what they tell"
    counts, _ = made("noisy_counts")
    assert not Subject(counts).beside_public
    assert "public columns" not in headline(counts.terms.guarantees, public=True)


def test_a_guarantee_that_says_no_more_than_the_factor_is_left_out() -> None:
    release, _ = made("rho")
    weaker = [g for g in release.terms.guarantees if says_nothing(g)]
    facts = promise(Subject(release)).facts
    assert len(weaker) == facts["weaker"] == 1
    assert len(facts["promises"]) == len(release.terms.guarantees) - 1
    assert not any("property" in line.plain for line in facts["promises"])


def test_a_claim_that_nothing_founds_makes_the_page_severe() -> None:
    """The guarantees that follow still stand on it, and no more than these."""
    release, _ = made("rho")
    more = forged(release, guarantees=[*release.manifest.guarantees, release.manifest.guarantees[0]])
    assert verdict(Subject(more)).tone == "severe"
    assert len(promise(Subject(more)).facts["promises"]) == len(promise(Subject(release)).facts["promises"])
