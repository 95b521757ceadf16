"""What results show of themselves: in a notebook, in a terminal, and when a table was made to do harm."""

import re
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import scumble
from scumble.cli.output import print_card
from scumble.display import LONGEST, Card, Grid, Items, Note, Whisker, cell, plain

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "[/bold]",
    "a\nb",
    "\x1b[2Jcleared",
    "$x$ & y",
]


class Tags(HTMLParser):
    """The tags of a piece of HTML, which must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_card() -> Card:
    grid = Grid(HOSTILE, [HOSTILE, HOSTILE], [0], {1: [Whisker(1, 0, 2, 0, 4, 3)] * 2})
    return Card(HOSTILE[0], [grid, *(Note(each, strong=True) for each in HOSTILE), Items(HOSTILE[1], HOSTILE)])


def test_html_escapes_whatever_a_table_holds() -> None:
    tags = Tags(hostile_card().html())
    assert tags.seen.isdisjoint({"script", "img"})
    assert not any(name.startswith("on") for name in tags.attributes)
    assert "<script>alert(1)</script>" in tags.text  # as words


def test_html_has_no_colour_of_its_own() -> None:
    """A dark notebook is dark below it and a light one light."""
    html = hostile_card().html()
    assert "background" not in html
    assert re.search(r"#[0-9a-fA-F]{3}|rgb\(|(?<!current)[cC]olor:", html) is None


def test_text_shows_control_characters_and_does_not_obey_them() -> None:
    text = hostile_card().text()
    assert "\x1b" not in text
    assert "a\\nb" in text
    assert plain("left \u202e thgir") == "left \\u202e thgir"
    assert plain("Zoë – 北京") == "Zoë – 北京"


def test_the_command_line_takes_no_value_for_a_style(capsys: pytest.CaptureFixture[str]) -> None:
    print_card(hostile_card())
    printed = capsys.readouterr().out
    assert "[/bold]" in printed
    assert "\x1b" not in printed


def test_a_long_value_is_cut() -> None:
    assert len(cell("x" * 10_000)) == LONGEST
    assert cell("x" * LONGEST) == "x" * LONGEST


def test_text_columns_are_aligned() -> None:
    assert Grid(["who", "n"], [["a", "5"], ["beta", "1,000"]], [0]).text().splitlines() == [
        "who       n",
        "----  -----",
        "a         5",
        "beta  1,000",
    ]


@pytest.mark.parametrize("low", [np.nan, -np.inf])
def test_an_interval_without_an_end_is_not_drawn(low: float) -> None:
    assert Whisker(1, low, 2, 0, 4).html() == ""
    assert Whisker(1, 0, 2, 0, 0).html() == ""


def test_what_lies_beyond_the_scale_ends_at_its_border() -> None:
    assert 'x1="4.0" x2="116.0"' in Whisker(1, -100, 100, 0, 4).html()


def test_an_answer_draws_its_intervals_beside_the_numbers(release: scumble.Release) -> None:
    answer = release.query("SELECT sex, COUNT(*) AS n, AVG(cost) AS c FROM release WHERE disease = 'flu' GROUP BY sex")
    html = answer._repr_html_()
    assert {"table", "svg"} <= Tags(html).seen
    assert html.count("<svg") == 4
    assert "<svg" not in release.query("SELECT COUNT(*) AS n FROM release WHERE smoker")._repr_html_()
    assert "<svg" not in release.query("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex")._repr_html_()
    assert repr(answer) == str(answer)
    assert str(answer).splitlines()[0].split() == ["sex", "n", "±", "se", "95%", "interval", "c", "±", "se", "95%", "interval"]  # fmt: skip


def test_an_answer_about_hostile_values_is_shown() -> None:
    table = pa.table({"who": HOSTILE * 60, "disease": ["flu"] * 360})
    release = scumble.publish(
        table, public="who", sensitive="disease", domains={"disease": ["flu", "cold", "hiv"]}, retain=0.5, seed=1
    )
    answer = release.query("SELECT who, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY who")
    assert Tags(answer._repr_html_()).seen.isdisjoint({"script", "img"})
    assert "\x1b" not in str(answer)
    assert len(str(answer).splitlines()) == 2 + len(HOSTILE)
