"""Plots: every estimate with its interval, in a file that loads nothing, whatever stands in the table."""

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from shell import scumble_command

import scumble
from scumble.core.errors import InputError, ParameterError
from scumble.query.estimates import Estimate, Estimates

BY_DISEASE = "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease"


def marks(chart: Any) -> set[str]:
    """The kinds of marks of a chart."""
    return {layer["mark"]["type"] for layer in chart.to_dict()["layer"]}


def values(chart: Any) -> list[dict[str, Any]]:
    (rows,) = chart.to_dict()["datasets"].values()
    return list(rows)


def test_groups_are_bars_with_their_intervals(release: scumble.Release) -> None:
    answer = release.query(BY_DISEASE)
    chart = answer.plot()
    assert marks(chart) == {"bar", "rule", "tick"}
    drawn = [(row["label"], row["value"], row["low"], row["high"]) for row in values(chart)]
    assert drawn == [(row["disease"], row["n"], row["n_low"], row["n_high"]) for row in answer]


def test_ordered_groups_are_a_line_and_two_groups_a_cross_table(release: scumble.Release) -> None:
    line = release.query(
        "SELECT age // 20 AS a, AVG((disease = 'flu')::INT) AS f FROM release GROUP BY a ORDER BY a"
    ).plot()
    assert marks(line) == {"area", "line", "rule", "point"}
    table = release.query("SELECT disease, sex, COUNT(*) AS n FROM release GROUP BY disease, sex")
    assert marks(table.plot()) == {"rect", "text"}
    assert all(" to " in row["ends"] for row in values(table.plot()))


@pytest.mark.slow
def test_a_comparison_is_drawn_without_its_p_values(release: scumble.Release) -> None:
    assert {row["row"] for row in values(release.test(BY_DISEASE).plot())} <= {
        "flu",
        "cold",
        "asthma",
        "diabetes",
        "hiv",
    }


def test_columns_are_below_each_other_unless_one_is_named(release: scumble.Release) -> None:
    answer = release.query("SELECT disease, COUNT(*) AS n, AVG(age) AS a FROM release GROUP BY disease")
    assert len(answer.plot().to_dict()["vconcat"]) == 2
    assert marks(answer.plot(column="a")) == {"bar", "rule", "tick"}


@pytest.mark.slow
def test_names_of_strangers_are_drawn_and_not_obeyed(tmp_path: Path) -> None:
    name, one = "<script>alert(1)</script>\x00\uffff", np.array([1.0, 2.0])
    estimate = Estimate("datum.value]&<b>", one, one, one - np.inf, one + 1, "unbiased")
    answer = Estimates(["g", estimate.name], pa.table({"g": [name, None]}), [estimate], 0.95, [])
    for kind in ("svg", "html", "png"):
        answer.plot(tmp_path / f"plot.{kind}")
    drawn = (tmp_path / "plot.svg").read_text()
    ElementTree.fromstring(drawn)
    assert "<script" not in drawn + (tmp_path / "plot.html").read_text()
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert "http" not in (tmp_path / "plot.html").read_text().replace("http-equiv", "").replace("http://www.w3.org", "")


@pytest.mark.slow
def test_files_are_kept_and_wrong_ones_refused(release: scumble.Release, tmp_path: Path) -> None:
    answer = release.query(BY_DISEASE)
    file = tmp_path / "plot.svg"
    answer.plot(file)
    with pytest.raises(InputError, match="exists and is kept"):
        answer.plot(file)
    answer.plot(file, overwrite=True)
    with pytest.raises(ParameterError, match=r"\.svg, \.png, \.html"):
        answer.plot(tmp_path / "plot.gif")
    with pytest.raises(ParameterError, match="nothing to draw"):
        release.test("SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY sex, disease", independence=True).plot()


def test_without_the_library_the_line_that_installs_it_is_said(
    release: scumble.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = release.query(BY_DISEASE)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InputError, match=r"pip install 'scumble\[report\]'"):
        answer.plot()


@pytest.mark.slow
def test_the_command_compares_and_plots(publish_simply: Any, tmp_path: Path) -> None:
    publish_simply(out=tmp_path / "r.release")
    asked = ("query", tmp_path / "r.release", BY_DISEASE)
    done = scumble_command(*asked, "--compare", "--plot", tmp_path / "plot.html")
    assert done.returncode == 0
    assert "other_disease" in done.stdout
    assert "<svg" in (tmp_path / "plot.html").read_text()
    assert scumble_command(*asked, "--plot", tmp_path / "plot.html").returncode == 2
    assert scumble_command(*asked, "--plot", tmp_path / "plot.html", "--overwrite").returncode == 0
    assert scumble_command(*asked, "--compare", "--independence").returncode == 2
    assert scumble_command(*asked, "--compare", "--cut").returncode == 2
    assert scumble_command(*asked, "--plot", tmp_path / "plot.pdf").returncode == 2
