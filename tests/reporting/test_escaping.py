"""Names and values are somebody else's text: the page shows them and obeys none of them."""

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("altair", reason="the page is drawn by altair: pip install 'scumble[report]'")

from naming import publish_openly

from scumble.reporting import report
from scumble.reporting.figure import svg, text

pytestmark = pytest.mark.slow

EVIL = [
    "<script>alert(1)</script>",
    "\"' onload=alert(1) x='",
    "]]></svg></style><img src=x onerror=alert(1)>",
    "&lt;b&gt;",
    "a\x00b\x1b[31m\u202ec\ufffe",
]


class Reader(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: list[tuple[str, str | None]] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.handlers += [
            (name, value) for name, value in attrs if name.startswith("on") or name in ("src", "srcdoc", "xlink:href")
        ]
        self.links += [value or "" for name, value in attrs if name == "href"]


def evil_table() -> pa.Table:
    draw = np.random.default_rng(1)
    drawn = {name: [EVIL[i] for i in draw.integers(0, 5, 800)] for name in EVIL[:2]}
    return pa.table({EVIL[2] + "public": [EVIL[i] for i in draw.integers(0, 4, 800)], **drawn})


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    raw = evil_table()
    folder = tmp_path_factory.mktemp("evil")
    release = publish_openly(
        raw,
        folder / "<i>evil.release",
        sensitive=[EVIL[0], EVIL[1]],
        domains={EVIL[0]: EVIL, EVIL[1]: EVIL},
        retain=0.7,
        seed=1,
    )
    return report(release, folder / "r.html", raw=raw).read_text(encoding="utf-8")


def test_nothing_of_a_table_becomes_markup(page: str) -> None:
    reader = Reader()
    reader.feed(page)
    assert not reader.tags & {"script", "img", "iframe", "object", "embed", "b", "i", "form", "base", "foreignobject"}
    assert reader.handlers == []
    assert all(link.startswith("#") or link == "data:," for link in reader.links)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not {"\x00", "\x1b", "\u202e", "\ufffe"} & set(page)


def test_a_chart_shows_control_characters_instead_of_dying_of_them() -> None:
    """The drawing library aborts the process at a character that XML has not."""
    import altair

    values = [{"v": value, "n": i} for i, value in enumerate(EVIL)]
    drawn = svg(altair.Chart(altair.InlineData(values=values)).mark_bar().encode(x="n:Q", y="v:N"), 'a "quoted" <alt>')
    assert "\\x1b" in drawn
    assert "<script" not in drawn
    assert 'aria-label="a &quot;quoted&quot; &lt;alt&gt;"' in drawn
    assert text(None) == "(missing)"


def test_the_page_forbids_what_it_does_not_need(page: str) -> None:
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page


def test_a_column_that_looks_like_a_path_of_the_chart_is_a_name(tmp_path: Path) -> None:
    """Dots and brackets mean something to the charts' grammar, and nothing in a name."""
    raw = pa.table({"a.b[0]": ["x", "y"] * 200, "c.d": ["u", "v", "w", "w"] * 100})
    release = publish_openly(raw, sensitive="c.d", domains={"c.d": ["u", "v", "w"]}, retain=0.8, seed=1)
    assert "c.d" in report(release, tmp_path / "r.html", raw=raw).read_text()
