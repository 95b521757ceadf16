"""Names and values in the README of a release are shown and are never markup."""

import re
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import scumble

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
        release = scumble.publish(table, sensitive=[TAG], domains={TAG: values}, seed=1, **how)
    text = outside_of_code((release.path / "README.md").read_text(encoding="utf-8"))
    assert "&lt;script>" in text, "it is shown"
    assert not re.search(r"<[A-Za-z/]", text)
    assert "](" not in text.replace("\\](", "")
    rows = [line for line in text.split("## ")[1].splitlines() if line.startswith("|")]
    assert len(rows) >= 5
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in rows)
