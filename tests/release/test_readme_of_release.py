"""Names and values in the README of a release are shown and are never markup."""

import re
import warnings
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

TAG, LINK, BAR = "<script>alert(1)</script>", "[x](javascript:alert(1))", "a|b `c` *d*"


def outside_of_code(text: str) -> str:
    """What a reader of Markdown looks for markup in."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
    return re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize(
    "how",
    [
        {"retain": 0.4},
        {"mechanism": "partitioned", "rho2": "1/2"},
        {"mechanism": "anatomy", "settings": {"l": 2}},
        {"mechanism": "sps", "retain": 0.4},
    ],
)
def test_names_and_values_are_no_markup(how: dict[str, Any]) -> None:
    draw = np.random.default_rng(1)
    values = [TAG, LINK, BAR, "two\nlines", "\\", "_e_"]
    table = pa.table({BAR: draw.integers(0, 4, 3000), LINK: draw.choice(values, 3000), TAG: draw.choice(values, 3000)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = publish_openly(table, sensitive=[TAG], domains={TAG: values}, seed=1, **how)
    text = outside_of_code((release.path / "README.md").read_text(encoding="utf-8"))
    assert "&lt;script>" in text, "it is shown"
    assert not re.search(r"<[A-Za-z/]", text)
    assert "](" not in text.replace("\\](", "")
    rows = [line for line in text.split("## ")[1].splitlines() if line.startswith("|")]
    assert len(rows) >= 5
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in rows)


ESCAPES = ["flu\n```\n# a heading\n", "cold\r````\r# a heading\r", "asthma `````", "gout\n\n# a heading"]


def rendered(text: str) -> tuple[list[str], list[str]]:
    """The lines that a reader of Markdown takes as text, and the blocks of code between fences: a fence ends by one as long or longer."""
    lines, blocks, fence = list[str](), list[str](), ""
    for line in re.split(r"\r\n|\r|\n", text):
        marks = re.match(r" {0,3}(`{3,})([^`]*)$", line)
        if fence:
            if marks and len(marks[1]) >= len(fence) and not marks[2].strip():
                fence = ""
            else:
                blocks[-1] += line + "\n"
        elif marks:
            fence = marks[1]
            blocks.append("")
        elif not line.startswith("    "):
            lines.append(line)
    assert not fence, "every block ends"
    return lines, blocks


@pytest.mark.parametrize(
    "how",
    [
        {"retain": 0.4},
        {"mechanism": "partitioned", "rho2": "1/2"},
        {"mechanism": "fine_grain", "gamma": 3, "settings": {"scores": {"asthma `````": 2}}},
        {"mechanism": "perturbed_generalization", "gamma": 3, "settings": {"k": 5}},
        {"mechanism": "sps", "retain": 0.4},
    ],
)
@pytest.mark.parametrize("first", range(len(ESCAPES)))
def test_no_value_ends_the_block_that_it_stands_in(how: dict[str, Any], first: int) -> None:
    values = ESCAPES[first:] + ESCAPES[:first]
    draw = np.random.default_rng(1)
    table = pa.table({"age": draw.integers(0, 9, 2000), "ill": draw.choice(values, 2000)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = publish_openly(table, sensitive=["ill"], domains={"ill": values}, seed=1, **how)
    text = (release.path / "README.md").read_bytes().decode()
    lines, blocks = rendered(text)
    assert "# a heading" not in lines
    assert [line for line in lines if line.startswith("#")] == [
        "# A table published with scumble", "## Columns", "## How `ill` was perturbed", "## What is guaranteed", "## How to compute with it"
    ]  # fmt: skip
    assert all(block.startswith("SELECT") and block.rstrip().endswith(";") for block in blocks)


def test_the_statement_between_longer_fences_runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example's condition is on the value with the fence in it; the SQL of the README and scumble give the same estimate."""
    values = [*ESCAPES[:1], "b", "c"]
    draw = np.random.default_rng(1)
    how: dict[str, Any] = {
        "sensitive": ["ill"],
        "domains": {"ill": values},
        "seed": 1,
        "mechanism": "fine_grain",
        "gamma": 3,
    }
    release = publish_openly(pa.table({"ill": draw.choice(values, 2000)}), tmp_path / "r", **how)
    (block,) = rendered((release.path / "README.md").read_text())[1]
    monkeypatch.chdir(release.path)
    estimate, _ = duckdb.sql(block).fetchall()[0]
    counted = release.query("SELECT ill, COUNT(*) AS n FROM release GROUP BY ill").to_list()
    assert estimate == pytest.approx(next(line["n"] for line in counted if line["ill"] == values[0]))


@pytest.mark.parametrize(
    "how",
    [
        {"retain": 0.4},
        {"mechanism": "identity", "retain": 0.4},
        {"mechanism": "partitioned", "rho2": "1/2"},
        {"mechanism": "anatomy", "settings": {"l": 2}},
        {"mechanism": "perturbed_generalization", "gamma": 3, "settings": {"k": 5}},
        {"mechanism": "sps", "retain": 0.4},
    ],
)
def test_it_says_how_scumble_asks_and_sends_nobody_to_an_index_of_packages(how: dict[str, Any]) -> None:
    """A name there may be somebody else's: whoever installs it runs their code."""
    draw = np.random.default_rng(1)
    table = pa.table({"age": draw.integers(0, 9, 2000), "ill": draw.choice(["a", "b", "c"], 2000)})
    release = publish_openly(table, sensitive=["ill"], domains={"ill": ["a", "b", "c"]}, seed=1, **how)
    text = (release.path / "README.md").read_text(encoding="utf-8")
    assert "\n    scumble query . " in text
    assert "the software that `manifest.json` names" in text
    assert not re.search(r"\bpip\b|\bconda\b|https?:", text)
