"""One page about several releases that are read as one: what they promise together, and the digests of all of them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import ParameterError

pytest.importorskip("altair", reason="the page is drawn by altair: pip install 'scumble[report]'")
pytestmark = pytest.mark.slow

ROWS = 1200
ONE_EACH: dict[str, Any] = {"persons": "one row each"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two columns of the same rows by two owners; and rows of two owners, with other epsilons."""
    place, draw = tmp_path_factory.mktemp("several"), np.random.default_rng(4)
    ids = [f"{word:016x}" for word in draw.integers(0, 2**62, ROWS)]
    table = pa.table({"row": ids, "ill": draw.choice(["a", "b", "c"], ROWS), "smoker": draw.choice(["y", "n"], ROWS)})
    domains = {"ill": ["a", "b", "c"], "smoker": ["y", "n"]}
    for name in domains:
        how: dict[str, Any] = {"sensitive": name, "domains": {name: domains[name]}, "epsilon": 1, **ONE_EACH}
        scumble.publish(table.select(["row", name]), place / f"{name}.release", public="row", **how)
    for owner, epsilon in enumerate((1, 2)):
        part = table.select(["ill"]).slice(owner * ROWS // 2, ROWS // 2)
        how = {"sensitive": "ill", "domains": {"ill": domains["ill"]}, "epsilon": epsilon, **ONE_EACH}
        scumble.publish(part, place / f"owner{owner}.release", **how)
    return place


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scumble.reporting.figure.svg", lambda chart, alt: "")


def test_joined_releases_have_one_page_with_the_factor_of_the_whole(folder: Path) -> None:
    """Two releases of epsilon 1: 2. Every part is verified and attacked, and all digests are signed for."""
    parts = [str(folder / f"{name}.release") for name in ("ill", "smoker")]
    done = CliRunner().invoke(app, ["report", *parts, "--on", "row", "-o", str(folder / "joined.html")])
    assert done.exit_code == 0, done.output
    page = (folder / "joined.html").read_text(encoding="utf-8")
    assert "ill.release and smoker.release, joined on row" in page
    assert "a factor of at most 7.38906" in page
    signed = page[page.index('<section id="signature"') :]
    for part in parts:
        assert scumble.open(part).manifest.digest in signed
        assert f"{Path(part).name}: retention" in page
    assert "scumble query ill.release smoker.release --on row" in page
    assert "Do not use this release" not in page


def test_stacked_releases_have_the_weakest_promise_and_every_section(folder: Path) -> None:
    """Channels of two owners; nothing is missing that the page of one release has."""
    owners = [folder / f"owner{i}.release" for i in (0, 1)]
    whole, one = folder / "stacked.html", folder / "one.html"
    scumble.report(scumble.open(*owners), whole)
    scumble.report(owners[0], one)
    page = whole.read_text(encoding="utf-8")
    assert "a factor of at most 7.38906" in page
    sections = [re.findall(r'<section id="([\w-]+)"', path.read_text(encoding="utf-8")) for path in (whole, one)]
    assert sections[0] == sections[1]
    assert page.count('class="absent"') <= one.read_text(encoding="utf-8").count('class="absent"')


def test_the_truth_is_laid_beside_one_release_at_a_time(folder: Path) -> None:
    owners = scumble.open(*(folder / f"owner{i}.release" for i in (0, 1)))
    with pytest.raises(ParameterError, match="the raw table is laid beside one release at a time"):
        scumble.report(owners, folder / "no.html", raw=pa.table({"ill": ["a"]}))
    with pytest.raises(ParameterError, match="write the report beside it"):
        scumble.report(owners, folder / "owner1.release" / "no.html")
