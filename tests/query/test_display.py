"""What results show of themselves: in a notebook, in a terminal, and when a table was made to do harm."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from naming import plan_openly, publish_openly

import scumble
from scumble.auditing.finding import Finding
from scumble.auditing.findings import Findings
from scumble.cli.output import print_card
from scumble.core.display import LONGEST, Card, Grid, Items, Note, Whisker, cell, plain
from scumble.core.errors import ParameterError

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
    return Card(HOSTILE[0], [grid, *(Note(each, "strong") for each in HOSTILE), Items(HOSTILE[1], HOSTILE)])


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
    assert len(str(answer).splitlines()) == 2 + len(HOSTILE) + len(answer.notes)


def test_a_release_says_what_it_guarantees_and_what_not(release: scumble.Release) -> None:
    html = release._repr_html_()
    assert {"table", "details"} <= Tags(html).seen
    for part in ("disease", "kept with probability", "guaranteed: ", "not covered", "INSECURE"):
        assert part in html
        assert part in str(release)
    assert len(repr(release).splitlines()) == 1


def test_a_release_of_hostile_names_is_shown(tmp_path: Path) -> None:
    names = [name for name in HOSTILE if "\n" not in name]
    table = pa.table({name: ["x", "y"] * 30 for name in names})
    values = {names[0]: ["x", "y", "<b>"]}
    release = publish_openly(table, tmp_path / "<i>.release", sensitive=names[0], domains=values, retain=0.5, seed=1)
    assert Tags(release._repr_html_()).seen.isdisjoint({"script", "img", "i", "b"})
    assert "\x1b" not in str(release)


def test_a_plan_is_made_and_shown_without_publishing(patients: pa.Table) -> None:
    how = {"sensitive": "disease", "drop": "name", "domain_from_data": True}
    question = "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex"
    whole = "SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'"
    plan = plan_openly(patients, [question, whole], rho1="1/10", rho2="1/2", **how)
    pairs = list(zip(patients.column("disease").to_pylist(), patients.column("sex").to_pylist(), strict=True))
    truth = [pairs.count(("flu", sex)) for sex in "FM"]
    assert plan.answers[0][1]["n"].value.round().tolist() == truth
    assert repr(plan).splitlines()[-1].split()[0] == f"{sum(truth):,}"
    for shown in (repr(plan), plan._repr_html_()):
        assert "will be guaranteed: " in shown
        assert "largest belief" in shown
        assert "standard error will be" in shown
    release = publish_openly(patients, rho1="1/10", rho2="1/2", **how)
    assert plan.plan.guarantees == release.terms.guarantees
    assert "kept" in repr(plan.plan)
    with pytest.raises(ParameterError, match="did you mean 'sensitive'"):
        plan_openly(patients, sensitve="disease")


def test_a_plan_without_a_bound_says_so(patients: pa.Table) -> None:
    how = {"sensitive": "disease", "drop": "name", "domain_from_data": True, "retain": 0.5, "mechanism": "swapped"}
    shown = repr(plan_openly(patients, **how))
    assert "guaranteed: nothing" in shown
    with pytest.raises(ParameterError, match="not foreseen"):
        plan_openly(patients, "SELECT COUNT(*) FROM release WHERE disease = 'flu'", **how)


def test_findings_print_as_a_table_and_are_a_list() -> None:
    findings = Findings(
        [
            Finding.of_share("linking", 90, 100, 0.1, "Links <b>.", "linkability", "public columns are as they are"),
            Finding.of_share("scale", 90, 100, 0.1, "It scales back."),
            Finding.of_share("guess", 10, 100, 0.1, "No better."),
        ]
    )
    assert [f.verdict for f in findings] == ["open", "broken", "holds"]
    assert not findings.passed
    assert isinstance(findings, list)
    assert str(findings) == repr(findings)
    assert repr(findings).splitlines()[0] == "3 findings: 1 of 3 broken; at worst severe"
    html = findings._repr_html_()
    assert html.count("<svg") == 3
    assert "b" not in Tags(html).seen
    assert Findings(findings[2:]).passed
    assert "nothing is broken" in repr(Findings(findings[2:]))
    assert repr(Findings()) == "no findings"
    assert [f.attack for f in findings.broken] == ["scale"]
    assert "the release says: public columns" in repr(findings[0])
    assert "the release says" not in repr(findings[2])


def test_a_small_channel_shows_its_matrix() -> None:
    assert "0.4000" in scumble.Channel.from_rho(3, "1/5", "1/4")._repr_html_()
    assert "<table" not in scumble.Channel(0.5, size=100)._repr_html_()
    assert repr(scumble.Channel(0.5, size=100)).startswith("Channel(")
